"""What is known of the window of one route's model, and finding it out: once, on a thread, while a call is answered.

Asking delays no call and fails none: whatever a server says, takes or sends, the answer is a window or nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException
from urllib.error import HTTPError

from hermes_kernel.core.windows import Window, known, more, window_in
from hermes_kernel.world.model.routes import Route

SECONDS = 10.0
_AS_MUCH = 1.02


class Reach:
    """How much the model of ``route`` reads. ``setting`` is what a person says, ``loaded`` what a server of our own
    was started with, in tokens; 0: not known. ``ask`` is how to ask the server."""

    def __init__(
        self, route: Route, *, setting: int = 0, loaded: int = 0, ask: Callable[[Route], Window | None] | None = None
    ) -> None:
        self._route = route
        self._ask = ask or listed
        self._setting = Window(setting, source="setting") if setting else None
        self._loaded = Window(loaded, source="local") if loaded else None
        self._table = known(route.model, hosted=not route.is_near)
        self._shown: Window | None = None
        self._listed: Window | None = None
        self._asked = bool(setting or loaded)
        self._thread: threading.Thread | None = None

    @property
    def window(self) -> Window | None:
        """What is known now. A person's word counts until the server's own refusals, or its memory, say less."""
        least = [found for found in (self._setting, self._shown, self._loaded) if found]
        if self._setting and least:
            return min(least, key=lambda found: found.tokens)
        return self._shown or self._loaded or self._listed or self._table

    @property
    def tokens(self) -> int:
        """What is known now, 0 for nothing."""
        return self.window.tokens if self.window else 0

    def shown(self, tokens: int, source: str) -> None:
        """The server has shown how much it takes: by an ``overflow`` or by a ``truncation``."""
        self._shown = Window(tokens, source=source)

    def counted(self, tokens: int) -> None:
        """The server has read so many: more than it was thought to cut prompts to, and it does so no longer."""
        if self._shown and self._shown.source == "truncation" and tokens > self._shown.tokens * _AS_MUCH:
            self._shown = None

    def look(self) -> None:
        """Ask the server what it says of its models, unless that was done or is of no use. Returns at once."""
        if not self._asked:
            self._asked = True
            thread = threading.Thread(target=self._look, name="hermes-window", daemon=True)
            with suppress(RuntimeError):  # there are as many threads as there can be, or the process ends
                thread.start()
                self._thread = thread

    def look_up(self) -> None:
        """The same where nobody has to be asked: it is known when this returns."""
        if not self._asked:
            self._asked = True
            self._look()

    def wait(self, seconds: float = SECONDS) -> None:
        """Until what was asked is known, for at most so long."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _look(self) -> None:
        self._listed = self._ask(self._route)


def listed(route: Route) -> Window | None:
    """What the server of `route` says of its model, if it says anything."""
    base_url = route.base_url.rstrip("/")
    answer = _fetched(f"{base_url}/models", route.api_key)
    found = window_in(answer, route.model)
    path = more(answer) if route.is_near and not found else ""
    return window_in(_fetched(base_url.removesuffix("/v1") + path, route.api_key), route.model) if path else found


def _fetched(url: str, key: str) -> object:
    """The JSON there; None where there is none to be had."""
    from hermes_kernel.world.discover import fetched

    try:
        return fetched(url, key, SECONDS / 4)
    except HTTPError as error:
        error.close()
    except (OSError, HTTPException, ValueError, RecursionError):
        pass  # a server that does not say it like this says nothing
    return None
