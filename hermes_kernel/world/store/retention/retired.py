"""What a reader must know who does not open the database: up to when facts may be in it alone, and which sessions were
deleted. One small file, replaced whole; whoever writes it holds the store's lock."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hermes_kernel.world.store.places import Places, put, sync_folder


@dataclass(frozen=True, slots=True)
class Retired:
    """Facts of up to the time ``until`` may be in the database alone: a session that began later is in the journals
    whole. Nothing of the sessions in ``deleted`` is shown or folded again."""

    until: float = float("-inf")
    deleted: frozenset[str] = frozenset()


def retired(places: Places) -> Retired:
    """What the file says. One that cannot be read says: ask the database."""
    try:
        plain = json.loads(places.retired.read_text())
        return Retired(float(plain.get("until", float("-inf"))), frozenset(map(str, plain.get("deleted", ()))))
    except FileNotFoundError:
        return Retired()
    except (ValueError, AttributeError, TypeError, RecursionError):
        return Retired(float("inf"))


def retire(places: Places, until: float) -> None:
    """Facts of up to `until` will be in the database alone."""
    known = retired(places)
    if until > known.until:
        _write(places, Retired(until, known.deleted))


def retire_sessions(places: Places, deleted: frozenset[str]) -> None:
    """Nothing of these sessions, and of those deleted before, is to be shown again."""
    known = retired(places)
    _write(places, Retired(known.until, known.deleted | deleted))


def _write(places: Places, known: Retired) -> None:
    plain: dict[str, object] = {"deleted": sorted(known.deleted)} if known.deleted else {}
    if known.until > float("-inf"):
        plain["until"] = known.until
    put(json.dumps(plain).encode(), places.retired, places.retired.with_suffix(".new"))
    sync_folder(places.root)
