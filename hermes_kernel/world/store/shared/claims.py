"""Who acts on a session, among all hosts. A claim is a lock of the kept connection, which the server lets go of when
the connection ends; a row beside it says who holds it, and by its token whether anybody else did in between.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from hermes_kernel.world.store.locks import forget_in_child
from hermes_kernel.world.store.places import InUse, StoreError
from hermes_kernel.world.store.shared.line import Away, Line
from hermes_kernel.world.store.shared.rows import written

if TYPE_CHECKING:
    from psycopg import Connection

CLAIM = "SELECT claim(%s, %s, %s, %s)"


@dataclass(slots=True)
class _Held:
    """``known``: the server has heard of it. ``lost_to`` names who has it instead."""

    token: str
    known: bool = False
    lost_to: str = ""


class Claims:
    """The claims of one process. They live and die with its connection, and are renewed with the next one."""

    def __init__(self, line: Line, ids: Callable[[], str]) -> None:
        self._line = line
        self._ids = ids
        self._held: dict[str, _Held] = {}
        forget_in_child(self)

    def claim(self, session: str) -> SharedClaim:
        """Raises:
        StoreError: another process, named in the text, acts on it; or the server refuses this user."""
        held = _Held(self._ids())
        try:
            ((other,),) = self._line.ask(CLAIM, [written(session), _me(), held.token, False])
        except Away:
            other = ""
        else:
            held.known = True
        if other:
            raise InUse(_taken(session, other))
        self._held[session] = held
        return SharedClaim(self, session)

    def check(self, session: str) -> None:
        """Raises:
        StoreError: the claim was lost, to a process named in the text."""
        held = self._held.get(session)
        if held and held.lost_to:
            raise InUse(_taken(session, held.lost_to))

    def renew(self, connection: Connection) -> None:
        """Claim on a new connection what was held on the one before. One that the server never heard of is new."""
        for session, held in tuple(self._held.items()):
            answer = connection.execute(CLAIM, [written(session), _me(), held.token, held.known])
            ((held.lost_to,),) = answer.fetchall()
            held.known = True

    def release(self, session: str) -> None:
        """Let others have it. While the server is away they have it already."""
        held = self._held.pop(session, None)
        if held and not held.lost_to and self._line.connected:
            try:
                self._line.ask("SELECT unclaim(%s, %s)", [written(session), held.token])
            except StoreError:
                return

    def forget(self) -> None:
        self._held = {}


class SharedClaim:
    """One process acts on one session, among all hosts. A context manager."""

    def __init__(self, claims: Claims, session: str) -> None:
        self._claims = claims
        self._session = session

    def close(self) -> None:
        """Let others act on the session. Twice is as good as once."""
        self._claims.release(self._session)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _me() -> str:
    return f"process {os.getpid()} on {os.uname().nodename}"


def _taken(session: str, holder: str) -> str:
    return f"session {session!r} is in use by {holder}: stop it there, or ask in a new session"
