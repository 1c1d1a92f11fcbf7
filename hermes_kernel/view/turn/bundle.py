"""A picture as text, Markdown and HTML. Texts are deterministic: no times but those asked for, no addresses.

Everything a model, a tool or a server said is escaped; colours are the theme's, and never say anything alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from hermes_kernel.core.events import Final, Outcome
from hermes_kernel.core.figures import counted
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.safe import NO_MATH, clean, escape, sanitise
from hermes_kernel.core.text import brief, dotted
from hermes_kernel.view.look import FRAME
from hermes_kernel.view.markup import dot, opens
from hermes_kernel.view.turn import children, folded, meters
from hermes_kernel.view.turn.detail import quoted
from hermes_kernel.view.turn.picture import Picture
from hermes_kernel.view.turn.present import heard_html, seen_html, spoken_line, status_line

REASON = 400  # characters of why a turn ended so
BEHIND = "padding-left:1em"
AT_WORK = "at work when this was shown; how it went on is not told here"
IN_AN_ERROR = (Outcome.FAILED, Outcome.INTERRUPTED)  # the cell says why


def done_line(picture: Picture) -> str:
    """How it ended and what it took, without what differs from run to run: tokens count the day and the folder, too."""
    ended = picture.final.outcome.words if picture.final else "not finished"
    tools = counted(len(picture.rows), "tool") if picture.rows else ""
    subagents = counted(len(picture.children), "subagent") if picture.children else ""
    replayed = "replayed" if picture.replayed else ""
    return dotted(ended, replayed, f"{picture.calls} of {picture.limit} calls", tools, subagents)


def cost_line(picture: Picture, seconds: float | None = None) -> str:
    """`done_line` and the price: tokens, money where the server states it, and `seconds` where they are given."""
    return dotted(done_line(picture), tokens(picture.usage), "" if seconds is None else f"{seconds:.1f} s")


def tokens(used: Usage) -> str:
    """Tokens, marked where they are an estimate, and money where the server states it."""
    words = f"{'about ' if used.estimated else ''}{used.input_tokens + used.output_tokens:,} tokens"
    return f"{words} · ${used.cost:.4f}" if used.cost else words


def heading_plain(picture: Picture) -> str:
    """The tools, the subagents and how it ended, in text."""
    return "\n".join([*folded.lines(picture), *_reason(picture), f"[{done_line(picture)}]"])


def heading_html(picture: Picture, seconds: float | None = None, since: Mapping[str, float] = children.NOBODY) -> str:
    """The line above an answer: the status, the tools and the subagents, or, once it is over, one quiet line that opens
    on all there is of them. `seconds` and `since` (by lease) say for how long the turn and each subagent have been at
    what they do. Without `seconds` a turn at work is put once and not again: it may go on unseen, or be lost with its
    kernel, so nothing is said that is only true now."""
    if picture.final is None:
        if seconds is None:
            return _frame(quoted(AT_WORK))
        at = seen_html(status_line(picture, seconds), picture.status.tone)
        return _frame(at, heard_html(spoken_line(picture)), *folded.briefly(picture, since), *_shares(picture))
    inside = [*folded.whole(picture, timed=seconds is not None), *folded.thoughts(picture)]
    reason = [f"<div>{escape(reason)}</div>" for reason in _reason(picture)]
    return _frame(_fold(cost_line(picture, seconds), inside, _mark(picture.final)), *reason)


def still(picture: Picture) -> dict[str, str]:
    """The finished turn as one bundle, the same for the same events: for notebooks that are compared or printed."""
    plain = "\n\n".join(part for part in (clean(picture.text).strip(), heading_plain(picture)) if part)
    return {"text/plain": plain, "text/markdown": markdown(picture)}


def markdown(picture: Picture) -> str:
    """The answer, then a quiet line that opens on the tools where there were any."""
    inside = [*folded.whole(picture, timed=False), *folded.thoughts(picture)]
    line = _fold(done_line(picture), inside) if inside else f"*{done_line(picture)}*"
    reason = [f"*{sanitise(text)}*" for text in _reason(picture)]
    return "\n\n".join(part for part in (sanitise(picture.text).strip(), *reason, line) if part)


# --- pieces of HTML ---------------------------------------------------------------------------------------------------


def _frame(*parts: str) -> str:
    return f'<div class="hermes-turn {NO_MATH}" style="{FRAME}">{"".join(parts)}</div>'


def _fold(line: str, inside: list[str], mark: str = "") -> str:
    """One line, which opens where there is something behind it."""
    if not inside:
        return f"<div>{mark}{quoted(line)}</div>"
    behind = f'<div style="{BEHIND}">{"".join(inside)}</div>'
    return opens(f"{mark}{quoted(line)}", behind, f'class="{NO_MATH}"')


def _mark(final: Final) -> str:
    """A sign where a turn did not end as it should; its words say how."""
    return "" if final.outcome is Outcome.COMPLETED else dot("bad", "✗")


def _shares(picture: Picture) -> list[str]:
    """The budget while a part of it is out."""
    return [f"<div>{escape(f'budget {meters.budget(picture).words}')}</div>"] if picture.leased else []


def _reason(picture: Picture) -> list[str]:
    """Why it ended so, where no error says it."""
    final = picture.final
    said = brief(clean(final.reason), REASON) if final and final.outcome not in IN_AN_ERROR else ""
    return [said] if said else []
