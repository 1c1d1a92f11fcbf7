"""Power cuts while two writers append and fold: a file system of its own loses at once what was not flushed, is mounted
again as after a reboot, and every fact acknowledged before the cut is looked for.

``python -m tests.kill.power 50 [SEED]`` cuts fifty times. Needs root and a loop device.
"""

from __future__ import annotations

import fcntl
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.kill.acks import acknowledged
from tests.kill.nursery import Nursery, nursery
from tests.kill.toll import Toll, count, possible

CHILD = "tests.kill.toll:child"
WRITERS = 2
LONGEST = 0.5  # seconds until a cut
SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2  # EXT4_IOC_SHUTDOWN and its flag: what is not on disk by now never will be


class Disk:
    """An ext4 of 256 MB whose power can be cut."""

    def __init__(self, folder: Path) -> None:
        """Raises:
        OSError: this machine does not let us.
        """
        self.place = folder / "disk"
        self._image = folder / "image"
        self.place.mkdir()
        self._image.touch()
        os.truncate(self._image, 256 * 2**20)
        _run("mkfs.ext4", "-q", "-F", self._image)
        self._mount()

    def cut(self) -> None:
        """Nothing that is not on disk now will ever be."""
        handle = os.open(self.place, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(handle)

    def reboot(self) -> None:
        """The file system as it is found after a cut, read from a copy of its blocks: another mount namespace, of
        whoever started one in the meantime, may still look at the one that was cut."""
        self.close()
        cut = self._image.rename(self._image.with_suffix(".cut"))
        _run("cp", "--sparse=always", cut, self._image)
        cut.unlink()
        self._mount()

    def close(self) -> None:
        _run("umount", self.place)

    def _mount(self) -> None:
        _run("mount", "-o", "loop", self._image, self.place)


def _run(*command: str | Path) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise OSError(f"{command[0]} is missing") from error
    if done.returncode:
        raise OSError(f"{command[0]}: {done.stderr.strip()}")


@contextmanager
def disk(folder: Path) -> Iterator[Disk]:
    """Raises:
    OSError: power can not be cut here; the text says why.
    """
    if os.getuid() != 0:
        raise OSError("mounting a disk takes root")
    made = Disk(folder)
    try:
        yield made
    finally:
        made.close()


@contextmanager
def nurseries() -> Iterator[list[Nursery]]:
    """One for each writer."""
    with ExitStack() as stack:
        yield [stack.enter_context(nursery(CHILD)) for _ in range(WRITERS)]


def cut(at: Disk, children: Sequence[Nursery], seed: int, told: dict[str, range]) -> Toll:
    """One cut; `told` grows by what was acknowledged before it."""
    home, over = at.place / "home", threading.Event()
    acks = {f"s{seed}-{n}": at.place.parent / f"acks-{seed}-{n}" for n in range(len(children))}
    tasks = [{"home": str(home), "acks": str(path), "session": session} for session, path in acks.items()]
    with ThreadPoolExecutor(len(children)) as pool:
        lives = [pool.submit(each.run, task, over.wait) for each, task in zip(children, tasks, strict=True)]
        time.sleep(random.Random(seed).uniform(0, LONGEST))
        before = {session: acknowledged(path) for session, path in acks.items()}
        at.cut()
        over.set()
        for life in lives:
            life.result()
    at.reboot()
    fresh = {session: possible(marks, acknowledged(acks[session])) for session, marks in before.items() if marks}
    told.update(fresh)
    return count(home, told, fresh) if told else Toll()


def main() -> None:
    """As many as are asked for, from a seed."""
    times, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    told: dict[str, range] = {}
    with tempfile.TemporaryDirectory() as folder, disk(Path(folder)) as at, nurseries() as children:
        for seed in range(first, first + times):
            toll = cut(at, children, seed, told)
            assert not toll.wrong, (seed, toll)
        left = sorted(path.name for path in at.place.rglob("*") if path.is_file())
    print(f"{times} power cuts: {toll}; left: {left}")


if __name__ == "__main__":
    main()
