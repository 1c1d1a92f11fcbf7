"""Which home this is: an id that is made once and goes wherever the folder goes."""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from pathlib import Path

from hermes_kernel.world.store.disk import StoreError, content, make, put
from hermes_kernel.world.store.locks import Busy, held

ID = re.compile(rb"[0-9a-f]{16}\n?")
MOST = 64  # bytes
DAMAGED = (
    "{} is damaged, and says which jobs run here: write into it what "
    '`hermes-kernel sql "SELECT DISTINCT place FROM jobs"` shows, or delete it if there are no jobs'
)
PATIENCE = 5.0  # seconds for another process that is making it


def here(home: Path) -> str:
    """The home's id. Of many processes that ask at once for one that is not there yet, all get the same.

    Raises:
        StoreError: there is none and none can be made, or it is damaged; one line says what to do. With another id, the
            jobs that were made here would silently run nowhere.
    """
    path = _path(home)
    if there := known(home):
        return there
    if path.exists() and not known(home):  # it is put there whole, so it was whole
        raise StoreError(DAMAGED.format(path))
    try:
        with held(path.with_name("place.lock"), PATIENCE):
            return known(home) or _made(home)
    except (Busy, OSError) as error:
        why = getattr(error, "strerror", None) or "another process holds it"
        raise StoreError(
            f"cannot write {path} ({why}): make it writable, or set HERMES_HOME to another folder"
        ) from None


def known(home: Path) -> str:
    """The home's id; nothing where none has been made, or what is there is none."""
    try:
        found = content(_path(home), MOST)
    except OSError:
        return ""
    return found.decode().strip() if ID.fullmatch(found) else ""


def _path(home: Path) -> Path:
    return home / "schedule" / "place"


def _made(home: Path) -> str:
    """A link is refused where there is one: also where a lock is granted to two computers, one of them wins."""
    made, path = secrets.token_hex(8), _path(home)
    fresh, other = (path.with_name(f"place.{made}.{kind}") for kind in ("new", "own"))
    make(path.parent)
    put(f"{made}\n".encode(), other, fresh)
    try:
        with suppress(FileExistsError):
            path.hardlink_to(other)
    except OSError:  # a disk without links
        other.replace(path)
    other.unlink(missing_ok=True)
    return known(home) or made
