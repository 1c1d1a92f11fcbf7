"""Skills as folders: where they are, which files one has, and what of a file may be read. Follows no link out of one.

A person may link a whole skill into ``skills``; links deeper in, and those that lead elsewhere, are refused by name.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from hermes_kernel.core.learning.skill import NoSkill, SkillError, Withheld
from hermes_kernel.core.learning.skill_paths import MAIN

ARCHIVE = ".archive"
DEEPEST = 4  # folders from ``skills`` to a skill, itself among them; the original's have two
FOLDERS = 50_000  # that are looked into at most
LARGEST = 1_048_576
"""Bytes of a file that is read at all; the original's limit for one."""
FILES = 200  # of a skill that are named
HOW = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
PASSED_OVER = frozenset({"__pycache__", "node_modules", "site-packages"})

Sign = tuple[int, int, int, int]
"""Of a file as it is at one moment: when it was changed (ns), when anything about it was (ns), its bytes, its inode."""


class Place(NamedTuple):
    """A folder with a SKILL.md in it, and that file's sign. A tuple, for there may be ten thousand at every look."""

    name: str
    folder: str
    category: str
    sign: Sign


def places(root: Path) -> list[Place]:
    """The skills under `root`: those in no category first, then by category, then by name. Dotted folders are none."""
    found: list[Place] = []
    left = FOLDERS
    level = [("", os.fspath(root))]
    for depth in range(DEEPEST):
        below: list[tuple[str, str]] = []
        for category, folder in level:
            for entry in _folders(folder):
                left -= 1
                path = entry.path
                try:
                    at = os.lstat(path + "/" + MAIN)
                except OSError:
                    if not entry.is_symlink():
                        below.append((f"{category}/{entry.name}" if category else entry.name, path))
                    continue
                found.append(Place(entry.name, path, category, (at.st_mtime_ns, at.st_ctime_ns, at.st_size, at.st_ino)))
        level = below if left > 0 and depth + 1 < DEEPEST else []
    return found


def _folders(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            found = [each for each in entries if each.name[0] != "." and each.is_dir() and each.name not in PASSED_OVER]
    except OSError:  # there is none, or it may not be looked into
        return []
    found.sort(key=_name)
    return found


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def inside(folder: str, file: str) -> Path:
    """The path of `file`, named from the skill's `folder`.

    Raises:
        NoSkill: there is no such file; the text names those there are.
        Withheld: it is not within the folder.
    """
    name = file or MAIN
    path = Path(folder, name)
    if Path(name).is_absolute() or ".." in Path(name).parts or "\0" in name:
        raise Withheld(f"{file!r} is no file of this skill: name one from its folder, without .. and without / first.")
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        raise NoSkill(f"There is no file {file!r} in this skill. {_there(folder)}") from None
    if not real.is_relative_to(Path(folder).resolve()):
        raise Withheld(f"{file!r} is a link that leads out of the skill's folder, so it is not read.")
    return real


def main(folder: str) -> bytes:
    """The bytes of the SKILL.md of `folder`; raises as `inside` and `content`."""
    try:
        handle = os.open(f"{folder}/{MAIN}", HOW | os.O_NOFOLLOW)
    except OSError:  # a link, if it is there at all
        return content(inside(folder, MAIN))
    try:
        return _all(handle, MAIN)
    except OSError as error:
        raise SkillError(f"{MAIN} cannot be read: {error.strerror or error}.") from None


def content(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        SkillError: it is no file, too large, or cannot be read.
    """
    try:
        return _all(os.open(path, HOW), path.name)
    except OSError as error:
        raise SkillError(f"{path.name} cannot be read: {error.strerror or error}.") from None


def _all(handle: int, name: str) -> bytes:
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        raise SkillError(f"{name} is a folder, device or pipe, not a file.")
    with os.fdopen(handle, "rb", buffering=0) as opened:
        if found.st_size > LARGEST:
            raise SkillError(f"{name} has {found.st_size:,} bytes; a file of a skill has at most {LARGEST:,}.")
        return opened.read(LARGEST)


def files(folder: str) -> tuple[str, ...]:
    """The files in a skill's folder but for its SKILL.md, named from there, in order; at most 200. Dotted ones and what
    is behind links are left out."""
    found: list[str] = []
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if each[0] != "." and each not in PASSED_OVER)
        below = os.path.relpath(at, folder)
        seen = [name for name in sorted(names) if name[0] != "." and (below != "." or name != MAIN)]
        found += [name if below == "." else f"{below}/{name}" for name in seen]
        if len(found) >= FILES:
            break
    return tuple(found[:FILES])


def _there(folder: str) -> str:
    names = files(folder)
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"There are: {', '.join((MAIN, *names[:20]))}{more}."
