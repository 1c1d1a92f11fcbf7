"""One folder put in the place of another in one step, and what a death in the middle left is put in order.

Where the machine can exchange two names, nobody ever sees neither. Where it cannot, the old one is moved aside first,
under a name from which `mend` brings it back.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import shutil
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from hermes_kernel.learning.skills.trees import HistoryError, tree_id
from hermes_kernel.world.store.disk import sync_folder

EXCHANGE = 2  # RENAME_EXCHANGE of linux/fs.h
HERE = -100  # AT_FDCWD
ASIDE = ".~old-"
BESIDE = ".~"


def swap(folder: Path, fresh: Path | None, expected: str | None = None) -> None:
    """Put `fresh` (None: nothing) where `folder` is or was. With ``expected``, only if what was there had that tree id;
    else everything is as before and `fresh` is gone.

    Raises:
        HistoryError: the folder held something else than expected.
        OSError: it cannot be done; everything is as before.
    """
    try:
        old = _in_place(folder, fresh)
    except BaseException:
        _discard(fresh)
        raise
    if expected is not None and (tree_id(old) if old else "") != expected:
        _back(folder, old, fresh is not None)
        raise HistoryError(f"{folder.name} was changed by somebody else at this very moment. Read it and try again.")
    _discard(old)


def mend(folder: Path) -> None:
    """Put in order what a death in the middle of a `swap` of `folder` left beside it. For whoever alone changes it."""
    with suppress(OSError):
        for left in sorted(folder.parent.glob(f".{_literal(folder.name)}{BESIDE}*")):
            if left.name.startswith(f".{folder.name}{ASIDE}") and not folder.exists():
                left.rename(folder)
            else:
                _discard(left)


def leftovers(parent: Path) -> tuple[Path, ...]:
    """The folders in `parent` whose `swap` a death interrupted."""
    with suppress(OSError):
        return tuple(
            parent / entry.name[1:].split(BESIDE)[0]
            for entry in os.scandir(parent)
            if entry.name.startswith(".") and BESIDE in entry.name
        )
    return ()


def _literal(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _in_place(folder: Path, fresh: Path | None) -> Path | None:
    """Where what was there before is now."""
    old: Path | None
    if fresh is None:
        old = _aside(folder)
    elif not folder.exists():
        fresh.rename(folder)
        old = None
    elif exchange(fresh, folder):
        old = fresh
    else:
        old = _aside(folder)
        fresh.rename(folder)
    sync_folder(folder.parent)
    return old


def _aside(folder: Path) -> Path | None:
    old = folder.parent / f".{folder.name}{ASIDE}{secrets.token_hex(4)}"
    try:
        folder.rename(old)
    except FileNotFoundError:
        return None
    return old


def _back(folder: Path, old: Path | None, came: bool) -> None:  # noqa: FBT001
    if came:
        wrong = _aside(folder)
        if old:
            old.rename(folder)
        _discard(wrong)
    elif old:
        old.rename(folder)
    sync_folder(folder.parent)


def exchange(one: Path, other: Path) -> bool:
    """Have two names change places; False where the machine or the file system cannot.

    Raises:
        OSError: it can, and did not.
    """
    call = _renameat2()
    if call is None:
        return False
    if call(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EXDEV}:
        return False
    raise OSError(code, os.strerror(code), str(other))


@cache
def _renameat2() -> Any:
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return None
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call


def _discard(folder: Path | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
