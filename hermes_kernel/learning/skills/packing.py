"""A skill that comes from elsewhere, read into memory: from a folder or a zip, never unpacked anywhere.

What a header promises is not believed: every byte is counted as it comes.
"""

from __future__ import annotations

import stat
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.core.learning.skill_paths import MAIN, wrong_file
from hermes_kernel.learning.skills.checking import named_in, text_of
from hermes_kernel.learning.skills.trees import FILE_BYTES, FILES, Found, found

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

TOTAL_BYTES = 20_000_000  # of all files of a skill, unpacked
ARCHIVE_BYTES = 50_000_000
ENTRIES = 1_000  # names in an archive, those of folders and of what is passed over among them
RATIO = 200  # of unpacked to packed bytes, from which on a file of some size is a bomb; text packs to 1:20 at most
SOME_SIZE = 100_000  # bytes
PASSED_OVER = ("__MACOSX/", ".git/", "__pycache__/", "node_modules/")
UNSEEN = (".DS_Store", "Thumbs.db")


@dataclass(frozen=True, slots=True)
class Packed:
    """A skill by the ``name`` that it gives itself: its ``files``, and which of them are programs to the system."""

    name: str
    files: Mapping[str, bytes]
    runnable: frozenset[str] = field(default=frozenset())


def packed(path: Path) -> Packed:
    """The skill in the folder or zip file `path`.

    Raises:
        SkillError: it is none, holds several, or what no skill may hold; the text names it.
    """
    try:
        if path.is_dir():
            return _skill(*_from_folder(path), path.name)
        if path.exists() and not path.is_file():
            raise SkillError(f"{path} is a pipe or device, neither a folder nor a zip file.")
        return _skill(*_from_zip(path), path.stem)
    except OSError as error:
        raise SkillError(f"{path} cannot be read: {error.strerror or error}.") from None


def _skill(files: Mapping[str, bytes], runnable: frozenset[str], called: str) -> Packed:
    mains = sorted(name for name in files if name.rpartition("/")[2] == MAIN)
    root = mains[0].rpartition("/")[0] if mains else ""
    tops = [name for name in mains if not root or name.startswith(f"{root}/") or "/" not in name]
    if not mains:
        raise SkillError(f"{called} holds no SKILL.md, so it is no skill.")
    if len(mains) > 1:
        names = ", ".join(name.rpartition("/")[0] or "(the top)" for name in mains[:5])
        raise SkillError(f"{called} holds {len(mains)} skills ({names}). Install the folder of each by itself.")
    prefix = f"{root}/" if root else ""
    outside = [name for name in files if not name.startswith(prefix)]
    inner = {name.removeprefix(prefix): content for name, content in files.items() if name not in outside}
    named = named_in(text_of(inner[MAIN]) or "") if tops else ""
    return Packed(
        named or root.rpartition("/")[2] or called, inner, frozenset(n.removeprefix(prefix) for n in runnable)
    )


def _from_folder(path: Path) -> tuple[Mapping[str, bytes], frozenset[str]]:
    there: Found = found(path)
    if there.tree.links:
        raise SkillError(f"{next(iter(there.tree.links))} is a link. A skill is installed with files only.")
    files = {name: there.contents[digest] for name, digest in there.tree.files.items() if not _is_passed_over(name)}
    _total(sum(map(len, files.values())))
    return files, there.tree.runnable & files.keys()


def _from_zip(path: Path) -> tuple[Mapping[str, bytes], frozenset[str]]:
    import zipfile

    if path.stat().st_size > ARCHIVE_BYTES:
        raise SkillError(f"{path.name} has {path.stat().st_size:,} bytes; at most {ARCHIVE_BYTES:,} are opened.")
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, zlib.error, EOFError, ValueError) as error:
        raise SkillError(f"{path.name} is no zip that can be read ({error}). Give a folder or a zip.") from None
    except RuntimeError as error:  # zipfile's word for what is encrypted
        raise SkillError(f"{path.name} cannot be read ({error}).") from None


def _read(archive: ZipFile) -> tuple[Mapping[str, bytes], frozenset[str]]:
    infos = archive.infolist()
    if len(infos) > ENTRIES:
        raise SkillError(f"It has {len(infos):,} entries; a skill has at most {FILES} files.")
    files: dict[str, bytes] = {}
    runnable: set[str] = set()
    total = 0
    for info in infos:
        _possible(info)
        if info.is_dir() or _is_passed_over(info.filename):
            continue
        if info.filename in files:
            raise SkillError(f"{info.filename[:80]!r} is in it twice.")
        with archive.open(info) as member:
            content = member.read(FILE_BYTES + 1)
        total += len(content)
        _bounded(info, content)
        _total(total)
        files[info.filename] = content
        runnable |= {info.filename} if (info.external_attr >> 16) & stat.S_IXUSR else set()
        if len(files) > FILES:
            raise SkillError(f"It has more than {FILES} files.")
    return files, frozenset(runnable)


def _possible(info: ZipInfo) -> None:
    """Refuse an entry that is no file or folder of an ordinary name."""
    name = info.orig_filename
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
        kind = "a link" if stat.S_ISLNK(mode) else "no ordinary file"
        raise SkillError(f"{name[:80]!r} in it is {kind}. A skill is installed with files only.")
    if info.flag_bits & 0x1:
        raise SkillError(f"{name[:80]!r} in it is encrypted.")
    if not _is_passed_over(name) and (why := wrong_file(name.removesuffix("/"))):
        raise SkillError(f"{name[:80]!r} in it cannot be a file of a skill: {why}.")


def _bounded(info: ZipInfo, content: bytes) -> None:
    if len(content) > FILE_BYTES:
        raise SkillError(f"{info.filename} has more than {FILE_BYTES:,} bytes, more than a file of a skill may have.")
    if len(content) > SOME_SIZE and len(content) > RATIO * max(info.compress_size, 1):
        raise SkillError(f"{info.filename} is packed to less than 1:{RATIO}, as bombs are.")


def _total(size: int) -> None:
    if size > TOTAL_BYTES:
        raise SkillError(f"Its files have more than {TOTAL_BYTES:,} bytes in all.")


def _is_passed_over(name: str) -> bool:
    """Whether it is what systems and tools leave behind, and no part of a skill."""
    return any(name.startswith(each) or f"/{each}" in name for each in PASSED_OVER) or name.rpartition("/")[2] in UNSEEN
