"""One kept connection to the server: every question is answered, refused or given up within seconds, and after a
failure the server is left in peace for a while. psycopg is imported here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.text import brief
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.store.locks import forget_in_child
from hermes_kernel.world.store.places import StoreError
from hermes_kernel.world.store.shared.address import Address

if TYPE_CHECKING:
    from psycopg import Connection, Error
    from psycopg.abc import PQGen

CONNECT_SECONDS = 3
ANSWER_SECONDS = 5  # on the server; a client that hears nothing at all waits one more
PAUSE_SECONDS = 1.0  # after the first failure; doubled by each that follows
LONGEST_PAUSE_SECONDS = 60.0
SAID = 160  # characters of the server's own words in one of ours

SETTINGS = f"""
SELECT set_config('search_path', %s, false), set_config('statement_timeout', '{ANSWER_SECONDS}s', false),
       set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
       set_config('tcp_keepalives_count', '3', false)
"""

# libpq gives no code for what happens before there is a connection, only words.
LOCKED_OUT = ("authentication failed", "no password supplied", "pg_hba.conf", "does not exist", "certificate")

REFUSED = ("42501", "42P01", "42883", "3F000")
"""No privilege; no table, function or schema: a user who may not use a schema is told that nothing is in it."""

BROKEN = ("08", "57P0")
PASSING = ("08", "25", "40", "53", "54", "55", "57", "58", "XX")
"""Classes of SQLSTATE that another time may bring better luck with: connection, state, rollback, resources,
intervention and the server's own trouble."""


class Away(StoreError):
    """The server cannot be had now. One readable line; another time it may."""


class _Broken(Exception):
    """A connection that was kept is gone: a new one may do better at once."""


class _Silent(Exception):
    """Nothing came from the server for as long as a question may take."""


Row = tuple[Any, ...]


class Line:
    """Asks the server. Safe from any thread, one question at a time; a forked child dials anew.

    ``dialled`` is called with each new connection before anything is asked on it.
    """

    def __init__(self, to: Address, clock: Clock, dialled: Callable[[Connection], None]) -> None:
        self._to = to
        self._elapsed = clock.elapsed
        self._dialled = dialled
        self._mutex = threading.RLock()
        self._connection: Connection | None = None
        self._failures = 0
        self._rest_until = float("-inf")
        self._trouble: StoreError | None = None
        forget_in_child(self)

    @property
    def why(self) -> str:
        """Why the server could not be had when it was last tried; empty when it could."""
        return str(self._trouble or "")

    @property
    def connected(self) -> bool:
        """Whether there is a connection, as far as is known."""
        return self._connection is not None

    def ask(self, question: str, values: Sequence[object] = ()) -> list[Row]:
        """The rows that the server answers with. Asked once more where a kept connection turns out to be broken, so
        it must be right to ask twice.

        Raises:
            Away: no answer within seconds, or it is too soon to try again.
            StoreError: the server refuses; trying again is of no use.
        """
        with self._mutex:
            self._rest()
            kept = self._connection
            with suppress(_Broken), self._giving_up(kept):
                return self._asked(question, values)
            with self._giving_up(None):
                return self._asked(question, values)

    def close(self) -> None:
        """Hang up. The next question dials again."""
        with self._mutex:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def forget(self) -> None:
        """In a forked child: the server must not hear of it, and must not hear the parent live on in it."""
        self._mutex = threading.RLock()
        if self._connection is not None:
            _abandon(self._connection)
        self._connection = None

    def _asked(self, question: str, values: Sequence[object]) -> list[Row]:
        if self._connection is None or self._connection.closed:
            self._connection = self._dial()
        answer = self._connection.execute(question.encode(), values or None)
        rows = answer.fetchall() if answer.description else []
        self._failures, self._trouble = 0, None
        return rows

    def _dial(self) -> Connection:
        connection = _patient().connect(
            self._to.conninfo,
            autocommit=True,
            connect_timeout=CONNECT_SECONDS,
            application_name="hermes-kernel",
            client_encoding="utf8",
        )
        try:
            connection.execute(SETTINGS.encode(), [self._to.schema])
            self._dialled(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _rest(self) -> None:
        if self._trouble and self._connection is None and self._elapsed() < self._rest_until:
            raise type(self._trouble)(self.why)

    @contextmanager
    def _giving_up(self, kept: Connection | None) -> Iterator[None]:
        """Errors as ours, and no more questions for a while; that the connection `kept` is broken as `_Broken`."""
        import psycopg

        try:
            yield
        except (psycopg.Error, _Silent) as error:
            if kept is not None and _is_broken(error, kept):
                raise _Broken from error
            verdict = _verdict(error, self._to)
            if verdict is None:
                raise
            self._leave(verdict)
            raise verdict from error
        except StoreError as error:
            self._leave(error)
            raise

    def _leave(self, why: StoreError) -> None:
        self.close()
        self._rest_until = self._elapsed() + min(PAUSE_SECONDS * 2**self._failures, LONGEST_PAUSE_SECONDS)
        self._failures += 1
        self._trouble = why


@cache
def _patient() -> type[Connection]:
    """A connection whose every question ends, though the server be stopped or the network swallow all."""
    import time

    import psycopg

    def bounded(generator: PQGen[Any]) -> PQGen[Any]:
        """Each tenth of a second psycopg looks up with nothing in hand. The clock is the socket's, not the turn's."""
        heard = time.monotonic()
        try:
            wanted = next(generator)
            while True:
                ready = yield wanted
                heard = time.monotonic() if ready else heard
                if time.monotonic() - heard > ANSWER_SECONDS + 1:
                    raise _Silent
                wanted = generator.send(ready)
        except StopIteration as done:
            return done.value

    class Patient(psycopg.Connection[Row]):
        def wait(self, gen: PQGen[Any], *args: Any, **options: Any) -> Any:
            return super().wait(bounded(gen), *args, **options)

    return Patient


def _is_broken(error: Error | _Silent, connection: Connection) -> bool:
    """Whether a new connection may do better at once."""
    return not isinstance(error, _Silent) and (connection.broken or (error.sqlstate or "").startswith(BROKEN))


def _verdict(error: Error | _Silent, to: Address) -> StoreError | None:
    """What to say of it; nothing where the fault is our own."""
    import psycopg

    if isinstance(error, _Silent):
        return Away(f"the shared store at {to} does not answer")
    state, said = error.sqlstate or "", _said(error)
    if state in REFUSED:
        return StoreError(f"the shared store at {to} refuses ({said}): have its owner grant this user what it takes")
    if state.startswith("28") or (not state and any(words in said for words in LOCKED_OUT)):
        return StoreError(f"the shared store at {to} does not let this user in ({said}): check store_url")
    if state.startswith(PASSING) or (not state and isinstance(error, psycopg.OperationalError)):
        return Away(f"the shared store at {to} cannot be had now ({said})")
    return None


def _said(error: Error) -> str:
    """The server's first line, without what only repeats where it stands."""
    line = str(error).partition("\n")[0]
    return brief(line.rpartition("failed: ")[2] if "connection failed" in line else line, SAID)


_abandoned: list[object] = []


def _abandon(connection: Connection) -> None:
    """Close the descriptor and nothing else. Kept from being collected: its end would speak for the parent."""
    import os

    os.close(connection.fileno())
    _abandoned.append(connection)
