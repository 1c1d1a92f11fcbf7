"""What a home owes the store it shares: a journal whose name says so goes there whole before it may be removed, whoever
folds. Others stay at home: they were written by processes that shared nothing, or something else.

How far each has gone is one small file. Losing it costs a second delivery, which adds nothing.
"""

from __future__ import annotations

import json
import os
import re
import threading
from contextlib import suppress
from pathlib import Path

from hermes_kernel.world.store.journal import journals, read
from hermes_kernel.world.store.places import Places, StoreError, put
from hermes_kernel.world.store.sources import Shared

OWED = re.compile(r"-for-[0-9a-f]{8}$")
AT_A_TIME = 500  # records; a delivery that fails is given again from here


def ship(places: Places, shared: Shared | None) -> str:
    """Bring what is owed. Nothing, or one line that says why some of it has to wait."""
    if shared is None:
        return ""
    gone, present = shipped(places), journals(places.journals)
    done = {path.name: gone.get(path.name, 0) for path in present}
    try:
        for path in [each for each in present if each.stem.endswith(shared.tag)]:
            tail = read(path, done.get(path.name, 0))
            for first in range(0, len(tail.records), AT_A_TIME):
                shared.ship(tail.records[first : first + AT_A_TIME])
            done[path.name] = tail.end
    except StoreError as error:
        return str(error)
    finally:
        if done != gone:
            _remember(places, done)
    return ""


def owed(places: Places, tag: str) -> int:
    """How many facts in journals of this `tag` no fold has brought yet; whoever wrote them may have."""
    gone = shipped(places)
    due = [path for path in journals(places.journals) if path.stem.endswith(tag)]
    return sum(len(read(path, gone.get(path.name, 0)).records) for path in due)


def is_owed(places: Places, path: Path) -> bool:
    """Whether a shared store still lacks some of this journal."""
    return bool(OWED.search(path.stem)) and bool(read(path, shipped(places).get(path.name, 0)).records)


def shipped(places: Places) -> dict[str, int]:
    """How far each journal has been brought, in bytes."""
    with suppress(FileNotFoundError, ValueError, TypeError, AttributeError, RecursionError):
        return {str(name): int(end) for name, end in json.loads(places.shipped.read_text()).items()}
    return {}


def _remember(places: Places, done: dict[str, int]) -> None:
    """Two folds may write at once: the last wins, and what the other had done is done again."""
    fresh = places.shipped.with_name(f"shipped.{os.getpid()}-{threading.get_ident()}.new")
    put(json.dumps(done).encode(), places.shipped, fresh)
