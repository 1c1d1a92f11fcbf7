"""What a person may ask, and call a conversation: refused in a line where it cannot be."""

from __future__ import annotations

from hermes_kernel.core.figures import counted
from hermes_kernel.core.text import brief, scrub
from hermes_kernel.errors import HermesError

TITLE = 100  # characters
LONGEST = 7 * 86_400  # seconds that a person may give a piece of work; the settings end there, too


def checked(prompt: object, budget: int | None) -> str:
    """A prompt that can be asked, in text that every provider takes; refused with a `HermesError` where it cannot."""
    if not isinstance(prompt, str) or not prompt.strip():
        raise HermesError("The prompt is empty. Say what is to be done.")
    if budget is not None:
        affordable(budget, 1)
    return scrub(prompt)


def affordable(budget: object, least: int) -> int:
    """A number of model calls, at `least` so many; refused with a `HermesError` otherwise."""
    if isinstance(budget, bool) or not isinstance(budget, int):
        raise HermesError(f"A budget cannot be {brief(repr(budget), 40)}: it must be a whole number of model calls.")
    if budget < least:
        raise HermesError(f"A budget of {budget} is too small: it must be {counted(least, 'model call')} or more.")
    return budget


def titled(title: str) -> str:
    """A title that can be given; refused with a `HermesError` where it cannot."""
    name = scrub(title).strip()
    if not name.isprintable() or not 0 < len(name) <= TITLE:
        raise HermesError(f"A title is one line of 1 to {TITLE} characters, and no control characters.")
    return name


def limited(seconds: object) -> float | None:
    """A time limit that a clock can keep, or None where none was given; refused with a `HermesError` otherwise. An
    event loop that is given a NaN loses count of all its timers."""
    if seconds is None:
        return None
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 <= seconds <= LONGEST:
        raise HermesError(
            f"timeout cannot be {brief(repr(seconds), 40)}: it must be seconds, {LONGEST:,} at most, or 0 for no limit."
        )
    return seconds
