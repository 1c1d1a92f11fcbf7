"""How the store that a home shares stands, for whoever wants to know. Asks the server and makes nothing there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.store.places import Places, StoreError
from hermes_kernel.world.store.shared.address import address
from hermes_kernel.world.store.shared.hub import Hub
from hermes_kernel.world.store.shared.line import Line
from hermes_kernel.world.store.shared.schema import EXISTS, known
from hermes_kernel.world.store.shared.shipping import owed


@dataclass(frozen=True, slots=True)
class Standing:
    """``at`` is the server and database without the password; ``problem`` says in one line why they cannot be had now,
    ``waiting`` at most how many facts of this home wait for them: some may be there already."""

    at: str
    problem: str = ""
    waiting: int = 0


def standing(home: Path, store_url: str) -> Standing:
    """How the store at `store_url` stands for `home`.

    Raises:
        StoreError: it is no PostgreSQL URL, or psycopg is missing; the text says what to do.
    """
    at = address(store_url)
    clock = SystemClock()
    line = Line(at, clock, known)
    try:
        line.ask("SELECT 1")
    except StoreError as error:
        tag = Hub(at, clock=clock, ids=fresh_id).tag
        return Standing(str(at), str(error), owed(Places(home), tag))
    finally:
        line.close()
    return Standing(str(at))


def is_made(store_url: str) -> bool:
    """Whether anything was ever kept in the store at `store_url`.

    Raises:
        StoreError: the server cannot be asked.
    """
    line = Line(address(store_url), SystemClock(), known)
    try:
        ((there,),) = line.ask(EXISTS)
    finally:
        line.close()
    return bool(there)
