"""Where the store keeps things under a home, and how what went wrong there is said in one line."""

from __future__ import annotations

import difflib
import errno
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from hermes_kernel.core.text import brief
from hermes_kernel.world.store import locality
from hermes_kernel.world.store.disk import (
    FULL,
    PRIVATE_FILE,
    PRIVATE_FOLDER,
    InUse,
    StoreError,
    full,
    make,
    put,
    sync_folder,
)

__all__ = [
    "PRIVATE_FILE",
    "PRIVATE_FOLDER",
    "InUse",
    "NoSession",
    "Places",
    "StoreError",
    "close_to",
    "explaining",
    "make",
    "put",
    "sync_folder",
]

LONGEST_NAME = 200  # file systems take 255 bytes; the rest is for our own endings

CLOSEST = 3

NAMED = 80  # characters of what somebody called a session
HOW_NAMED = "; a session is named by its id, four letters or more of its beginning, its title, or `last`"

DATABASE = "sessions.duckdb"


class NoSession(KeyError):
    """There is no such session, or there are several, ``named``. One readable line that names those that come close."""

    def __init__(self, session: str, known: Iterable[str] = (), named: Sequence[str] = ()) -> None:
        if named:
            some = ", ".join(sorted(named)[:CLOSEST]) + ("" if len(named) <= CLOSEST else ", …")
            super().__init__(
                f"{len(named)} sessions are called {brief(session, NAMED)!r}: {some}; give more of the id of one"
            )
            return
        everybody = tuple(known)
        names = ", ".join(close_to(session, everybody))
        hint = f"; closest: {names}" if names else HOW_NAMED if everybody else ": nothing has been said yet"
        super().__init__(f"no session {brief(session, NAMED)!r}{hint}")

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one home. Nothing here exists until it is first needed."""

    home: Path

    @property
    def root(self) -> Path:
        return self.home / "store"

    @property
    def journals(self) -> Path:
        return self.root / "journal"

    @property
    def near(self) -> Path | None:
        """The folder on this computer's own disk that holds the database and every lock where locks do not hold in the
        home. None where they do.

        Raises:
            StoreError: there is no such folder; one line says what to set.
        """
        return locality.near(self.home)

    @property
    def sessions(self) -> Path:
        return self._locked / "sessions"

    @property
    def lock(self) -> Path:
        """Locked shared by readers of the database and exclusively by whoever folds. Never the database file itself:
        opening and closing that would drop the lock DuckDB holds on it."""
        return self._locked / "lock"

    @property
    def _locked(self) -> Path:
        """Where locks hold. Whoever asks is about to lock something there, so the store is made where there is none
        yet: nothing can be found out about a folder that is not there."""
        with suppress(OSError):
            make(self.root)
        return self.near or self.root

    @property
    def retired(self) -> Path:
        """Says up to what time facts may stand in the database alone, and which sessions were deleted."""
        return self.root / "retired.json"

    @property
    def shipped(self) -> Path:
        """Says how far each journal has been brought to the shared store."""
        return self.root / "shipped.json"

    @property
    def database(self) -> Path:
        return (self.near or self.home) / DATABASE

    def claim(self, session_id: str) -> Path:
        """The lock file of a session, whatever its id is made of."""
        name = quote(session_id, safe="")
        if len(name) > LONGEST_NAME:
            name = hashlib.sha256(session_id.encode("utf-8", "replace")).hexdigest()
        return self.sessions / f"{name}.lock"


def close_to(session: str, known: Iterable[str]) -> list[str]:
    """At most three ids that begin like this one, or failing those look like it."""
    names = sorted(known)
    begun = [each for each in names if session and each.startswith(session)]
    return (begun or difflib.get_close_matches(session, names, CLOSEST))[:CLOSEST]


@contextmanager
def explaining(places: Places) -> Iterator[None]:
    """What the disk refuses, as a `StoreError` of one line that says what to do."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(_explained(error, places)) from error


def _explained(error: OSError, places: Places) -> str:
    if error.errno in FULL:
        return full(places.root)
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        return f"cannot use {places.root}: too many files are open: close some, or allow more (`ulimit -n`)"
    why = error.strerror or str(error)
    return f"cannot use {places.root} ({why}): make it writable, or set HERMES_HOME to another folder"
