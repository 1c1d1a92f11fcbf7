"""What skills were: whole folders under the id of what they hold, every byte. Nothing in it is changed or lost.

Objects lie in ``objects/ab/…`` under the SHA-256 of their content, trees among them as JSON. Safe with many processes:
whoever writes an object writes the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from hermes_kernel.learning.skills.swapping import swap
from hermes_kernel.learning.skills.trees import BOUNDS, Bounds, HistoryError, Tree, found, load
from hermes_kernel.world.store.disk import FULL, full, make, sync_folder

__all__ = ["History", "HistoryError"]

DIFFED = 200_000  # characters of a file that are compared


class History:
    """That of the folder `root`, made when the first thing is kept."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def keep(self, folder: Path, bounds: Bounds = BOUNDS) -> str:
        """The id under which all that `folder` holds now is kept, on disk when it returns; "" where there is no folder.

        Raises:
            HistoryError: it holds too much, or what cannot be kept; the disk is full. The text names it.
        """
        if not folder.is_dir():
            return ""
        with _explaining(self._root):
            there = found(folder, bounds)
            for digest, content in there.contents.items():
                self._put(digest, content)
            return self._put_tree(there.tree)

    def changed(self, tree: str, files: Mapping[str, bytes | None], runnable: Collection[str] = ()) -> str:
        """The id of `tree` ("": of nothing) with these files instead; None: without it. Those in ``runnable`` have the
        executable bit, like those that had it. On disk when it returns.

        Raises:
            HistoryError: as `keep`, or there is no such tree.
        """
        old = self.tree(tree) if tree else Tree()
        with _explaining(self._root):
            kept = {name: digest for name, digest in old.files.items() if name not in files}
            for name, content in files.items():
                if content is not None:
                    kept[name] = self._put(hashlib.sha256(content).hexdigest(), content)
            return self._put_tree(replace(old, files=kept, runnable=(old.runnable | set(runnable)) & kept.keys()))

    def restore(self, tree: str, folder: Path, expected: str | None = None) -> None:
        """Have `folder` hold just what `tree` does ("": have no such folder), in one step: it is built beside it and
        put in its place. With ``expected`` only if it held that tree till then.

        Raises:
            HistoryError: there is no such tree, it is damaged, the disk is full, or the folder held something else.
        """
        with _explaining(self._root):
            fresh = self._built(tree, folder) if tree else None
            swap(folder, fresh, expected)

    def tree(self, tree: str) -> Tree:
        """What is kept under the id of a tree.

        Raises:
            HistoryError: there is no such tree, or it is damaged.
        """
        try:
            return load(self.content(tree))
        except (ValueError, RecursionError):
            raise HistoryError(f"The history has no tree {tree[:12]!r}.") from None

    def files(self, tree: str) -> Mapping[str, str]:
        """The SHA-256 in hex digits of each file of a tree; none of ""."""
        return self.tree(tree).files if tree else {}

    def read(self, tree: str, file: str) -> bytes:
        """The content of a file of a tree.

        Raises:
            HistoryError: there is no such tree or file, or it is damaged.
        """
        digest = self.files(tree).get(file)
        if digest is None:
            raise HistoryError(f"There is no {file!r} in it.")
        return self.content(digest)

    def text(self, tree: str, file: str) -> str:
        """As `read`, in characters; what is no UTF-8 is replaced."""
        return self.read(tree, file).decode("utf-8", "replace")

    def diff(self, before: str, after: str) -> str:
        """A unified diff between two trees; a file that is no text is only named."""
        old, new = self.files(before), self.files(after)
        names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
        return "".join(part for name in names for part in self._diff(name, old.get(name), new.get(name)))

    def content(self, digest: str) -> bytes:
        """What has this SHA-256.

        Raises:
            HistoryError: the history has no such thing, or it was damaged since.
        """
        try:
            content = self._path(digest).read_bytes()
        except (OSError, ValueError):
            raise HistoryError(f"The history has nothing under {digest[:12]!r}.") from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise HistoryError(f"{self._path(digest)} is damaged: it does not hold what it did.")
        return content

    def _diff(self, name: str, before: str | None, after: str | None) -> Iterator[str]:
        import difflib

        old, new = self._lines(before), self._lines(after)
        source, target = f"a/{name}" if before else "/dev/null", f"b/{name}" if after else "/dev/null"
        if old is None or new is None:
            yield f"--- {source}\n+++ {target}\n(not text, or long)\n"
            return
        for line in difflib.unified_diff(old, new, source, target):
            yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"

    def _lines(self, digest: str | None) -> list[str] | None:
        content = self.content(digest) if digest else b""
        with suppress(UnicodeDecodeError):
            return content.decode().splitlines(keepends=True) if len(content) <= DIFFED else None
        return None

    def _built(self, tree: str, folder: Path) -> Path:
        what = self.tree(tree)
        make(folder.parent)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.~", dir=folder.parent))
        try:
            self._fill(fresh, what)
        except BaseException:  # a full disk above all, of which it has the last room
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        return fresh

    def _fill(self, fresh: Path, what: Tree) -> None:
        for name in what.folders:
            make(fresh / name)
        for name, digest in what.files.items():
            make((fresh / name).parent)
            _write(fresh / name, self.content(digest), 0o700 if name in what.runnable else 0o600)
        for name, target in what.links.items():
            make((fresh / name).parent)
            (fresh / name).symlink_to(target)
        for each, _, _ in os.walk(fresh):
            sync_folder(Path(each))

    def _put_tree(self, tree: Tree) -> str:
        return self._put(tree.id, tree.dump())

    def _put(self, digest: str, content: bytes) -> str:
        path = self._path(digest)
        if not _is_there(path, len(content)):
            make(path.parent)
            handle, beside = tempfile.mkstemp(prefix=".", dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(handle)
                Path(beside).replace(path)
            except BaseException:
                Path(beside).unlink(missing_ok=True)
                raise
            sync_folder(path.parent)
        return digest

    def _path(self, digest: str) -> Path:
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise HistoryError(f"{digest[:12]!r} is no id of the history.")
        return self._root / "objects" / digest[:2] / digest[2:]


def _is_there(path: Path, size: int) -> bool:
    with suppress(OSError):
        return path.stat().st_size == size
    return False


def _write(path: Path, content: bytes, mode: int) -> None:
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)


@contextmanager
def _explaining(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise HistoryError(full(root)) from error
        raise HistoryError(f"cannot use {error.filename or root}: {error.strerror or error}.") from error
