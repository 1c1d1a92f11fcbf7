"""What the machine says of the disk that a folder is on. Only Linux says it in a file; elsewhere nothing is known."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

TABLE = Path("/proc/self/mountinfo")

ALONE = {
    "nfs": ("nolock", "local_lock=all", "local_lock=flock", "local_lock=posix"),
    "cifs": ("nobrl",),
    "smb3": ("nobrl",),
}
"""Options with which a client of a network disk keeps locks to itself (nfs(5), mount.cifs(8))."""

ALONE_ALWAYS = ("fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.davfs", "fuse.mount-s3")
"""Network disks whose programs know no locks: Linux then keeps them, for this computer alone."""


class Mount(NamedTuple):
    """A file system in its place."""

    kind: str = ""
    options: frozenset[str] = frozenset()


def mount_of(folder: Path) -> Mount:
    """The mount that `folder` is on."""
    try:
        return mount_in(TABLE.read_text("utf-8", "replace"), folder.resolve())
    except OSError:
        return Mount()


def mount_in(table: str, folder: Path) -> Mount:
    """The mount of the absolute path `folder` in a table of the form that proc(5) gives."""
    found, longest = Mount(), -1
    for line in table.splitlines():
        place, dash, filesystem = line.partition(" - ")
        fields, (kind, *rest) = place.split(), filesystem.split() or [""]
        if not dash or len(fields) < 5 or not rest:
            continue
        point = _plain(fields[4])
        if len(point) >= longest and folder.is_relative_to(point):
            found, longest = Mount(kind, frozenset(",".join(rest[1:]).split(","))), len(point)
    return found


def tells_others(mount: Mount) -> bool:
    """Whether locks there may be known to other computers, as far as the table says."""
    alone = ALONE.get(mount.kind.rstrip("4"), ())
    return mount.kind not in ALONE_ALWAYS and not mount.options.intersection(alone)


def _plain(escaped: str) -> str:
    """A path as the table writes it: blanks and backslashes in octal."""
    return os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), os.fsencode(escaped)))
