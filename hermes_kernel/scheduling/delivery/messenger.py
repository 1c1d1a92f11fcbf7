"""`Messenger` tells people what came of a run. What goes wrong on the way is said in one line, never raised, and has
no part of an address in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from hermes_kernel.core.redact import redact as without_secrets
from hermes_kernel.core.schedule.job import DESKTOP, FILE, NONE, NOTEBOOK
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.delivery import desktop, filing, wording
from hermes_kernel.scheduling.delivery.sending import SECONDS, in_time, send
from hermes_kernel.scheduling.delivery.targets import Targets
from hermes_kernel.scheduling.ports import Report

WHOLE = 10_000_000  # characters of a report in a file
TEST = "A test: reports of scheduled runs will come here."


class Messenger:
    """`ports.Deliverer` for a home. ``redact`` takes secrets out of what is sent, beside those of the addresses; a
    message may take ``seconds``."""

    def __init__(
        self, home: Path, targets: Targets | None = None, *, redact: Callable[[str], str] = without_secrets,
        environ: Mapping[str, str] | None = None, seconds: float = SECONDS,
    ) -> None:  # fmt: skip
        self._runs = home / "runs"
        self._environ = os.environ if environ is None else environ
        self.targets = targets or Targets(home, environ=self._environ)
        self._redact = redact
        self._seconds = seconds

    async def deliver(self, report: Report, target: str) -> str:
        if target in (NONE, NOTEBOOK):
            return ""
        try:
            return brief(await in_time(partial(self._deliver, report, target), self._seconds), 300)
        except RuntimeError:
            return "no thread could be begun to send it: the machine has too many"

    async def test(self, name: str) -> str:
        """Send a message to the target: nothing, or in one line why it could not be sent."""
        if name in (NONE, NOTEBOOK):
            return f"{name} tells no one: there is nothing to test"
        return await self.deliver(Report("Hermes Kernel", "test", 0.0, "test", TEST), name)

    def _deliver(self, report: Report, target: str) -> str:
        try:
            return self._told(report, target)
        except HermesError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - a thread's own edge: what it raised would be printed, and waited for
            return f"it could not be sent ({type(error).__name__})"

    def _told(self, report: Report, target: str) -> str:
        longest = WHOLE if target.startswith(FILE) else wording.LONGEST
        secrets = self.targets.secrets()
        message = wording.message(report, lambda text: without_secrets(self._redact(text), secrets), longest)
        if target.startswith(FILE):
            return filing.write(target.removeprefix(FILE).strip(), report, message, self._runs)
        if target == DESKTOP:
            return desktop.show(message, self._environ, self._seconds)
        address = self.targets.address(target)
        if address is None:
            raise HermesError(self.targets.no_target(target))
        return send(address, message)
