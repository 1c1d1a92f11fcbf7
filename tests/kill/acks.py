"""What a process was told is safe, in a file that outlives it: a line for each fact, the last of which may be cut off."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hermes_kernel.core.events import Kept
from hermes_kernel.core.plain import dump
from hermes_kernel.world.store import Store

LONGEST = 20.0  # seconds to wait for a fact, on a machine that has much else to do


class Acknowledged:
    """A store that notes each fact in the file ``acks`` once it is on disk. Dies by itself with the ``last`` of them, just
    after it was written, or just ``before`` it would be."""

    def __init__(self, store: Store, acks: Path, last: int = sys.maxsize, *, before: bool = False) -> None:
        self._store, self._left, self._before = store, last, before
        self._acks = os.open(acks, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC, 0o600)

    def append(self, session_id: str, *events: Kept) -> None:
        """See `ports.Log`."""
        self._left -= len(events)
        if self._left <= 0 and self._before:
            os.kill(os.getpid(), signal.SIGKILL)
        self._store.append(session_id, *events)
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        os.write(self._acks, b"".join(json.dumps([session_id, dump(event)]).encode() + b"\n" for event in events))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def noted(acks: Path) -> list[tuple[str, dict[str, Any]]]:
    """Each session and fact that was told."""
    lines = acks.read_bytes().splitlines(keepends=True) if acks.exists() else []
    return [(session, fact) for session, fact in (json.loads(line) for line in lines if line.endswith(b"\n"))]


def acknowledged(acks: Path) -> int:
    """How many lines there are."""
    return acks.read_bytes().count(b"\n") if acks.exists() else 0


def await_acknowledged(acks: Path, awaited: int, over: Callable[[], bool] = lambda: False) -> None:
    """Return once there are so many, or none come any more."""
    end = time.monotonic() + LONGEST
    while acknowledged(acks) < awaited and time.monotonic() < end and not over():
        time.sleep(0.0005)
