"""The agent, without doing anything. A turn is a fold of facts.

`evolve` records a fact and decides nothing; `decide` is the whole policy and changes nothing; `play` alone waits.
The log of a session is the session: fold it with `recall`, ask `decide`, and it goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Protocol

from hermes_kernel.core import prompts
from hermes_kernel.core.budget import IterationBudget, Limits
from hermes_kernel.core.commands import CallModel, Command, Compress, RunTools, Tell, Wait
from hermes_kernel.core.events import (
    Accepted,
    Approved,
    Asked,
    Asking,
    CallDelta,
    Calling,
    Compressed,
    Event,
    Failed,
    FellBack,
    Final,
    Interrupted,
    Kept,
    Leased,
    Noticed,
    Observed,
    Opened,
    Outcome,
    Refunded,
    Repaired,
    Replied,
    Retracted,
    Retrying,
    Returned,
    Silence,
    Started,
    TextDelta,
    ThoughtDelta,
    Titled,
    Undone,
    Waiting,
)
from hermes_kernel.core.faults import Action, Fault, backoff, recover
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import Assistant, Observation, ToolCall, Transcript, Usage, User


@dataclass(frozen=True, slots=True)
class Tries:
    """What has been tried for the model call at hand, and how often."""

    waits: int = 0
    throttles: int = 0
    repairs: int = 0
    compressions: int = 0
    continuations: int = 0
    empties: int = 0
    growths: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """Everything known about one prompt and what came of it. The value of a ``%%hermes`` cell and of `Agent.ask`.

    ``transcript`` is the whole conversation; ``starts`` says where its turns begin. ``reply`` is the model's last word,
    ``open`` the calls of it that have no result, ``begun`` those of them that had started. ``shown`` is text a person
    sees that is in no message yet. ``room`` is the output limit in tokens, 0 for the endpoint's own. ``usage`` is this
    turn's, ``earlier`` that of the turns before it.
    """

    limits: Limits = Limits()
    session_id: str = ""
    system: str = ""
    transcript: Transcript = ()
    starts: tuple[int, ...] = ()
    events: tuple[Kept, ...] = ()
    budget: IterationBudget = field(default_factory=lambda: IterationBudget(Limits().max_iterations))
    calls: int = 0
    usage: Usage = Usage()
    earlier: Usage = Usage()
    route: int = 0
    room: int = 0
    reply: Replied | None = None
    open: tuple[ToolCall, ...] = ()
    begun: frozenset[str] = frozenset()
    fault: Failed | None = None
    tries: Tries = Tries()
    refunds: int = 0
    graced: bool = False
    shown: str = ""
    stopped: str = ""
    final: Final | None = None

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; None while it goes on."""
        return self.final.outcome if self.final else None

    @property
    def text(self) -> str:
        """The answer. Never None; empty when there is none."""
        return self.final.text if self.final else said(self)

    @property
    def reason(self) -> str:
        """One line on why it ended so, or nothing."""
        return self.final.reason if self.final else ""

    @property
    def messages(self) -> Transcript:
        """The messages of this turn, the prompt first."""
        return self.transcript[self.starts[-1] :] if self.starts else ()

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """Every tool call of this turn, in the order of asking."""
        return tuple(call for m in self.messages if isinstance(m, Assistant) for call in m.calls)

    @property
    def exhausted(self) -> bool:
        """The double gate is shut."""
        return self.calls >= self.budget.limit or self.budget.remaining <= 0

    def _repr_markdown_(self) -> str:
        return self.text


# --- what happened ----------------------------------------------------------------------------------------------------


def evolve(turn: Turn, event: Event) -> Turn:  # noqa: C901, PLR0911, PLR0912 - one arm for each fact there is
    """The turn in which `event` has happened."""
    match event:
        case TextDelta() | ThoughtDelta() | CallDelta() | Silence() | Waiting() | Calling() | Retracted() | Asking() | Noticed():
            return turn
        case Opened(session_id, system):
            return Turn(turn.limits, session_id, system, event.transcript, _last_user(event.transcript))
        case Titled():
            return turn
        case Undone(turns):
            return _undone(turn, turns)
        case Asked():
            return _asked(turn, event)
    turn = replace(turn, events=(*turn.events, event))
    match event:
        case Replied():
            return _replied(turn, event)
        case Accepted():
            return _accepted(turn)
        case Failed(_, _, _, _, partial, usage):
            return replace(turn, fault=event, shown=partial, usage=turn.usage + usage)
        case Retrying(_, _, _, fault):
            return replace(turn, fault=None, tries=_waited(turn.tries, fault))
        case Repaired(level):
            return replace(turn, fault=None, tries=replace(turn.tries, repairs=level))
        case FellBack(route):
            return replace(turn, fault=None, reply=None, route=route, tries=replace(turn.tries, waits=0, empties=0))
        case Compressed(transcript):
            tries = replace(turn.tries, compressions=turn.tries.compressions + 1)
            return replace(turn, fault=None, transcript=transcript, starts=_last_user(transcript), tries=tries)
        case Started(call_id, repeatable):
            return turn if repeatable else replace(turn, begun=turn.begun | {call_id})
        case Observed():
            return _observed(turn, event)
        case Approved():
            return turn
        case Refunded(calls):
            budget = turn.budget.refund(calls)
            return replace(turn, budget=budget, calls=turn.calls - calls, refunds=turn.refunds + calls, reply=None)
        case Leased(lease, calls):
            return replace(turn, budget=turn.budget.lease(lease, calls))
        case Returned(lease, used):
            return replace(turn, budget=turn.budget.settle(lease, used))
        case Interrupted(by, partial, usage):
            return replace(turn, stopped=by, shown=partial or turn.shown, usage=turn.usage + usage)
        case Final():
            return replace(_told(turn, event.text), final=event, shown="", fault=None)


def recall(events: Iterable[Event], turn: Turn | None = None) -> Turn:
    """Resume: the state is the fold, so a log is a checkpoint after every fact."""
    return reduce(evolve, events, turn or Turn())


def _asked(turn: Turn, asked: Asked) -> Turn:
    """A turn begins. Calls that an earlier one left without a result, because its log was cut there, are closed first."""
    before = reduce(_observed, (Observed(call.id, prompts.LOST, ok=False) for call in turn.open), turn).transcript
    return Turn(
        limits=turn.limits,
        session_id=turn.session_id,
        system=turn.system,
        transcript=(*before, User(asked.text, asked.images)),
        starts=(*turn.starts, len(before)),
        events=(asked,),
        budget=IterationBudget(asked.budget or turn.limits.max_iterations),
        earlier=turn.earlier + turn.usage,
        room=turn.limits.max_tokens,
        route=asked.route,
    )


def _replied(turn: Turn, reply: Replied) -> Turn:
    """A call that came back is spent, whatever it brought. A cut one is not the model's word yet."""
    grace = turn.exhausted
    turn = replace(
        turn,
        reply=reply,
        fault=None,
        graced=grace,
        calls=turn.calls + (not grace),
        budget=turn.budget if grace else turn.budget.spend(),
        usage=turn.usage + reply.usage,
        tries=replace(turn.tries, waits=0, throttles=0, repairs=0),
    )
    if grace:
        return _said(turn, replace(reply, calls=(), cut=False))
    return _cut(turn, reply) if reply.cut else _said(turn, reply)


def _cut(turn: Turn, reply: Replied) -> Turn:
    """The output limit was too small: note what a person has seen, and how much room the next attempt gets."""
    room = grown(turn.room, reply.usage.output_tokens, turn.limits.model_max_tokens)
    return replace(turn, shown=reply.text, room=room, tries=replace(turn.tries, growths=turn.tries.growths + 1))


def _accepted(turn: Turn) -> Turn:
    return _said(turn, replace(turn.reply, cut=False)) if turn.reply else turn


def _said(turn: Turn, reply: Replied) -> Turn:
    """The model's word enters the transcript. Asked again while its own words stand last, it went on from there."""
    words, tries = Assistant(reply.text, reply.calls, reply.thoughts, reply.extra), turn.tries
    before = turn.transcript
    if going_on(turn):
        words = replace(words, text=before[-1].text + words.text)
        before = before[:-1]
    if not (words.text or words.calls):
        return replace(turn, reply=reply, shown="", tries=replace(tries, empties=tries.empties + 1))
    counts = replace(tries, growths=0, empties=0, continuations=0 if reply.calls else tries.continuations + 1)
    return replace(turn, transcript=(*before, words), reply=reply, open=reply.calls, shown="", tries=counts)


def _told(turn: Turn, text: str) -> Turn:
    """The turn's last words stand at the end of the transcript, whoever found them."""
    if not text:
        return turn
    if going_on(turn):
        return replace(turn, transcript=(*turn.transcript[:-1], replace(turn.transcript[-1], text=text)))
    return replace(turn, transcript=(*turn.transcript, Assistant(text)))


def _observed(turn: Turn, seen: Observed) -> Turn:
    """Results come as they finish and are read in the order they were asked for."""
    name = next((call.name for call in turn.open if call.id == seen.call_id), None)
    if name is None:
        return turn
    result = Observation(seen.call_id, name, seen.text, seen.ok, seen.images)
    return replace(
        turn,
        transcript=place(turn.transcript, result),
        open=tuple(call for call in turn.open if call.id != seen.call_id),
        begun=turn.begun - {seen.call_id},
    )


def place(transcript: Transcript, result: Observation) -> Transcript:
    """`transcript` with `result` among the results of the last assistant message, in the order of its calls."""
    start = len(transcript)
    while not isinstance(transcript[start - 1], Assistant):
        start -= 1
    asked = [call.id for call in transcript[start - 1].calls]  # type: ignore[union-attr]
    results = (*transcript[start:], result)
    return (*transcript[:start], *sorted(results, key=lambda m: asked.index(m.call_id)))  # type: ignore[union-attr]


def _undone(turn: Turn, turns: int) -> Turn:
    """Take back the last turns; those before a compression are past taking back."""
    kept = max(len(turn.starts) - turns, 0)
    cut = turn.starts[kept] if kept < len(turn.starts) else len(turn.transcript)
    rest = Turn(turn.limits, turn.session_id, turn.system, turn.transcript[:cut], turn.starts[:kept])
    return replace(rest, earlier=turn.earlier + turn.usage)


def _waited(tries: Tries, fault: Fault) -> Tries:
    if fault is Fault.PROACTIVE_RATE_LIMIT:
        return replace(tries, throttles=tries.throttles + 1)
    return replace(tries, waits=tries.waits + 1)


def _last_user(transcript: Transcript) -> tuple[int, ...]:
    return tuple(n for n, message in enumerate(transcript) if isinstance(message, User))[-1:]


def grown(room: int, used: int, most: int) -> int:
    """The output limit for a reply that was cut: twice what it was or would have been, never less than before."""
    return max(room, min(2 * max(room, used, 2048), most))


# --- what next --------------------------------------------------------------------------------------------------------


def decide(turn: Turn) -> Command | None:
    """The next thing to do, or None when the turn is over. The first line that applies is what happens."""
    if turn.final:
        return None
    if turn.stopped:
        return _close(turn)
    if turn.fault:
        return _recover(turn, turn.fault)
    if lost := tuple(call for call in turn.open if call.id in turn.begun):
        return Tell(tuple(Observed(call.id, prompts.LOST, ok=False) for call in lost))
    if turn.open:
        return RunTools(turn.open)
    if turn.graced:
        return _exhausted(turn)
    if turn.reply is None:
        return _call(turn)
    return _follow(turn, turn.reply)


def _follow(turn: Turn, reply: Replied) -> Command:  # noqa: PLR0911 - one line for each way a reply can end
    """What the model's last word means for the next step."""
    if reply.cut:
        return _call(turn) if _may_grow(turn, reply) else Tell((Accepted(),))
    if reply.calls:
        return _refund(turn) or _call(turn)
    if reply.finish is Finish.CONTENT_FILTER:
        return _recover(turn, Failed(Fault.CONTENT_FILTER, prompts.FILTERED))
    if not said(turn):
        return _empty(turn)
    if reply.finish is Finish.LENGTH:
        return _continue(turn)
    return _end(turn, Outcome.COMPLETED)


def _call(turn: Turn, suffix: User | None = None) -> CallModel:
    """Ask the model; with nothing left, for the last time and without tools."""
    grace = turn.exhausted
    return CallModel(
        turn.transcript,
        turn.system,
        turn.route,
        tools=not grace,
        suffix=User(prompts.grace(turn.budget.limit)) if grace else suffix,
        shown=turn.shown,
        max_tokens=turn.room,
        caution=turn.tries.repairs,
    )


def _continue(turn: Turn) -> Command:
    """The answer was cut at the output limit: go on with it, a few times."""
    if turn.exhausted:
        return _end(turn, Outcome.BUDGET_EXHAUSTED, prompts.CUT_SHORT)
    if turn.tries.continuations > turn.limits.max_continuations:
        return _end(turn, Outcome.COMPLETED, prompts.CUT_SHORT)
    return _call(turn, User(prompts.CONTINUE))


def _empty(turn: Turn) -> Command:
    """No words and no calls: ask again, then ask another model, then say so."""
    if turn.exhausted or turn.tries.empties <= turn.limits.empties:
        return _call(turn, User(prompts.EMPTY))
    if turn.route + 1 < turn.limits.routes:
        return Tell((FellBack(turn.route + 1, Fault.INVALID_RESPONSE),))
    return _end(turn, Outcome.EMPTY, prompts.said_nothing(turn.tries.empties))


def _may_grow(turn: Turn, reply: Replied) -> bool:
    """More room is worth a call while it grows. A cut that no ``length`` admits may be mere bad JSON: one try."""
    most = turn.limits.growths if reply.finish is Finish.LENGTH else 1
    asked = max(reply.usage.output_tokens, turn.limits.max_tokens)
    return turn.exhausted or (turn.tries.growths <= most and turn.room > asked)


def _refund(turn: Turn) -> Command | None:
    only_python = turn.reply is not None and all(call.name == "python" for call in turn.reply.calls)
    return Tell((Refunded(),)) if only_python and turn.refunds < turn.limits.refunds else None


def _recover(turn: Turn, failed: Failed) -> Command:
    """Climb the fault's ladder by one rung."""
    match recover(failed.fault, _left(turn, failed)):
        case Action.WAIT:
            return _wait(turn, failed)
        case Action.REPAIR:
            return Tell((Repaired(turn.tries.repairs + 1),))
        case Action.COMPRESS:
            return Compress(turn.transcript, turn.tries.compressions + 1)
        case Action.FALL_BACK:
            return Tell((FellBack(turn.route + 1, failed.fault),))
        case Action.REFUSE:
            return _end(turn, Outcome.REFUSED, failed.message)
        case Action.GIVE_UP:
            return _exhausted(turn) if turn.exhausted else _end(turn, Outcome.FAILED, failed.message)


def _left(turn: Turn, failed: Failed) -> dict[Action, int]:
    limits, tries = turn.limits, turn.tries
    throttled = failed.fault is Fault.PROACTIVE_RATE_LIMIT
    waits = limits.throttles - tries.throttles if throttled else limits.max_retries - tries.waits
    return {
        Action.WAIT: 0 if (failed.wait or 0) > limits.patience_seconds else waits,
        Action.REPAIR: limits.repairs - tries.repairs,
        Action.COMPRESS: limits.compressions - tries.compressions,
        Action.FALL_BACK: limits.routes - turn.route - 1,
    }


def _wait(turn: Turn, failed: Failed) -> Wait:
    limits, attempt = turn.limits, turn.tries.waits
    seconds = backoff(failed.fault, attempt, limits.retry_base_seconds, limits.retry_max_seconds)
    if failed.wait is not None:
        return Wait(failed.wait, attempt + 1, limits.max_retries, failed.fault, exact=True)
    return Wait(seconds, attempt + 1, limits.max_retries, failed.fault)


def _close(turn: Turn) -> Tell:
    """Stopped: every call without a result gets one that says so, then the end."""
    lost = (Observed(c.id, prompts.STOPPED if c.id in turn.begun else prompts.NOT_RUN, ok=False) for c in turn.open)
    if turn.stopped == "time":
        return Tell((*lost, *_exhausted(turn).events))
    return Tell((*lost, *_end(turn, Outcome.INTERRUPTED).events))


def _exhausted(turn: Turn) -> Tell:
    """The budget is gone: the model's closing words, or failing those the facts."""
    return Tell((Final(Outcome.BUDGET_EXHAUSTED, said(turn) or prompts.digest(turn.messages, turn.calls, turn.stopped)),))


def _end(turn: Turn, outcome: Outcome, reason: str = "") -> Tell:
    return Tell((Final(outcome, said(turn), reason),))


def going_on(turn: Turn) -> bool:
    """The model's own words stand last in an unfinished turn: whatever it says now continues them."""
    last = turn.messages[-1:]
    return bool(last) and isinstance(last[0], Assistant) and not last[0].calls


def said(turn: Turn) -> str:
    """The text a person sees of the answer so far."""
    return (turn.transcript[-1].text if going_on(turn) else "") + turn.shown


# --- doing it ---------------------------------------------------------------------------------------------------------


class World(Protocol):
    """Whatever carries commands out and tells what happened."""

    def perform(self, command: Command) -> AsyncGenerator[Event, None]:
        """The facts that carrying out `command` makes, as they happen. `Interrupted` is always the last."""
        ...


async def play(turn: Turn, world: World) -> AsyncGenerator[Event, None]:
    """Do what is decided, tell what happened, until there is nothing left to do."""
    while command := decide(turn):
        async with aclosing(world.perform(command)) as told:
            async for event in told:
                turn = evolve(turn, event)
                yield event
