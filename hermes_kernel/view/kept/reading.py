"""A kept conversation as a person reads it: messages with their places, results folded, and where it stands among its
relatives. Pure; every text in it is other people's, and shown as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hermes_kernel.core.events import Outcome
from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.learning.prompting import sentence_of
from hermes_kernel.core.safe import NO_MATH, clean, escape
from hermes_kernel.core.search.found import Passage
from hermes_kernel.core.text import brief, dotted
from hermes_kernel.view.kept.finds import short, speaker
from hermes_kernel.view.markup import opens

SUMMARY, BORDER, BETWEEN = "summary", "since a compression", "between"  # who speaks where no message does
UNKNOWN = -1.0  # when a message was said of which no fact tells
DESCENT = {"subagent": "a subagent of", "map": "a row of the map"}
MANY = 20  # relatives of one kind that are listed
MOST = 200  # messages shown at once
NEAR = 5  # messages before and after a place
FOLD_LINES, FOLD_CHARS = 3, 240  # of a result in text
LONGEST = 20_000  # characters of one message
ENDS, GLANCE = 2, 700  # messages at either end of a conversation in brief, and characters of each
APART = 'style="margin:0 0 0.6em"'
BODY = 'style="white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 0.6em 1.5em"'


@dataclass(frozen=True, slots=True)
class Relative:
    """A session that this one was branched from, or that was branched from this one."""

    session: str
    title: str


@dataclass(frozen=True, slots=True)
class Helper:
    """A subagent that worked for this session: its task, the calls it had leased, and, once it is back, how it ended
    and what it used."""

    session: str
    task: str
    granted: int
    outcome: Outcome | None = None
    used: int = 0


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session and its messages. ``started`` is in seconds since 1970. ``goes_on``: it is what became of its parent
    when that was compressed; ``further`` is the session in which it goes on itself, for the same reason. ``rows``
    counts those of its children that are rows of a map."""

    session: str
    title: str
    notebook: str
    model: str
    started: float
    passages: tuple[Passage, ...]
    parent: Relative | None = None
    children: tuple[Relative, ...] = ()
    kind: str = "chat"
    goes_on: bool = False
    further: str = ""
    helpers: tuple[Helper, ...] = ()
    rows: int = 0

    def in_brief(self) -> Conversation:
        """The same, but only how it began and how it ended."""
        first, last = self.passages[:ENDS], self.passages[max(ENDS, len(self.passages) - ENDS) :]
        between = len(self.passages) - len(first) - len(last)
        gap = (Passage(self.session, 0, UNKNOWN, BETWEEN, counted(between, "message")),) if between else ()
        return replace(self, passages=(*map(_glanced, first), *gap, *map(_glanced, last)))

    def near(self, place: int) -> Conversation:
        """The same, but only the messages around `place`."""
        ranked = sorted(self.passages, key=lambda passage: abs(passage.n - place))[: 2 * NEAR + 1]
        kept = tuple(sorted(ranked, key=lambda passage: passage.n))
        return replace(self, passages=kept)


def _glanced(passage: Passage) -> Passage:
    short = passage.text if len(passage.text) <= GLANCE else passage.text[:GLANCE].rstrip() + " …"
    return replace(passage, text=short)


@dataclass(frozen=True, slots=True)
class TurnLine:
    """A turn in brief: its number among those that stand, the place of its prompt, and what was said."""

    number: int
    place: int
    prompt: str
    results: int
    answer: str


def turns(passages: tuple[Passage, ...]) -> tuple[TurnLine, ...]:
    """The turns of a conversation, numbered as they are branched from."""
    found: list[TurnLine] = []
    for passage in passages:
        match passage.role:
            case "user":
                found.append(TurnLine(len(found) + 1, passage.n, sentence_of(passage.text), 0, ""))
            case "tool" if found:
                last = found[-1]
                found[-1] = TurnLine(last.number, last.place, last.prompt, last.results + 1, last.answer)
            case "assistant" if found:
                last = found[-1]
                found[-1] = TurnLine(last.number, last.place, last.prompt, last.results, passage.text)
    return tuple(found)


def heading(told: Conversation) -> tuple[str, ...]:
    """Title, where it was, and its relatives: a line each."""
    about = dotted(f"session {short(told.session)}", clean(told.notebook), clean(told.model), minute(told.started))
    lines = [brief(clean(told.title), 100) or "(no title)", about]
    return (*lines, *_descent(told), *_descendants(told))


def _descent(told: Conversation) -> Iterator[str]:
    if told.parent and told.goes_on:
        own = short(told.session)
        yield f"goes on from {short(told.parent.session)}, which was compressed"
        yield f"`show {own} summary` opens the summary, `show {own} all` reads all that was said"
    elif told.parent:
        yield f"{DESCENT.get(told.kind, 'branched from')} {_relative(told.parent)}"
    if told.further:
        yield f"goes on in {short(told.further)} since it was compressed"


def _descendants(told: Conversation) -> Iterator[str]:
    if told.children:
        yield f"branches: {', '.join(map(_relative, told.children[:MANY]))}{_more(len(told.children))}"
    if told.rows:
        yield f"rows of a map: {told.rows:,}"
    if told.helpers:
        yield f"subagents: {len(told.helpers):,}"
    for helper in told.helpers[:MANY]:
        ended = helper.outcome.words if helper.outcome else "not finished"
        used = f"{helper.used} of {counted(helper.granted, 'call')}"
        yield f"  {short(helper.session)}  {ended}  {used}  {brief(clean(helper.task), 80)}".rstrip()
    if len(told.helpers) > MANY:
        yield f"  {_more(len(told.helpers)).strip()}"


def _more(count: int) -> str:
    return f" and {count - MANY:,} more" if count > MANY else ""


def told_text(told: Conversation, *, folded: bool = True) -> str:
    """The conversation as text; results are folded to their first lines unless they are asked for."""
    lines = [*heading(told), ""]
    for passage in told.passages[:MOST]:
        lines.append(_place(passage))
        lines += [f"    {line}" for line in _lines(passage, folded=folded)]
    return "\n".join([*lines, *_rest(told)])


def told_html(told: Conversation, *, folded: bool = True) -> str:
    """The conversation as HTML without scripts; results are folded in ``<details>``."""
    title, *rest = heading(told)
    head = f"<b>{escape(title)}</b>" + "".join(f"<div>{escape(line)}</div>" for line in rest)
    body = "".join(_html(passage, folded=folded) for passage in told.passages[:MOST])
    foot = "".join(f"<div>{escape(line)}</div>" for line in _rest(told))
    return f'<div class="hermes-told {NO_MATH}">{head}{body}{foot}</div>'


def _rest(told: Conversation) -> Iterator[str]:
    left = len(told.passages) - MOST
    if left > 0:
        yield f"and {left:,} more messages: show the place of one, or export the session to read them all."


def _place(passage: Passage) -> str:
    """Where it is said, by whom and when, as far as that is known."""
    where = "" if passage.role in (SUMMARY, BORDER, BETWEEN) else f"[{passage.n}] "
    when = "" if passage.t == UNKNOWN else f" · {minute(passage.t)}"
    return f"{where}{speaker(passage)}{when}"


def _lines(passage: Passage, *, folded: bool) -> Iterator[str]:
    text = clean(passage.text).strip("\n")
    lines = text[:LONGEST].splitlines() or [""]
    if passage.role == "tool" and folded and (len(lines) > FOLD_LINES or len(text) > FOLD_CHARS):
        yield from "\n".join(lines[:FOLD_LINES])[:FOLD_CHARS].splitlines()
        yield f"[… {len(text):,} characters in all]"
        return
    yield from lines
    if len(text) > LONGEST:
        yield f"[… {len(text):,} characters in all]"


def _html(passage: Passage, *, folded: bool) -> str:
    head = _place(passage)
    words = escape("\n".join(_lines(passage, folded=False)))
    if passage.role != "tool":
        return f"<div><small>{escape(head)}</small></div><div {BODY}>{words}</div>"
    size = f"{len(passage.text):,} characters"
    line = f"<small>{escape(f'{head} · {size}')}</small>"
    return opens(line, f"<pre {BODY}>{words}</pre>", APART if folded else f"{APART} open")


def _relative(relative: Relative) -> str:
    title = brief(clean(relative.title), 40)
    return f"{short(relative.session)} ({title})" if title else short(relative.session)
