"""What an agent stands on: a home, a store, time and ids. In a spec they are the same everywhere, and a home that
nobody asked for is thrown away with all that is in it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC
from functools import cache
from pathlib import Path

from hermes_kernel.settings import HOME, Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.passing_folder import PassingFolder
from hermes_kernel.world.ports import Archive, Clock
from hermes_kernel.world.spec import CountedIds, StillClock
from hermes_kernel.world.store import Store
from hermes_kernel.world.store.asking.hand import Hand
from hermes_kernel.world.store.asking.listing import everybody
from hermes_kernel.world.store.opening import open_store
from hermes_kernel.world.store.places import InUse
from hermes_kernel.world.zone import LOCAL


class Ground:
    """That of one agent with these `settings`; ``settings`` say where it is. Of the real world a `clock` or a `log` may
    be another one.

    Raises:
        StoreError: the store cannot be used.
    """

    def __init__(self, settings: Settings, clock: Clock | None = None, log: Archive | None = None) -> None:
        self._leaving = ExitStack()
        self.settings = self._at_home(settings)
        self.clock = clock or (StillClock() if settings.spec else SystemClock())
        where, zone = self.settings, UTC if settings.spec else LOCAL
        self.store: Archive = log or open_store(where.home, where.store_url, clock=self.clock, zone=zone)
        self.new_id: Callable[[], str] = self._counted() if settings.spec else fresh_id

    @property
    def still(self) -> bool:
        """Time stands still on it."""
        return isinstance(self.clock, StillClock)

    def close(self) -> None:
        """Leave it. Can be called again."""
        self.store.close()
        self._leaving.close()

    def _at_home(self, settings: Settings) -> Settings:
        """In a spec, a home of its own unless one was set on purpose: nothing of a person's goes in or out."""
        if not settings.spec or "home" in settings.sources or settings.home != Path(HOME).expanduser().absolute():
            return settings
        home = PassingFolder("spec")
        self._leaving.callback(weakref.finalize(self, home.close))
        return settings.with_(home=home.path, store_url="")

    def _counted(self) -> CountedIds:
        """Ids that no session here has; two agents at once in one home count apart."""
        store = self.store
        if not isinstance(store, Store):
            return CountedIds(lambda _: False)
        known = cache(lambda: everybody(Hand(store.home)))
        return CountedIds(lambda made: made in known(), self._series(store))

    def _series(self, store: Store) -> int:
        """The first that nobody counts now."""
        series = 0
        while True:
            try:
                self._leaving.enter_context(store.claim(f"spec {series}"))
            except InUse:
                series += 1
            else:
                return series
