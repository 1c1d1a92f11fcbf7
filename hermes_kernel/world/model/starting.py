"""The server we start ourselves, started on a thread when it is first asked, its progress told meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.core.events import Noticed
from hermes_kernel.settings import LOCAL, LOCAL_MODEL
from hermes_kernel.world.model.routes import Route
from hermes_kernel.world.stop import Stop

if TYPE_CHECKING:
    from hermes_kernel.world.local import LocalModel


class LocalServer:
    """The local model of one route. ``route`` is where it answers, None while it does not; ``trouble`` why not."""

    def __init__(self, home: Path, route: Route) -> None:
        self.route: Route | None = None
        self.trouble = ""
        self._home = home
        self._wanted = route
        self._model: LocalModel | None = None
        self._tell: Callable[[str | None], None] = lambda _: None  # whoever waits for it now: it is started again

    async def start(self, stop: Stop) -> AsyncGenerator[Noticed, None]:
        """Progress, until the server answers, cannot, or `stop` is pressed."""
        lines: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def tell(line: str | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(lines.put_nowait, line)

        latch = asyncio.ensure_future(stop.wait())
        latch.add_done_callback(lambda _: lines.put_nowait(None))
        self._tell = tell
        threading.Thread(target=self._run, args=(tell,), name="hermes-local-start", daemon=True).start()
        try:
            while (line := await lines.get()) is not None:
                yield Noticed(line)
        finally:
            latch.cancel()
            if self.route is None and not self.trouble:
                threading.Thread(target=self.stop, name="hermes-local-stop", daemon=True).start()

    def forget(self) -> None:
        """It does not answer any more: start it again next time."""
        self.route = None

    def stop(self) -> None:
        """End it. Safe from any thread, and when it was never started."""
        if self._model is not None:
            self._model.stop()
        self.route = None

    def _progress(self, line: str) -> None:
        self._tell(line)

    def _run(self, tell: Callable[[str | None], None]) -> None:
        from hermes_kernel.world.local import LocalModel, LocalModelError

        self.trouble = ""
        try:
            self._model = self._model or LocalModel(self._home, model=_name(self._wanted), progress=self._progress)
            base_url, api_key = self._model.start()
        except (LocalModelError, OSError) as error:
            self.trouble = str(error) or "the local model could not be started"
        else:
            self.route = replace(self._wanted, base_url=base_url, api_key=api_key)
        tell(None)


def loaded(route: Route) -> int:
    """Tokens that our own server reads for `route`, 0 if it is another's or there is no such model."""
    if not route.is_local:
        return 0
    from hermes_kernel.world.local.weights import MODELS

    weights = MODELS.get(_name(route))
    return weights.context if weights else 0


def _name(route: Route) -> str:
    """Which local model: named after ``local:``, or by the model's name, or the usual one."""
    return route.base_url.removeprefix(LOCAL) or route.model or LOCAL_MODEL
