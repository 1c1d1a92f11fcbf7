"""What waits for a person's consent: a file for each, ``proposals/ID.json`` in the home. Nothing here does what is
proposed. A file that cannot be understood is passed over and left where it is."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from hermes_kernel.core.redact import redact_plain
from hermes_kernel.core.text import brief
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.store.disk import FULL, StoreError, full, make, put, sync_folder

FOLDER = "proposals"
KINDS = ("memory", "skill")
LARGEST = 4_000_000  # bytes of a file; a whole skill may be proposed
ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


class NoProposal(KeyError):
    """There is no such proposal, or there are several. One line that names those there are."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class Proposal:
    """Somebody (``by``, one of `core.learnt.WHO`) wants to do ``what`` and may not do it alone. ``kind`` is ``memory``
    or ``skill``, whose owner knows what is in ``what``; ``session`` is the conversation it came of, ``t`` when, in
    seconds since 1970-01-01 UTC; ``findings`` are sentences on what is suspicious in it."""

    id: str
    kind: str
    what: Mapping[str, Any]
    by: str
    session: str
    t: float
    why: str
    findings: tuple[str, ...]


class Proposals:
    """Those of one home. ``new_id`` gives ids that are file names. Safe from any thread and process: a file has one
    writer and appears whole."""

    def __init__(self, home: Path, clock: Clock, new_id: Callable[[], str]) -> None:
        self._folder = home / FOLDER
        self._clock = clock
        self._new_id = new_id

    def add(  # noqa: PLR0913 - what is proposed has this many sides
        self, kind: str, what: Mapping[str, Any], *, by: str, session: str = "", why: str = "",
        findings: Iterable[str] = (),
    ) -> Proposal:  # fmt: skip
        """Leave it for the person, without secrets; on disk when it returns. What waits already is not left twice.

        Raises:
            StoreError: the disk is full or the home is read-only; nothing was left.
        """
        made = Proposal(self._new_id(), kind, what, by, session, self._clock.now(), why, tuple(findings))
        plain = redact_plain(json.loads(json.dumps(dataclasses.asdict(made))))
        made = _proposal(plain, made.id) or made
        for waiting in self.all(kind):
            if waiting.what == made.what:
                return waiting
        with _explaining(self._folder):
            make(self._folder)
            fresh = self._folder / f".{made.id}.{os.getpid()}"
            put(json.dumps(plain, indent=1).encode(), self._path(made.id), fresh)
            sync_folder(self._folder)
        return made

    def all(self, kind: str = "") -> tuple[Proposal, ...]:
        """Those that wait, of one kind or of any, the oldest first."""
        found = (_read(path) for path in self._folder.glob("*.json"))
        waiting = [each for each in found if each is not None and kind in ("", each.kind)]
        return tuple(sorted(waiting, key=lambda each: (each.t, each.id)))

    def get(self, name: str) -> Proposal:
        """The one whose id is `name` or begins with it.

        Raises:
            NoProposal: none has, or several have; the text names those there are.
        """
        waiting = self.all()
        begun = [each for each in waiting if name and each.id.startswith(name)]
        meant = [each for each in begun if each.id == name] or begun
        if len(meant) == 1:
            return meant[0]
        there = ", ".join(each.id for each in meant or waiting) or "none"
        count = "several proposals begin with" if meant else "no proposal is called"
        raise NoProposal(f"{count} {brief(name, 40)!r}; there are: {there}")

    def remove(self, proposal: Proposal) -> None:
        """It does not wait any more. Twice is as good as once.

        Raises:
            StoreError: the home is read-only; it still waits.
        """
        with _explaining(self._folder):
            self._path(proposal.id).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"


@contextmanager
def _explaining(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = full(folder) if error.errno in FULL else f"cannot write in {folder} ({error.strerror}): make it writable"
        raise StoreError(why) from error


def _read(path: Path) -> Proposal | None:
    with suppress(OSError, ValueError, RecursionError):
        if path.is_file() and path.stat().st_size <= LARGEST:
            return _proposal(json.loads(path.read_bytes()), path.stem)
    return None


def _proposal(plain: Any, name: str) -> Proposal | None:
    """The proposal in a file called `name`; none where it is not one, or another's."""
    if not isinstance(plain, dict) or plain.get("id") != name or not ID.fullmatch(name):
        return None
    what, t, findings = plain.get("what"), plain.get("t"), plain.get("findings", [])
    texts = [plain.get(key, "") for key in ("kind", "by", "session", "why")]
    if not isinstance(what, dict) or not isinstance(t, (int, float)) or not _are_texts([*texts, plain["id"]]):
        return None
    kind, by, session, why = texts
    known = kind in KINDS and isinstance(findings, list) and _are_texts(findings)
    return Proposal(name, kind, what, by, session, float(t), why, tuple(findings)) if known else None


def _are_texts(values: list[Any]) -> TypeGuard[list[str]]:
    return all(isinstance(value, str) for value in values)
