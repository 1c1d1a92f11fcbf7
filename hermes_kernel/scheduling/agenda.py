"""When there is next something to do, in a file that can be read without a database.

Whoever changes jobs or has ticked writes it. One that cannot be understood says "now": to look once too often costs a
second, not to look costs a run.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.store.disk import PRIVATE_FILE, content, make, put

NOW = 0.0
"""An instant that has come, whatever the clock says."""

MOST = 4_096  # bytes of a file that we have written


class Agenda:
    """The agenda of one home. Safe from any thread and process: a reader finds what one writer wrote, whole."""

    def __init__(self, home: Path) -> None:
        self._path = home / "schedule" / "agenda.json"

    def write(self, next: float | None) -> None:  # noqa: A002 - the seam's word
        """There is something to do at `next` (seconds since 1970), or, None, nothing at all. Raises nothing: on a disk
        that does not take it the agenda says "now", or what it said before."""
        plain = json.dumps({"next": next}).encode()
        fresh = self._path.with_name(f"agenda.{fresh_id()[:12]}.new")
        try:
            make(self._path.parent)
            put(plain, self._path, fresh)
        except OSError:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
            with suppress(OSError):
                self._path.touch(PRIVATE_FILE)
                self._path.open("wb").close()

    def written(self) -> bool:
        """Somebody wrote it: there are jobs, or were. One look at the disk."""
        return self._path.exists()

    def read(self) -> float | None:
        """When there is something to do; None where there is nothing, or nobody ever wrote."""
        try:
            return _next(json.loads(content(self._path, MOST)))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError):
            return NOW


def _next(plain: Any) -> float | None:
    """Raises:
    ValueError: it is no agenda.
    """
    match plain:
        case {"next": None}:
            return None
        case {"next": int() | float() as at} if not isinstance(at, bool) and math.isfinite(at):
            return float(at)
    raise ValueError(plain)
