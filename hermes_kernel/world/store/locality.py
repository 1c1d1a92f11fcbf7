"""Do locks hold where a home is? On network disks they may be refused, granted to everybody, or known to one computer
only. There the database is kept on a local disk of each computer, as an index over the journals in the home.

A second process is the proof: it tries the locks that this one holds. What came out is remembered in a small file for
each computer, until that is started again or the home is mounted anew.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from enum import StrEnum
from pathlib import Path

from hermes_kernel.world.store.disk import PRIVATE_FILE, PRIVATE_FOLDER, StoreError, make
from hermes_kernel.world.store.mounts import mount_of, tells_others

NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})
"""What a file system says that has no locks."""

BOOT = Path("/proc/sys/kernel/random/boot_id")
PAUSE = 0.02  # seconds between two looks at what another process finds out
PATIENCE = 10.0  # seconds for the second process; a lock server that does not answer is as good as none

GRANTED, REFUSED, FAILED = 61, 62, 63
SECOND = f"""
import fcntl, os, sys
try:
    fcntl.flock(os.open(sys.argv[1], os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
    sys.exit({GRANTED})
except BlockingIOError:
    pass
except OSError:
    sys.exit({FAILED})
try:
    fcntl.lockf(os.open(sys.argv[2], os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
    sys.exit({GRANTED})
except (BlockingIOError, PermissionError):
    sys.exit({REFUSED})
except OSError:
    sys.exit({FAILED})
"""


class Locks(StrEnum):
    """What locks are worth in a folder."""

    HOLD = "locks hold there"
    LIE = "one lock is granted to two processes there"
    ALONE = "locks there are not known to other computers"
    NONE = "there are no locks there"
    UNKNOWN = "whether locks hold there could not be found out"


_near: dict[Path, Path | None] = {}


def near(home: Path) -> Path | None:
    """The folder of this computer and user that holds the database and the locks of `home`; None where they can be in
    the home itself. Nothing is looked at or made for a home that has no store yet.

    Raises:
        StoreError: there is no such folder; one line says what to set.
    """
    root = home / "store"
    if home not in _near:
        if not root.is_dir():
            return None
        _near[home] = None if locks_in(root) in {Locks.HOLD, Locks.UNKNOWN} else _local(home)
    return _near[home]


def host() -> str:
    """This computer's name as journals bear it: letters, digits and hyphens, at most 24."""
    return re.sub(r"[^A-Za-z0-9]+", "-", os.uname().nodename)[:24]


def distrusted(root: Path) -> frozenset[str]:
    """The computers from which locks in `root` tell others nothing."""
    return frozenset(path.stem for path in (root / "hosts").glob("*.json") if _said(path) is not Locks.HOLD)


def locks_in(folder: Path) -> Locks:
    """What locks are worth in `folder`: looked up, or tried once and remembered."""
    memory = folder / "hosts" / f"{host()}.json"
    for _ in range(int(PATIENCE / PAUSE)):
        known = _remembered(memory)
        if known is not Locks.UNKNOWN:
            return known
        with suppress(BlockingIOError):
            return _found_out(folder, memory)
        time.sleep(PAUSE)  # another process is finding it out
    return Locks.UNKNOWN


def _found_out(folder: Path, memory: Path) -> Locks:
    """Raises:
    BlockingIOError: another process is at the same.
    """
    try:
        known = _tried(folder)
    except BlockingIOError:
        raise
    except OSError:  # a home that may only be read: nobody folds there
        return Locks.UNKNOWN
    if known is not Locks.UNKNOWN:
        with suppress(OSError):
            _remember(memory, known)
    return known


def _tried(folder: Path) -> Locks:
    """Raises:
    BlockingIOError: another process is at the same.
    OSError: nothing can be made there.
    """
    if not tells_others(mount_of(folder)):
        return Locks.ALONE
    place = folder / "hosts"
    make(place)
    first, second = (place / f"{host()}.{kind}" for kind in ("flock", "lockf"))
    with ExitStack() as stack:
        try:
            fcntl.flock(_opened(stack, first), fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Only now: closing it in another thread, which is at the same, would let go of this kind of lock.
            fcntl.lockf(_opened(stack, second), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in NO_LOCKS:
                return Locks.NONE
            raise
        return _second(first, second)


def _opened(stack: ExitStack, path: Path) -> int:
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, PRIVATE_FILE)
    stack.callback(os.close, handle)
    return handle


def _second(*paths: Path) -> Locks:
    import subprocess

    command = [sys.executable, "-I", "-S", "-c", SECOND, *map(str, paths)]
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return Locks.NONE
    return {GRANTED: Locks.LIE, REFUSED: Locks.HOLD, FAILED: Locks.NONE}.get(ended.returncode, Locks.UNKNOWN)


def _local(home: Path) -> Path:
    """One folder for each home, the first in which locks hold."""
    named = f"{home.name or 'home'}-{hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:16]}"
    for base in _bases():
        with suppress(OSError):
            for folder in (base, base / named):
                _own(folder)
            if locks_in(base / named) is Locks.HOLD:
                return base / named
    raise StoreError(f"no local folder in which locks hold, to keep the index of {home}: set XDG_CACHE_HOME to one")


def _bases() -> Iterator[Path]:
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if Path(cache).is_absolute():
        yield Path(cache, "hermes-kernel")
    with suppress(RuntimeError):
        yield Path.home() / ".cache" / "hermes-kernel"
    yield Path("/var/tmp", f"hermes-kernel-{os.getuid()}")  # noqa: S108 - `_own` refuses what somebody else made


def _own(folder: Path) -> None:
    """Made, or there already and ours: where everybody may write, somebody may have been there before.

    Raises:
        OSError: it is a link, somebody else's, or cannot be made.
    """
    make(folder)
    seen = folder.lstat()
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.getuid():
        raise PermissionError(errno.EPERM, "not a folder of ours", str(folder))
    if stat.S_IMODE(seen.st_mode) != PRIVATE_FOLDER:
        folder.chmod(PRIVATE_FOLDER)


def _remembered(memory: Path) -> Locks:
    """What was found out since this computer was started and the folder mounted."""
    try:
        plain = json.loads(memory.read_text())
        now = _moment(memory.parent)
        return Locks(plain["locks"]) if {name: plain[name] for name in now} == now else Locks.UNKNOWN
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Locks.UNKNOWN


def _said(memory: Path) -> Locks:
    """What another computer found out, whenever that was."""
    try:
        return Locks(json.loads(memory.read_text())["locks"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Locks.UNKNOWN


def _remember(memory: Path, locks: Locks) -> None:
    make(memory.parent)
    fresh = memory.with_name(f"{memory.stem}.{os.getpid()}.new")
    handle = os.open(fresh, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        os.write(handle, json.dumps({**_moment(memory.parent), "locks": locks.value}).encode())
        os.fsync(handle)
    finally:
        os.close(handle)
    fresh.replace(memory)


def _moment(folder: Path) -> dict[str, object]:
    boot = BOOT.read_text().strip() if BOOT.exists() else ""
    return {"boot": boot, "device": folder.stat().st_dev}
