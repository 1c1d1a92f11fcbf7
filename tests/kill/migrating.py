"""A child that brings an older database up to date and is killed right before one of its steps."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import duckdb  # noqa: F401 - the nursery imports it once for all children

from hermes_kernel.world.store import Store

CHILD = "tests.kill.migrating:child"
STEPS = frozenset({"os.rename", "os.link", "os.remove", "os.chmod", "open"})


def child(home: str, step: int) -> None:
    """Ask for the sessions; die before the file of a name in `home` is opened, linked, renamed or removed for the
    `step`-th time."""
    left = step

    def die(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if event in STEPS and home in str(arguments[0]):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(die)
    Store(Path(home)).sessions()
