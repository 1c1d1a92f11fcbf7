"""Posts in each home, each with room for one process: of the scheduler, of the kernel that watches, of each run that
goes on, and of who waits until one of those is free.

A lock of the machine's is what makes it one; it is let go of by any death. That nothing is run twice does not depend
on it: a job is acted on by whoever holds its claim.
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

from hermes_kernel.world.store.disk import PRIVATE_FILE, make
from hermes_kernel.world.store.locality import near
from hermes_kernel.world.store.locks import forget_in_child, sign, signed, try_lock

SCHEDULER, WATCH, QUEUE = "scheduler", "watch", "queue"
"""Who stands at ``scheduler`` sees to all jobs; kernels at ``watch`` step back as long as somebody does. Of those that
tick, the one at ``queue`` stays for jobs that wait for a slot."""


class Post:
    """One post of a home, for this process to take and leave. Safe from any thread; a forked child does not hold it."""

    def __init__(self, home: Path, name: str) -> None:
        self._home = home
        self._name = name
        self._handle = -1
        self._guard = threading.Lock()
        forget_in_child(self)

    def take(self) -> bool:
        """Whether this process holds it from here on, or did before.

        Raises:
            OSError: the lock file cannot be made.
        """
        with self._guard:
            if self._handle >= 0:
                return True
            self._handle, had = self._opened(), False
            try:
                had = try_lock(self._handle, fcntl.LOCK_EX)
            finally:
                if not had:
                    self._close()
            if had:
                sign(self._handle)
            return had

    def counts(self) -> bool:
        """As `take`; also where nothing can be locked, so that who counts them counts his own at least."""
        try:
            return self.take()
        except OSError:
            return True

    def leave(self) -> None:
        """Let another process have it. Twice is as good as once."""
        with self._guard:
            self._close()

    def forget(self) -> None:
        """In a forked child: the parent's lock is the parent's."""
        self._guard = threading.Lock()
        self._close()

    def holder(self) -> str:
        """Who holds it, as ``process 4711``; nothing where nobody does, or it cannot be told."""
        try:
            handle = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return ""
        try:
            if try_lock(handle, fcntl.LOCK_SH):
                return ""
            return signed(handle)
        except OSError:
            return ""
        finally:
            os.close(handle)

    @property
    def _path(self) -> Path:
        """Where locks hold: on some network disks that is not in the home.

        Raises:
            StoreError: there is no such folder.
        """
        return (near(self._home) or self._home) / "schedule" / f"{self._name}.lock"

    def _opened(self) -> int:
        make(self._path.parent)
        return os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, PRIVATE_FILE)

    def _close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1


class Slots:
    """Room in a home for so ``many`` runs at once, whoever begins them."""

    def __init__(self, home: Path, many: int) -> None:
        self._posts = tuple(Post(home, f"slot-{n}") for n in range(many))
        self._free = [*self._posts]

    def take(self) -> Post | None:
        """The post of one run; None where all are taken, here or by others."""
        slot = next((post for post in self._free if post.counts()), None)
        if slot:
            self._free.remove(slot)
        return slot

    def free(self, slot: Post | None) -> None:
        """Let another run have it."""
        if slot:
            slot.leave()
            self._free.append(slot)

    def close(self) -> None:
        """Let others have all that were taken here."""
        for post in self._posts:
            post.leave()
