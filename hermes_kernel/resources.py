"""What an agent, its subagents and the rows of its maps work with: one value, handed down the whole tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hermes_kernel.equipment import Equipment
from hermes_kernel.world.ports import Archive, Clock


@dataclass(frozen=True, slots=True)
class Resources:
    """The same for all of one tree. ``new_id`` gives ids of sessions."""

    equipment: Equipment
    store: Archive
    clock: Clock
    new_id: Callable[[], str]
