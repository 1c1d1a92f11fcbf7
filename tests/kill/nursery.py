"""A process with everything imported that forks a child for each task, so that a hundred deaths do not cost a hundred
imports. One task at a time: a line of JSON in, the child's pid out, its exit status out."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class Nursery:
    """Raises children that run ``tests.kill.<module>.<function>(**task)``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, task: dict[str, Any], until: Callable[[], None] | None = None) -> int:
        """The exit status of a child that did `task`; -9 when it was killed before its end, once `until` returned."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        pid = int(self._process.stdout.readline())
        if until is not None:
            until()
            os.kill(pid, signal.SIGKILL)  # a zombie takes it too: its status is read below
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return os.waitstatus_to_exitcode(int(self._process.stdout.readline()))


@contextmanager
def nursery(where: str) -> Iterator[Nursery]:
    """A nursery for the function ``module:function``."""
    command = [sys.executable, "-c", "from tests.kill.nursery import raise_children; raise_children()", where]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT
    ) as process:
        yield Nursery(process)
        assert process.stdin
        process.stdin.close()


def raise_children() -> None:
    """What the nursery's process does until its input ends."""
    module, function = sys.argv[1].split(":")
    work = getattr(importlib.import_module(module), function)
    while line := sys.stdin.readline():
        if not (pid := os.fork()):
            work(**json.loads(line))
            os._exit(0)
        print(pid, flush=True)
        sys.stdin.readline()
        print(os.waitpid(pid, 0)[1], flush=True)
