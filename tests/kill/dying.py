"""A death at the nth time that a process touches the disk. Between two touches nothing on disk changes, so these are all
the deaths there are."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

TOUCHES = frozenset({"os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.link", "os.symlink", "ctypes.call_function"})


def die_at(touch: int) -> None:
    """Be killed before the so-manyth touch from now on (the first is 1)."""
    left = touch

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if writes or event in TOUCHES:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(heard)
