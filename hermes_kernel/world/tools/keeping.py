"""Long results: head and tail for the model, the whole in a file that is named; no id leads out of its folder."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from hermes_kernel.core.text import scrub
from hermes_kernel.world.store.disk import make

HEAD = 0.6
PLACE = 300  # characters set aside for where the rest is, so that what is cut does not depend on how long a path is
SAME_NAME = 1_000
UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class Bounded:
    """A bounded text, and where the whole of it is (``""`` when nothing was left out or it could not be written)."""

    text: str
    at: str = ""


def keep(text: str, limit: int, folder: Path, call_id: str) -> Bounded:
    """`text` in at most `limit` characters; a longer one is written to ``folder/<call id>.txt``, for its owner only."""
    if len(text) <= limit:
        return Bounded(text)
    try:
        at = _write(text, folder, safe(call_id))
        where = f"all of it is in {at}; read_file shows parts"
    except OSError as error:
        at, where = "", f"the whole could not be kept: {error.strerror or error}"
    return Bounded(cut(text, limit, where), at)


def cut(text: str, limit: int, where: str) -> str:
    """Head and tail of `text` around a line that says how much is missing and `where` the rest is."""
    gap = f"\n\n[… {len(text):,} characters in all; the middle is left out; {where} …]\n\n"
    room = max(limit - max(len(gap), PLACE), 0)
    head = int(room * HEAD)
    tail = room - head
    return scrub(text[:head] + gap + (text[-tail:] if tail else ""))


def safe(name: str) -> str:
    """A file name that stands for `name` alone: two names never share one, and none has a dot or a slash."""
    plain = UNSAFE.sub("_", name)[:64]
    if plain == name and plain:
        return plain
    return f"{plain}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:12]}"


def _write(text: str, folder: Path, name: str) -> str:
    make(folder)
    for count in range(1, SAME_NAME + 1):
        path = folder / (f"{name}.txt" if count == 1 else f"{name}-{count}.txt")
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except FileExistsError:
            continue
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                file.write(scrub(text))
        except OSError:
            path.unlink()  # a part of it would take the room in which the turn itself is to be kept
            raise
        return str(path)
    raise OSError(f"{folder} already holds {SAME_NAME} results named {name}")
