"""All of ``skills/`` before a run, in the history: every folder of a skill, and the files that lie between them; and
how it is put back: not what somebody did or decided since that no run does. What cannot be kept is not touched.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hermes_kernel.core.learning.skill_paths import MAIN
from hermes_kernel.learning.skills.disk import ARCHIVE
from hermes_kernel.learning.skills.history import History, HistoryError
from hermes_kernel.learning.skills.marks import FILE as MARKS
from hermes_kernel.learning.skills.marks import Marks
from hermes_kernel.learning.skills.trees import WIDE, tree_id
from hermes_kernel.world.store.disk import make, put, sync_folder

FORMAT = 1
DEEPEST = 8  # folders of categories below one another
LOOSE_BYTES = 4_194_304  # of a file that lies between the skills; the marks of ten thousand are half of that
LEFT = ".~"  # in the names of what a death in the middle of a change leaves


@dataclass(frozen=True, slots=True)
class Snapshot:
    """``folders`` are the ids in the history of the folders of skills, by path below ``skills`` with ``/``; ``loose``
    is the id of what lies between them; ``left_out`` the folders of skills that never move and cannot be kept."""

    folders: Mapping[str, str] = field(default_factory=dict)
    loose: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "format": FORMAT, "folders": dict(self.folders), "loose": self.loose, "left_out": dict(self.left_out),
        }  # fmt: skip

    @property
    def names(self) -> frozenset[str]:
        """The skills in it."""
        return frozenset(map(_name, self.folders))


def understood(said: Mapping[str, Any]) -> Snapshot | None:
    """The snapshot that `Snapshot.plain` made this of; None where it is none, or leads out of ``skills``."""
    folders, loose, left = said.get("folders"), said.get("loose"), said.get("left_out", {})
    if not (isinstance(folders, dict) and isinstance(loose, str) and isinstance(left, dict)):
        return None
    texts = [*folders.keys(), *folders.values()]
    sound = all(isinstance(text, str) for text in texts) and all(map(_is_inside, folders))
    return Snapshot(folders, loose, left) if sound else None


def _name(place: str) -> str:
    return place.rpartition("/")[2]


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    return all(part not in ("", ".", "..") for part in parts)


def take(skills: Path, history: History, never: Collection[str]) -> Snapshot:
    """Keep all there is now; on disk when it returns. A skill in `never`, which no run moves, may be left out.

    Raises:
        HistoryError: something cannot be kept; the text names it.
    """
    folders: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for path in units(skills):
        place = path.relative_to(skills).as_posix()
        try:
            folders[place] = history.keep(path, WIDE)
        except HistoryError as error:
            if path.name not in never:
                raise
            left_out[place] = str(error)
    return Snapshot(folders, history.changed("", _loose(skills)), left_out)


def units(skills: Path) -> tuple[Path, ...]:
    """The folders of skills: each that has a SKILL.md and is in no other, and all in the archive; in the order of their
    paths. Links are not followed."""
    archived = (Path(entry.path) for entry in _entries(skills / ARCHIVE) if _is_folder(entry))
    return tuple(sorted((*_below(skills, 0), *(path for path in archived if not path.name.startswith(".")))))


def _below(folder: Path, depth: int) -> Iterator[Path]:
    for entry in _entries(folder):
        path = Path(entry.path)
        if not _is_folder(entry) or entry.name.startswith("."):
            continue
        if (path / MAIN).is_file():
            yield path
        elif depth < DEEPEST:
            yield from _below(path, depth + 1)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with suppress(FileNotFoundError, NotADirectoryError):
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _loose(skills: Path) -> Mapping[str, bytes]:
    """The files between the skills, the marks among them."""
    return {path.relative_to(skills).as_posix(): path.read_bytes() for path in _between(skills, 0)}


def _between(folder: Path, depth: int) -> Iterator[Path]:
    for entry in _entries(folder):
        path = Path(entry.path)
        if _is_folder(entry):
            if not entry.name.startswith(".") and not (path / MAIN).is_file() and depth < DEEPEST:
                yield from _between(path, depth + 1)
        elif entry.is_file(follow_symlinks=False) and entry.stat().st_size <= LOOSE_BYTES and LEFT not in entry.name:
            yield path


@dataclass(frozen=True, slots=True)
class PutBack:
    """The folder at ``place`` held the tree ``before`` and holds ``after`` ("": there is none)."""

    place: str
    before: str
    after: str

    @property
    def name(self) -> str:
        """The skill's."""
        return _name(self.place)


def differences(skills: Path, kept: Snapshot, leave: Collection[str] = ()) -> tuple[PutBack, ...]:
    """What must be put back for `skills` to be as in `kept`, what must appear before what must go. Skills of which it
    knows nothing stay, and so does what is at the places in `leave`.

    Raises:
        HistoryError: a folder cannot be looked at.
    """
    places = (path.relative_to(skills).as_posix() for path in units(skills))
    left = {*leave, *kept.left_out}
    there = {at: tree_id(skills / at) for at in places if at not in left and _name(at) in kept.names}
    wanted = {at: tree for at, tree in sorted(kept.folders.items()) if at not in left}
    back = [PutBack(at, there.get(at, ""), tree) for at, tree in wanted.items() if there.get(at) != tree]
    return (*back, *(PutBack(at, tree, "") for at, tree in there.items() if at not in kept.folders))


def put_back(skills: Path, history: History, change: PutBack) -> None:
    """Have one folder be as it was, in one step; the folders above it that this empties go, too.

    Raises:
        HistoryError: it cannot be done; the folder is as before.
    """
    folder = skills / change.place
    history.restore(change.after, folder)
    above = folder.parent
    while not change.after and above != skills:
        with suppress(OSError):  # it is not empty
            above.rmdir()
        above = above.parent


def put_back_stale(skills: Path, history: History, kept: Snapshot) -> None:
    """Have the marks say as they did which of its skills are stale: of all they say, no run changes anything else, so
    the rest is what somebody decided since. The files between the skills are nothing that a run changes, either.

    Raises:
        HistoryError, OSError: it cannot be done.
        SkillError: the marks are held by another process, or cannot be written.
    """
    files = history.files(kept.loose)
    before = history.content(files[MARKS]) if MARKS in files else b""
    with Marks(skills).alone():
        path = skills / MARKS
        now = _object(_read(path)) or _object(before)
        marked = _stale_as_before(_marked(now), _marked(_object(before)), kept.names)
        after = {**now, "version": 1, "skills": marked}
        if after == _object(before):
            _write(path, before)
        elif not (before or marked):
            path.unlink(missing_ok=True)
        elif after != now:
            _write(path, json.dumps(after, ensure_ascii=False, indent=1, sort_keys=True).encode("utf-8", "replace"))


def _stale_as_before(now: Mapping[str, Any], then: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """What is said ``now`` of each skill; of those called so, ``stale`` as it was said ``then``."""
    after = dict(now)
    for name in names:
        was = _dict(then.get(name))
        stands = {key: said for key, said in _dict(now.get(name, was)).items() if key != "stale"}
        after[name] = stands | ({"stale": was["stale"]} if "stale" in was else {})
    return {name: said for name, said in after.items() if said or name in then}


def _read(path: Path) -> bytes:
    with suppress(OSError):
        return path.read_bytes()
    return b""


def _object(content: bytes) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        return _dict(json.loads(content))
    return {}


def _marked(plain: Mapping[str, Any]) -> dict[str, Any]:
    return _dict(plain.get("skills"))


def _dict(said: Any) -> dict[str, Any]:
    return said if isinstance(said, dict) else {}


def _write(path: Path, content: bytes) -> None:
    if _read(path) != content or not path.exists():
        make(path.parent)
        put(content, path, path.with_name(f".{path.name}.{os.getpid()}"))
        sync_folder(path.parent)
