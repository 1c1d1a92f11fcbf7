"""A kept conversation as a person reads it: messages with their places, results folded, and where it stands among its
relatives. Pure; every text in it is other people's, and shown as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hermes_kernel.core.figures import minute
from hermes_kernel.core.safe import clean, escape
from hermes_kernel.core.search.found import Passage
from hermes_kernel.core.text import brief
from hermes_kernel.view.finds import short, speaker

MOST = 200  # messages shown at once
NEAR = 5  # messages before and after a place
FOLD_LINES, FOLD_CHARS = 3, 240  # of a result in text
LONGEST = 20_000  # characters of one message
APART = 'style="margin:0 0 0.6em"'
BODY = 'style="white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 0.6em 1.5em"'


@dataclass(frozen=True, slots=True)
class Relative:
    """A session that this one was branched from, or that was branched from this one."""

    session: str
    title: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session and its messages. ``started`` is in seconds since 1970."""

    session: str
    title: str
    notebook: str
    model: str
    started: float
    passages: tuple[Passage, ...]
    parent: Relative | None = None
    children: tuple[Relative, ...] = ()

    def near(self, place: int) -> Conversation:
        """The same, but only the messages around `place`."""
        ranked = sorted(self.passages, key=lambda passage: abs(passage.n - place))[: 2 * NEAR + 1]
        kept = tuple(sorted(ranked, key=lambda passage: passage.n))
        return Conversation(
            self.session, self.title, self.notebook, self.model, self.started, kept, self.parent, self.children
        )


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
                found.append(TurnLine(len(found) + 1, passage.n, passage.text, 0, ""))
            case "tool" if found:
                last = found[-1]
                found[-1] = TurnLine(last.number, last.place, last.prompt, last.results + 1, last.answer)
            case "assistant" if found:
                last = found[-1]
                found[-1] = TurnLine(last.number, last.place, last.prompt, last.results, passage.text)
    return tuple(found)


def heading(told: Conversation) -> tuple[str, ...]:
    """Title, where it was, and its relatives: a line each."""
    about = (f"session {short(told.session)}", clean(told.notebook), clean(told.model), minute(told.started))
    lines = [brief(clean(told.title), 100) or "(no title)", " · ".join(part for part in about if part)]
    if told.parent:
        lines.append(f"branched from {_relative(told.parent)}")
    if told.children:
        lines.append(f"branches: {', '.join(map(_relative, told.children))}")
    return tuple(lines)


def told_text(told: Conversation, *, folded: bool = True) -> str:
    """The conversation as text; results are folded to their first lines unless they are asked for."""
    lines = [*heading(told), ""]
    for passage in told.passages[:MOST]:
        lines.append(f"[{passage.n}] {speaker(passage)} · {minute(passage.t)}")
        lines += [f"    {line}" for line in _lines(passage, folded=folded)]
    return "\n".join([*lines, *_rest(told)])


def told_html(told: Conversation, *, folded: bool = True) -> str:
    """The conversation as HTML without scripts; results are folded in ``<details>``."""
    title, *rest = heading(told)
    head = f"<b>{escape(title)}</b>" + "".join(f"<div>{escape(line)}</div>" for line in rest)
    body = "".join(_html(passage, folded=folded) for passage in told.passages[:MOST])
    return f'<div class="hermes-told">{head}{body}{"".join(f"<div>{escape(line)}</div>" for line in _rest(told))}</div>'


def _rest(told: Conversation) -> Iterator[str]:
    left = len(told.passages) - MOST
    if left > 0:
        yield f"and {left:,} more messages: show the place of one, or export the session to read them all."


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
    head = f"[{passage.n}] {speaker(passage)} · {minute(passage.t)}"
    words = escape("\n".join(_lines(passage, folded=False)))
    if passage.role != "tool":
        return f"<div><small>{escape(head)}</small></div><div {BODY}>{words}</div>"
    size = f"{len(passage.text):,} characters"
    summary = f"<summary><small>{escape(f'{head} · {size}')}</small></summary>"
    return f"<details {APART}{'' if folded else ' open'}>{summary}<pre {BODY}>{words}</pre></details>"


def _relative(relative: Relative) -> str:
    title = brief(clean(relative.title), 40)
    return f"{short(relative.session)} ({title})" if title else short(relative.session)
