"""A picture as text, Markdown and HTML. Texts are deterministic: no times but those asked for, no addresses.

Everything a model, a tool or a server said is escaped; colours are the theme's, and never say anything alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hermes_kernel.core.events import Outcome
from hermes_kernel.core.figures import counted
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.safe import NO_MATH, clean, escape, sanitise
from hermes_kernel.view import children
from hermes_kernel.view.look import CODE, FRAME, TONES
from hermes_kernel.view.picture import Picture
from hermes_kernel.view.rows import row_line
from hermes_kernel.view.words import Notice, Row, lasting, typed

THOUGHTS = 20_000  # characters of reasoning kept in a notebook
LONG = 100  # characters of a row above which it may be cut short on a screen
IN_AN_ERROR = (Outcome.FAILED, Outcome.INTERRUPTED)  # the cell says why
SUMMARISING = "summarising the older part beside this turn"


def status_line(picture: Picture, seconds: float = 0.0) -> str:
    """What is going on, in a few words; `seconds` are those since it began."""
    summarising = SUMMARISING if picture.summarising else ""
    parts = (lasting(picture.status, seconds), children.doing(picture), picture.aside, summarising)
    return " · ".join(part for part in parts if part)


def spoken_line(picture: Picture) -> str:
    """The same as it is read out: without what changes each second."""
    status = picture.status
    said = (status.spoken or status.words).replace("`", "")
    summarising = SUMMARISING if picture.summarising else ""
    return " · ".join(part for part in (said, children.doing(picture), picture.aside, summarising) if part)


def done_line(picture: Picture) -> str:
    """How it ended and what it took, without what differs from run to run: tokens count the day and the folder, too."""
    ended = picture.final.outcome.words if picture.final else "not finished"
    parts = [ended, f"{picture.calls} of {picture.limit} calls"]
    parts += [counted(len(picture.rows), "tool")] if picture.rows else []
    parts += [counted(len(picture.children), "subagent")] if picture.children else []
    return " · ".join(parts)


def cost_line(picture: Picture, seconds: float | None = None) -> str:
    """`done_line` and the price: tokens, money where the server states it, and `seconds` where they are given."""
    took = [f"{seconds:.1f} s"] if seconds is not None else []
    return " · ".join([done_line(picture), tokens(picture.usage), *took])


def tokens(used: Usage) -> str:
    """Tokens, marked where they are an estimate, and money where the server states it."""
    words = f"{'about ' if used.estimated else ''}{used.input_tokens + used.output_tokens:,} tokens"
    return f"{words} · ${used.cost:.4f}" if used.cost else words


def heading_plain(picture: Picture) -> str:
    """The tools, the subagents and how it ended, in text."""
    notices = [clean(notice.words) for notice in picture.notices]
    return "\n".join([*_lines(picture), *notices, *_reason(picture), f"[{done_line(picture)}]"])


def heading_html(picture: Picture, seconds: float | None = None, since: Mapping[str, float] = children.NOBODY) -> str:
    """The line above an answer: the status, the tools and the subagents, or, once it is over, one quiet line that opens
    on them. `seconds` and `since` (by lease) say for how long the turn and each subagent have been at what they do."""
    if picture.final is None:
        return _frame(_status(picture, seconds or 0.0), *_rows(picture, since, timed=True), *_shares(picture))
    summary = escape(cost_line(picture, seconds))
    inside = [*_rows(picture, since, timed=seconds is not None), *_thoughts(picture)]
    tone = "" if picture.final.outcome is Outcome.COMPLETED else f"color:{TONES['bad']}"
    if not inside:
        return _frame(f'<div style="{tone}">{summary}</div>', *_reason_html(picture))
    line = f'<summary style="cursor:pointer;{tone}">{summary}</summary>'
    return _frame(f"<details>{line}{''.join(inside)}</details>", *_reason_html(picture))


def still(picture: Picture) -> dict[str, str]:
    """The finished turn as one bundle, the same for the same events: for notebooks that are compared or printed."""
    plain = "\n\n".join(part for part in (clean(picture.text).strip(), heading_plain(picture)) if part)
    return {"text/plain": plain, "text/markdown": markdown(picture)}


def markdown(picture: Picture) -> str:
    """The answer, then a quiet line that opens on the tools where there were any."""
    inside = [*_rows(picture, children.NOBODY, timed=False), *_thoughts(picture)]
    line = f"*{done_line(picture)}*"
    if inside:
        line = f"<details><summary>{escape(done_line(picture))}</summary>{''.join(inside)}</details>"
    reason = [f"*{sanitise(text)}*" for text in _reason(picture)]
    return "\n\n".join(part for part in (sanitise(picture.text).strip(), *reason, line) if part)


def _lines(picture: Picture) -> Iterator[str]:
    for row, below in children.by_row(picture):
        yield from [row_line(row, timed=False)] if row else []
        yield from (f"    {line}" for line in below)


# --- pieces of HTML ---------------------------------------------------------------------------------------------------


def _frame(*parts: str) -> str:
    return f'<div class="hermes-turn {NO_MATH}" style="{FRAME}">{"".join(parts)}</div>'


def _status(picture: Picture, seconds: float) -> str:
    dot = f'<span aria-hidden="true" style="color:{TONES[picture.status.tone]}">● </span>'
    return f'<div role="status" aria-live="polite">{dot}{typed(escape(status_line(picture, seconds)))}</div>'


def _rows(picture: Picture, since: Mapping[str, float], *, timed: bool) -> Iterator[str]:
    """The calls, each with the subagents that work for it, then those that work for none, then what is worth a note."""
    for row, below in children.by_row(picture, since):
        yield _row(row, timed=timed) if row else ""
        yield _below(below)
    yield from (f"<div>{escape(_said(notice, timed=timed))}</div>" for notice in picture.notices)


def _below(lines: tuple[str, ...]) -> str:
    """Subagents, indented and with no more markup than they need: this is sent again each second."""
    shown = "".join(f"<div>{escape(line)}</div>" for line in lines)
    return f'<div style="{CODE};white-space:pre-wrap;padding-left:1.5em">{shown}</div>' if shown else ""


def _said(notice: Notice, *, timed: bool) -> str:
    return f"{notice.words}: {notice.figures}" if timed and notice.figures else notice.words


def _shares(picture: Picture) -> list[str]:
    words = children.shares(picture)
    return [f"<div>{escape(words)}</div>"] if words else []


def _row(row: Row, *, timed: bool) -> str:
    colour = f"color:{TONES['bad']};" if row.state == "failed" else ""
    words = escape(row_line(row, timed=timed))
    style = f"{CODE};{colour}white-space:nowrap;overflow:hidden;text-overflow:ellipsis"
    whole = f' title="{words}"' if len(words) > LONG else ""
    return f'<div style="{style}"{whole}>{words}</div>'


def _thoughts(picture: Picture) -> list[str]:
    thoughts = picture.thoughts.strip()[:THOUGHTS]
    if not thoughts:
        return []
    text = f'<div style="white-space:pre-wrap;padding-left:1em">{escape(thoughts)}</div>'
    return [f'<details><summary style="cursor:pointer">reasoning</summary>{text}</details>']


def _reason(picture: Picture) -> list[str]:
    """Why it ended so, where no error says it."""
    final = picture.final
    return [clean(final.reason)] if final and final.reason and final.outcome not in IN_AN_ERROR else []


def _reason_html(picture: Picture) -> list[str]:
    return [f"<div>{escape(reason)}</div>" for reason in _reason(picture)]
