"""What is said of skills beside them: ``skills/.hermes-kernel.json``, by name. For what ours does not say (who made a
skill, whether it is pinned) the original's ``.usage.json`` is read, and never written.

A file that cannot be understood says nothing, and is kept aside before it is written anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hermes_kernel.core.learning.skill import ORIGINS, SkillError
from hermes_kernel.world.store.disk import make, plain_in, put, sync_folder
from hermes_kernel.world.store.locks import Busy, held

FILE, LOCK = ".hermes-kernel.json", ".hermes-kernel.lock"
THEIRS = ".usage.json"
WAIT = 10.0  # seconds for another process, which holds the lock for milliseconds
LARGEST = 20_000_000  # bytes; ten thousand skills, each with fifty trusted files, have 34 of them at 66 bytes a digest


@dataclass(frozen=True, slots=True)
class Mark:
    """What is said of one skill. ``trusted`` holds the SHA-256 of each content that a person has consented to;
    ``origin`` is one of `ORIGINS`, or "" where nobody has said."""

    pinned: bool = False
    disabled: bool = False
    stale: bool = False
    trusted: frozenset[str] = frozenset()
    origin: str = ""


class Marks:
    """Those of the skills under `skills`. Safe from any thread and process."""

    def __init__(self, skills: Path) -> None:
        self._skills = skills
        self._read: tuple[Any, Mapping[str, Mark]] = (None, {})

    def read(self) -> Mapping[str, Mark]:
        """All there are at this moment, by name."""
        signs = tuple(_sign(self._skills / name) for name in (FILE, THEIRS))
        if self._read[0] != signs:
            ours, theirs = plain_in(self._skills / FILE, LARGEST), plain_in(self._skills / THEIRS, LARGEST)
            self._read = signs, _together(ours.get("skills"), theirs)
        return self._read[1]

    def change(self, name: str, **fields: Any) -> Mark:
        """Have `fields` of `Mark` say this of the skill `name` from now on, and return all that is said of it.

        Raises:
            SkillError: it cannot be written; what was said before still stands.
        """
        with self.alone():
            plain = plain_in(self._skills / FILE, LARGEST)
            skills = plain["skills"] if isinstance(plain.get("skills"), dict) else {}
            record = skills[name] if isinstance(skills.get(name), dict) else {}
            after = {**record, **{key: _plain(value) for key, value in fields.items()}}
            self._write({**plain, "version": 1, "skills": {**skills, name: after}})
        return self.read().get(name, Mark())

    def forget(self, name: str) -> None:
        """Say nothing of the skill `name` any more.

        Raises:
            SkillError: as `change`.
        """
        with self.alone():
            plain = plain_in(self._skills / FILE, LARGEST)
            skills = plain.get("skills")
            if isinstance(skills, dict) and skills.pop(name, None) is not None:
                self._write(plain)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be the one who writes them.

        Raises:
            SkillError: another process holds them, and went on holding them; or they cannot be written.
        """
        try:
            make(self._skills)
            with held(self._skills / LOCK, WAIT):
                yield
        except Busy:
            raise SkillError(f"Another process holds {self._skills / LOCK}. Try again.") from None
        except OSError as error:
            raise SkillError(f"{self._skills / FILE} cannot be written: {error.strerror or error}.") from None

    def _write(self, plain: Mapping[str, Any]) -> None:
        path = self._skills / FILE
        if path.exists() and not plain_in(path, LARGEST):
            path.replace(path.with_suffix(".unread"))
        text = json.dumps(plain, ensure_ascii=False, indent=1, sort_keys=True)
        put(text.encode("utf-8", "replace"), path, self._skills / f"{FILE}.{os.getpid()}")
        sync_folder(self._skills)


def _sign(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def _together(ours: Any, theirs: Any) -> Mapping[str, Mark]:
    known = {name: _mark(plain) for name, plain in ours.items()} if isinstance(ours, dict) else {}
    for name, record in theirs.items():
        if isinstance(record, dict):
            said = known.get(name, Mark())
            told = isinstance(ours, dict) and isinstance(ours.get(name), dict) and "pinned" in ours[name]
            made = record.get("created_by") == "agent" or record.get("agent_created") is True
            known[name] = replace(
                said,
                pinned=said.pinned if told else record.get("pinned") is True,
                origin=said.origin or ("agent" if made else ""),
            )
    return known


def _mark(plain: Any) -> Mark:
    """A mark as far as it can be understood."""
    if not isinstance(plain, dict):
        return Mark()
    trusted = plain.get("trusted")
    digests = frozenset(each for each in trusted if isinstance(each, str)) if isinstance(trusted, list) else frozenset()
    flags = {name: plain.get(name) is True for name in ("pinned", "disabled", "stale")}
    origin = plain.get("origin")
    return Mark(**flags, trusted=digests, origin=origin if origin in ORIGINS else "")


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, (set, frozenset)) else value
