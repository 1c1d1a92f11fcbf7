"""Bars with their figures beside them: the budget of a turn, and how far a silence is. Pure.

No colour says anything alone: whatever a bar shows, its words say.
"""

from __future__ import annotations

from dataclasses import dataclass

from hermes_kernel.core.budget import IterationBudget
from hermes_kernel.core.events import Silence
from hermes_kernel.core.figures import counted
from hermes_kernel.core.safe import escape
from hermes_kernel.core.text import dotted
from hermes_kernel.view.look import TONES, TRENCH
from hermes_kernel.view.turn.picture import Picture
from hermes_kernel.view.turn.words import THINKING, silent

LITTLE, HARDLY = 0.25, 0.10  # shares left at which a bar turns amber, and red
LINE = "display:flex;gap:8px;align-items:center;min-height:1.5em"
BAR = f"flex:0 99999 10em;min-width:4em;height:0.5em;border-radius:0.25em;overflow:hidden;display:flex;{TRENCH}"
LENT = "repeating-linear-gradient(45deg,{0} 0 2px,transparent 2px 4px)"
FIGURES = "flex:1 1 auto;min-width:0;font-variant-numeric:tabular-nums"


@dataclass(frozen=True, slots=True)
class Part:
    """So much of a meter. ``tone`` is one of the look's, or empty for what is left."""

    name: str
    amount: float
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Meter:
    """A bar: parts ``of`` a whole, and the same in words."""

    label: str
    parts: tuple[Part, ...]
    of: float
    words: str


def budget(picture: Picture) -> Meter:
    """Calls of a turn at work that are spent, leased to subagents, and left."""
    return _calls(picture.calls, picture.leased, len(picture.at_work), picture.limit)


def budget_of(kept: IterationBudget) -> Meter:
    """The same of a turn of which its budget is known."""
    return _calls(kept.spent, kept.leased, len(kept.leases), kept.limit)


def _calls(spent: int, leased: int, subagents: int, limit: int) -> Meter:
    left = max(limit - spent - leased, 0)
    shade = tone(left, limit)
    lent = f"{leased} leased to {counted(subagents, 'subagent')}" if leased else ""
    words = dotted(f"{spent} spent", lent, f"{left} left of {limit}{_warning(left, shade)}")
    parts = (Part("spent", spent, shade), Part("leased", leased, shade), Part("left", left))
    return Meter("budget", parts, limit, words)


def quiet(silence: Silence | None) -> Meter | None:
    """A silence on its way to its limit; nothing while there is nothing to speak of."""
    if silence is None or silent(silence, THINKING) == THINKING or silence.limit <= 0:
        return None
    seconds, limit = min(silence.seconds, silence.limit), silence.limit
    shade = tone(limit - seconds, limit)
    heard = {"queued": "queued", "first_byte": "no answer yet"}.get(silence.kind, "silent")
    soon = {"slow": ", soon given up", "bad": ", nearly given up"}.get(shade, "")
    parts = (Part(heard, seconds, shade), Part("left", limit - seconds))
    return Meter(heard, parts, limit, f"{int(seconds)} of {int(limit)} s{soon}")


def tone(left: float, of: float) -> str:
    """How a bar is to look of which so much is left: one of `look.TONES`."""
    if left <= HARDLY * of:
        return "bad"
    return "slow" if left <= LITTLE * of else "busy"


def meter_html(meter: Meter | None) -> str:
    """A bar and its words; for none, a place as high, so that nothing moves when there is one."""
    if meter is None:
        return f'<div style="{LINE}" aria-hidden="true">&#160;</div>'
    return f'<div style="{LINE}"><span style="flex:none">{escape(meter.label)}</span>{bar_html(meter)}</div>'


def bar_html(meter: Meter) -> str:
    """A bar and its words, without what they are about, for where that is plain to see."""
    words = escape(meter.words)
    full = sum(part.amount for part in meter.parts if part.tone)
    told = (
        f'role="progressbar" aria-label="{escape(meter.label)}" aria-valuemin="0" aria-valuemax="{meter.of:g}" '
        f'aria-valuenow="{min(full, meter.of):g}" aria-valuetext="{words}"'
    )
    bar = f'<div {told} style="{BAR}">{"".join(_part(part, meter.of) for part in meter.parts)}</div>'
    return f'{bar}<span style="{FIGURES}">{words}</span>'


def _part(part: Part, of: float) -> str:
    if not part.tone or not part.amount or of <= 0:
        return ""
    ground = LENT.format(TONES[part.tone]) if part.name == "leased" else TONES[part.tone]
    width = min(100 * part.amount / of, 100.0)
    return f'<div style="width:{width:.1f}%;background:{ground};forced-color-adjust:none"></div>'


def _warning(left: int, shade: str) -> str:
    if not left:
        return ", none to spend"
    return {"slow": ", running low", "bad": ", nearly spent"}.get(shade, "")
