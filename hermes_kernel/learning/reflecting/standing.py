"""How it stands with each slow loop, and why one does not run by itself."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from hermes_kernel.core.learning.looking import KEPT_DUE_SECONDS, Unseen, next_nudge, still_due
from hermes_kernel.core.learnt import Dated, LookDue, Looked
from hermes_kernel.learning.holding import held_back
from hermes_kernel.learning.reflecting.look import LOOPS, Look, Means
from hermes_kernel.learning.reflecting.ours import ours
from hermes_kernel.settings import SettingsError

SMALL = "the local model answers one call at a time; name another in aux_model"
WORTH = "after a turn that is worth a skill"


@dataclass(frozen=True, slots=True)
class Standing:
    """``off`` says why ``loop`` does not run by itself, ``""`` where it does. ``running`` is the conversation it looks
    at, at this moment; ``last`` its last `Looked`, ``due`` what waits (`LookDue`), ``next`` in words when it will look;
    ``trouble`` why the last look could not be taken."""

    loop: str
    off: str = ""
    running: str = ""
    last: Dated | None = None
    due: tuple[Dated, ...] = ()
    next: str = ""
    trouble: str = ""


def off(means: Means, loop: str) -> str:
    """Why `loop` does not run by itself; ``""`` where it does."""
    settings = means.settings
    setting = "memory_writes" if loop == "nudge" else "skill_writes"
    if why := held_back(settings):
        return why
    if loop == "nudge" and not settings.nudge_every_turns:
        return "nudge_every_turns is 0"
    if getattr(settings, setting) == "off":
        return f"{setting} is off"
    return SMALL if _solitary(means) else ""


def standing(
    means: Means, unseen: Unseen, look: Look | None, trouble: Mapping[str, str], loops: tuple[str, ...] = LOOPS
) -> tuple[Standing, ...]:
    """How it stands with each of `loops`.

    Raises:
        StoreError: the store cannot be read.
    """
    facts = means.chronicle.read(LookDue, Looked)
    lately = means.resources.clock.now() - KEPT_DUE_SECONDS
    mine = ours(settings := means.settings)
    due = [
        each
        for each in still_due(facts)
        if each.t >= lately and isinstance(each.fact, LookDue) and mine(each.fact.session)
    ]
    coming = {"nudge": next_nudge(unseen, settings.nudge_every_turns, settings.nudge_seconds), "review": WORTH}
    return tuple(
        Standing(
            loop,
            why := off(means, loop),
            look.session if look and look.loop == loop else "",
            next((each for each in reversed(facts) if _is(each, Looked, loop)), None),
            tuple(each for each in due if _is(each, LookDue, loop)),
            "" if why else coming[loop],
            trouble.get(loop, ""),
        )
        for loop in loops
    )


def _is(dated: Dated, kind: type[LookDue | Looked], loop: str) -> bool:
    return isinstance(dated.fact, kind) and dated.fact.loop == loop


def _solitary(means: Means) -> bool:
    """Side work would keep the conversation's own calls waiting, always."""
    equipment = means.resources.equipment
    with suppress(SettingsError):  # there is no model at all; the next turn says so
        return equipment.models.small and equipment.models.aside().solitary
    return False
