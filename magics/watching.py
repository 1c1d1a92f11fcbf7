"""This kernel watches over jobs, if nobody else does: a thread that begins with next to nothing.

As long as its home has no jobs it imports nothing and looks at the disk once in a while.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hermes_kernel.settings import Settings

SETTLE = 2.0  # seconds after the start before anything is looked at: a front end comes first
PAUSE = 5.0  # seconds between two looks whether there are jobs


class Watching:
    """The thread of one kernel. `settings` are those in force when it is asked."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._settings = settings
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Watch from here on."""
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, args=(self._closed,), name="hermes-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Watch no more; another kernel may. A tick that was started goes on."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join(1.0)
        self._thread = None

    def again(self) -> None:
        """With other settings."""
        if self._thread is not None:
            self.close()
            self.start()

    def _watch(self, closed: threading.Event) -> None:
        settings, pause = None, SETTLE
        while not closed.wait(pause):
            pause = PAUSE
            settings = settings or self._known()
            if settings is not None and (settings.spec or not settings.schedule_watch):
                return
            if settings is not None and _may_have_jobs(settings):
                from hermes_kernel.scheduling.watch import Watch

                Watch(settings.home, shared=bool(settings.store_url)).until(closed)

    def _known(self) -> Settings | None:
        """A wrong setting is said when a prompt needs it."""
        from hermes_kernel.settings import SettingsError

        with suppress(SettingsError, OSError):
            return self._settings()
        return None


def _may_have_jobs(settings: Settings) -> bool:
    return bool(settings.store_url) or (settings.home / "schedule" / "agenda.json").exists()
