"""How a home's store stands, for whoever wants to know: where its database is and why, and what is not in it yet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hermes_kernel.world.store import database
from hermes_kernel.world.store.journal import journals
from hermes_kernel.world.store.locality import locks_in
from hermes_kernel.world.store.places import DATABASE, Places, StoreError
from hermes_kernel.world.store.reading import opened


@dataclass(frozen=True, slots=True)
class Standing:
    """Sizes are in bytes. ``why`` says in one line why the database is not in the home, ``problem`` why it cannot be
    read now; both are empty otherwise. ``unfolded`` is all there is in the journals while it cannot be read."""

    database: Path
    size: int = 0
    journals: int = 0
    unfolded: int = 0
    why: str = ""
    problem: str = ""


def standing(home: Path) -> Standing:
    """Of a home that has a store."""
    places = Places(home)
    try:
        path = places.database
    except StoreError as error:
        return _told(places, home / DATABASE, str(error))
    if not path.exists():
        return _told(places, path)
    try:
        with opened(places, patience=1.0) as connection:
            return _told(places, path, done=database.offsets(connection))
    except OSError as error:
        return _told(places, path, str(error))


def _told(places: Places, path: Path, problem: str = "", done: dict[str, int] | None = None) -> Standing:
    left = {each: each.stat().st_size - (done or {}).get(each.name, 0) for each in journals(places.journals)}
    why = "" if path.parent == places.home else locks_in(places.root).value
    size = path.stat().st_size if path.exists() else 0
    return Standing(path, size, sum(1 for each in left.values() if each), sum(left.values()), why, problem)
