"""What the curator works with, as one value."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.core.learning.curating import Ages
from hermes_kernel.learning.proposals import Proposals
from hermes_kernel.learning.skills.history import History
from hermes_kernel.learning.skills.library import Library
from hermes_kernel.learning.skills.workshop import Workshop
from hermes_kernel.settings import Settings
from hermes_kernel.world.ports import Clock

if TYPE_CHECKING:
    from hermes_kernel.world.chronicle import Chronicle


@dataclass(frozen=True, slots=True)
class Means:
    """``settings`` gives those in force; ``active`` the time of the last thing anybody but a slow loop did in this
    home, in seconds since 1970-01-01 UTC; ``scheduled`` the skills that schedules name."""

    library: Library
    workshop: Workshop
    history: History
    proposals: Proposals
    clock: Clock
    settings: Callable[[], Settings]
    active: Callable[[], float]
    scheduled: Callable[[], Collection[str]] = tuple

    @property
    def home(self) -> Path:
        """The home that is tended."""
        return self.library.home

    @property
    def skills(self) -> Path:
        """Where its skills are."""
        return self.library.home / "skills"

    @property
    def chronicle(self) -> Chronicle:
        """Where what becomes of them is recorded."""
        return self.library.chronicle

    @property
    def ages(self) -> Ages:
        """When skills move."""
        settings = self.settings()
        return Ages(settings.stale_days, settings.archive_days, settings.curator_days)
