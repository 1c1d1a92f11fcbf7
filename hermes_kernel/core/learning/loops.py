"""The eight loops in a table: what each wrote, and what has read the last of that since. Each slower one writes what a
faster one reads. Pure: knows what was counted and told, neither a store nor the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.learning.tally import Latest
from hermes_kernel.core.learnt import SKIPPED, Dated, LookDue, Looked, Remembered, SkillChanged, SkillMarked, SkillUsed
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.planned import SCHEDULE
from hermes_kernel.core.schedule.rows import RUNNING, WAITING, RunRow
from hermes_kernel.core.text import brief

NAMED = 60  # characters of what was written last
NOTHING = "nothing yet"
IN_PASSING = ("model", "nudge", "review")  # who remembers and makes skills: in a turn, and in a look at one
ENDED = {"archive": "archived", "patch": "patched", "restore": "restored", "rollback": "put back"}


@dataclass(frozen=True, slots=True)
class LoopRow:
    """A loop. ``last`` is when it last ran, in seconds since 1970-01-01 UTC, None where it never did. In words: when it
    runs ``next``, what it ``wrote``, what has ``read`` the last of that since, and what it ``cost``: the last turn, the
    last summary, of the slow loops all of it. ``usage`` is that in tokens."""

    number: int
    loop: str
    timescale: str
    last: float | None
    next: str
    wrote: str
    read: str
    cost: str
    usage: Usage = Usage()


COLUMNS = ("", "loop", "timescale", "last run", "next run", "wrote", "read since", "cost")


def cells(row: LoopRow) -> tuple[str, ...]:
    """A loop as a person reads it, under `COLUMNS`."""
    last = "not yet" if row.last is None else minute(row.last)
    return str(row.number), row.loop, row.timescale, last, row.next, row.wrote, row.read, row.cost


@dataclass(frozen=True, slots=True)
class Summary:
    """What the last compression made: the sizes ``before`` and ``after`` in tokens, what it cost, and by how many model
    calls it was ``read`` since."""

    before: int = 0
    after: int = 0
    usage: Usage = Usage()
    read: int = 0


@dataclass(frozen=True, slots=True)
class Happened:
    """What the table is made from. ``kinds`` counts the facts of each kind by its name; ``reread`` the model calls that
    followed the last tool result, ``turn`` what the last turn cost. ``begun`` is when conversations began, in order,
    ``searches`` how often models have searched them since the last one did. ``learnt`` are the facts of the slow loops
    in order, ``spent`` is what each of them has cost. ``runs`` are the instants of jobs, the newest first."""

    kinds: Mapping[str, Latest] = field(default_factory=dict)
    reread: int = 0
    turn: Usage = Usage()
    summary: Summary = Summary()
    begun: tuple[float, ...] = ()
    searches: int = 0
    learnt: tuple[Dated, ...] = ()
    spent: Mapping[str, Usage] = field(default_factory=dict)
    runs: tuple[RunRow, ...] = ()

    def latest(self, kind: str) -> Latest:
        """The facts of this kind, of which there may be none."""
        return self.kinds.get(kind, Latest())

    def since(self, t: float) -> int:
        """How many conversations began after `t`."""
        return sum(begun > t for begun in self.begun)


def rows(happened: Happened, plans: Mapping[str, str]) -> tuple[LoopRow, ...]:
    """The eight, from the fastest to the slowest. ``plans`` says in words when each runs next, by its name."""
    return (
        _tools(happened, _row(1, "tool execution", "ms", plans)),
        _iteration(happened, _row(2, "agent iteration", "s", plans)),
        _compression(happened, _row(3, "compression", "min", plans)),
        _slow(happened, "nudge", _row(4, "nudge", "min", plans), _remembered(happened)),
        _slow(happened, "review", _row(5, "skill creation", "per task", plans), _skilled(happened)),
        _sessions(happened, _row(6, "session accumulation", "h", plans)),
        _scheduled(happened, _row(7, "schedule", "day", plans)),
        _slow(happened, "curator", _row(8, "curator", "week", plans), _curated(happened)),
    )


def pending(learnt: Iterable[Dated], loop: str) -> int:
    """How many conversations `loop` is still to look at."""
    due: set[str] = set()
    for each in learnt:
        match each.fact:
            case LookDue(name, session) if name == loop:
                due.add(session)
            case Looked(name, session) if name == loop:
                due.discard(session)
    return len(due)


def _row(number: int, loop: str, timescale: str, plans: Mapping[str, str]) -> LoopRow:
    """One that has not run."""
    return LoopRow(number, loop, timescale, None, plans.get(loop, ""), NOTHING, "", "")


# --- the fast ones


def _tools(happened: Happened, row: LoopRow) -> LoopRow:
    results = happened.latest("Observed")
    if not results.count:
        return row
    read = f"by {counted(happened.reread, 'model call')}"
    return replace(row, last=results.t, wrote=counted(results.count, "result"), read=read)


def _iteration(happened: Happened, row: LoopRow) -> LoopRow:
    ends, replies = happened.latest("Final"), happened.latest("Replied")
    if not ends.count:
        return row
    wrote = f"{counted(ends.count, 'answer')} in {counted(replies.count, 'model call')}"
    looks = [each for each in happened.learnt if isinstance(fact := each.fact, Looked) and fact.session == ends.session]
    read = f"by {counted(sum(each.t >= ends.t for each in looks), 'look')}"
    cost = _cost(happened.turn, " (last turn)")
    return replace(row, last=ends.t, wrote=wrote, read=read, cost=cost, usage=happened.turn)


def _compression(happened: Happened, row: LoopRow) -> LoopRow:
    made, last = happened.latest("Compressed"), happened.summary
    if not made.count:
        return row
    wrote = f"{_counted(made.count, 'summary', 'summaries')}; the last: {last.before:,} to {last.after:,} tokens"
    read, cost = f"by {counted(last.read, 'model call')}", _cost(last.usage, " (last)")
    return replace(row, last=made.t, wrote=wrote, read=read, cost=cost, usage=last.usage)


def _sessions(happened: Happened, row: LoopRow) -> LoopRow:
    if not happened.begun:
        return row
    wrote = f"{counted(len(happened.begun), 'conversation')}, {counted(happened.latest('Asked').count, 'turn')}"
    read = f"by {_counted(happened.searches, 'search', 'searches')}"
    return replace(row, last=happened.begun[-1], wrote=wrote, read=read)


# --- jobs


def _scheduled(happened: Happened, row: LoopRow) -> LoopRow:
    """What wrote something is a run that ended; what reads it are those who were told."""
    over = [each for each in happened.runs if each.outcome not in {RUNNING, WAITING}]
    last = max((each.began for each in happened.runs if each.began is not None), default=None)
    if not over:
        return replace(row, last=last)
    counts = Counter(each.outcome for each in over)
    outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(counts.items()))
    wrote = f"{counted(len(over), 'run')}: {outcomes}; the last: {brief(over[0].name, NAMED)}"
    read, usage = f"told {counted(sum(each.told for each in over), 'time')}", happened.spent.get(SCHEDULE, Usage())
    return replace(row, last=last, wrote=wrote, read=read, cost=_cost(usage, ""), usage=usage)


# --- the slow ones


@dataclass(frozen=True, slots=True)
class _Written:
    """What a slow loop has written in words, when it last did (seconds since 1970-01-01 UTC, None: never), and what has
    read that since."""

    t: float | None = None
    wrote: str = NOTHING
    read: str = ""


def _slow(happened: Happened, loop: str, row: LoopRow, written: _Written) -> LoopRow:
    """`row`, told of `loop`, one of `core.learnt.LOOPS`."""
    looks = [(each.t, fact) for each in happened.learnt if isinstance(fact := each.fact, Looked) and fact.loop == loop]
    times = [t for t, fact in looks if fact.outcome != SKIPPED] + ([] if written.t is None else [written.t])
    usage = happened.spent.get(loop, Usage())
    last, cost = max(times, default=None), _cost(usage, "")
    return replace(row, last=last, wrote=written.wrote, read=written.read, cost=cost, usage=usage)


def _remembered(happened: Happened) -> _Written:
    own = [
        (each.t, fact)
        for each in happened.learnt
        if isinstance(fact := each.fact, Remembered) and fact.by in IN_PASSING
    ]
    if not own:
        return _Written()
    t, last = own[-1]
    wrote = f"{counted(len(own), 'change')} of memory; the last {_difference(last)} in {last.target}"
    return _Written(t, wrote, f"by {counted(happened.since(t), 'new conversation')}")


def _skilled(happened: Happened) -> _Written:
    own = [
        (each.t, fact)
        for each in happened.learnt
        if isinstance(fact := each.fact, SkillChanged) and fact.by in IN_PASSING
    ]
    if not own:
        return _Written()
    t, last = own[-1]
    made = sum(fact.action == "create" for _, fact in own)
    changed = len(own) - made
    parts = [f"{made} made"] * (made > 0) + [f"{changed} changed"] * (changed > 0)
    written = {fact.name: t for t, fact in own}
    used = [each for each in happened.learnt if isinstance(each.fact, SkillUsed) and _read_since(each, written)]
    read = f"read {counted(len(used), 'time')}; listed in {counted(happened.since(t), 'new conversation')}"
    return _Written(t, f"{', '.join(parts)}; the last: {brief(last.name, NAMED)}", read)


def _read_since(used: Dated, written: Mapping[str, float]) -> bool:
    return isinstance(used.fact, SkillUsed) and used.t > written.get(used.fact.name, used.t)


def _curated(happened: Happened) -> _Written:
    own = [(each.t, ended) for each in happened.learnt if (ended := _by_curator(each))]
    if not own:
        return _Written()
    counts = Counter(ended for _, ended in own)
    t = own[-1][0]
    wrote = ", ".join(f"{count} {ended}" for ended, count in sorted(counts.items()))
    return _Written(t, wrote, f"listed in {counted(happened.since(t), 'new conversation')}")


def _by_curator(each: Dated) -> str:
    """What became of a skill by the curator; nothing where it was somebody else, or about something else."""
    match each.fact:
        case SkillMarked(mark=mark, by="curator"):
            return f"made {mark}"
        case SkillChanged(action=action, by="curator"):
            return ENDED.get(action, action)
    return ""


# --- words


def _counted(count: int, what: str, several: str) -> str:
    return f"{count:,} {what if count == 1 else several}"


def _difference(fact: Remembered) -> str:
    more, less = Counter(fact.after) - Counter(fact.before), Counter(fact.before) - Counter(fact.after)
    return f"+{more.total()} \u2212{less.total()}"


def _cost(usage: Usage, of: str) -> str:
    if not usage.calls:
        return ""
    money = f", ${usage.cost:.4f}" if usage.cost else ""
    return f"{counted(usage.calls, 'call')}, {usage.input_tokens + usage.output_tokens:,} tokens{money}{of}"
