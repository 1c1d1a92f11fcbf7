"""`Lore`: what a home has learnt, and the means to change it, for whoever has a store: an agent, or a command.

What is seldom needed is made when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from hermes_kernel.core.planned import PLANS
from hermes_kernel.equipment import Equipment
from hermes_kernel.learning.memory import Limits, Memory
from hermes_kernel.learning.proposals import Proposals
from hermes_kernel.learning.skills.library import Library
from hermes_kernel.resources import Resources
from hermes_kernel.settings import Settings
from hermes_kernel.world.aside import Aside
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.ports import Archive, Clock

if TYPE_CHECKING:
    from hermes_kernel.learning.curating import Curator
    from hermes_kernel.learning.skills.history import History
    from hermes_kernel.learning.skills.workshop import Workshop
    from hermes_kernel.world.store import Store

BUNDLED = Path(__file__).parents[1] / "skills"
"""The skills that come with the package."""


class Lore:
    """That of the home in which ``resources`` work. ``chronicle`` is the record, ``memory`` what is remembered,
    ``skills`` what skills there are, ``proposals`` what waits for the person."""

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        home, redact = self.settings.home, resources.equipment.redact
        self.chronicle = Chronicle(resources.store, resources.new_id)
        self.proposals = Proposals(home, resources.clock, resources.new_id)
        self.memory = Memory(home, self._limits, self.chronicle, self.proposals, redact=redact)
        self.skills = Library(home, BUNDLED, self.chronicle)

    @property
    def settings(self) -> Settings:
        """Those in force at this moment."""
        return self.resources.equipment.settings

    @cached_property
    def history(self) -> History:
        """Every version of every skill."""
        from hermes_kernel.learning.skills.history import History

        return History(self.settings.home / "history")

    @cached_property
    def workshop(self) -> Workshop:
        """Where skills are made and changed."""
        from hermes_kernel.learning.skills.workshop import Workshop

        redact = self.resources.equipment.redact
        return Workshop(self.skills, self.history, self.chronicle, self.proposals, self.settings.home, redact=redact)

    @cached_property
    def curator(self) -> Curator:
        """What tends to skills that nobody uses."""
        from hermes_kernel.core.schedule.outlook import awaited
        from hermes_kernel.learning.curating import Curator
        from hermes_kernel.learning.curating.idling import last_active
        from hermes_kernel.learning.curating.means import Means
        from hermes_kernel.learning.curating.reviewing import Reviewer

        store, clock = cast("Store", self.resources.store), self.resources.clock
        means = Means(
            self.skills, self.workshop, self.history, self.proposals, clock, lambda: self.settings,
            lambda: last_active(store), lambda: awaited(store.learnt(PLANS)),
        )  # fmt: skip
        return Curator(means, lambda: Reviewer(self.resources, self.asking))

    def asking(self) -> AbstractAsyncContextManager[Aside]:
        """A model for side work, on the loop of whoever asks."""
        from hermes_kernel.learning.reflecting.asking import apart

        return apart(self.resources.equipment.models)

    def _limits(self) -> Limits:
        return Limits(self.settings.memory_chars, self.settings.user_chars)


def open_learning(settings: Settings, store: Archive, clock: Clock, new_id: Callable[[], str]) -> Lore:
    """What the home of `settings` has learnt, for a command that needs no agent."""
    return Lore(Resources(Equipment(settings, clock, finder=store), store, clock, new_id))


__all__ = ["BUNDLED", "Lore", "open_learning"]
