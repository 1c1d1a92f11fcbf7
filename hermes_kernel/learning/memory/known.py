"""What we last knew of a file, so that a change by hand is seen as one: the entries before and after our own last
change, and the entries that a person has consented to. Written before the file is, so that after a crash the two tell
what was not finished."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes_kernel.world.store.disk import PRIVATE_FILE, content, put

LARGEST = 40_000_000  # bytes; twice a file of memory, each character of which may be six in JSON


@dataclass(frozen=True, slots=True)
class Known:
    """The entries were ``before`` and should be ``after``. ``consented`` has digests of those that are suspicious and
    wanted. ``number`` and ``digest`` are those of the file that was replaced; 0: none was."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    consented: frozenset[str] = frozenset()
    number: int = 0
    digest: str = ""


def digest(entry: str) -> str:
    """What a consent is kept under."""
    return hashlib.sha256(entry.encode("utf-8", "replace")).hexdigest()


def known(path: Path) -> Known | None:
    """What `path` says; none where there is no such file, or it says nothing that can be understood."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        plain = json.loads(content(path, LARGEST))
        texts = [_texts(plain[name]) for name in ("before", "after", "consented")]
        return Known(texts[0], texts[1], frozenset(texts[2]), int(plain["number"]), str(plain["digest"]))
    return None


def keep(path: Path, what: Known) -> None:
    """Say it. A disk is waited for only where there are consents: all else the facts tell, too, if the power goes.

    Raises:
        OSError: the disk is full or does not take it.
    """
    said = json.dumps({**dataclasses.asdict(what), "consented": sorted(what.consented)}).encode()
    fresh = path.with_name(f"{path.name}.fresh")
    if what.consented:
        put(said, path, fresh)
        return
    handle = os.open(fresh, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE)
    with os.fdopen(handle, "wb") as file:
        file.write(said)
    fresh.replace(path)


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError(value)
    return tuple(value)
