"""Maps over a scripted server that knows which row it is asked about."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hermes_kernel import Agent
from hermes_kernel.testing import Request, Server, Step, say

TEMPLATE = "Row $n: say what it is."
ROW = re.compile(r"Row (\S+?):")


def rows(count: int) -> list[dict[str, int]]:
    """So many rows, each with its number."""
    return [{"n": n} for n in range(count)]


def row_of(request: Request) -> str:
    """Which row a request is about."""
    return next(found[1] for m in request.messages if (found := ROW.search(str(m["content"]))))


class Rows:
    """Answers every row by its number, unless `steps` has something else for it; counts what it was asked."""

    def __init__(self, steps: dict[str, Callable[[], Step]] | None = None) -> None:
        self.asked: Counter[str] = Counter()
        self._steps = steps or {}
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Step:
        row = row_of(request)
        with self._lock:
            self.asked[row] += 1
        return self._steps[row]() if row in self._steps else say(f"It is {row}.")


@contextmanager
def serving(script: Any) -> Iterator[Server]:
    """A scripted server."""
    with Server(script) as server:
        yield server


def agent_of(server: Server, home: Path, **settings: Any) -> Agent:
    """An agent that asks it and waits for little."""
    quick = {"retry_base_seconds": 0.01, "retry_max_seconds": 0.05, "api_key": "sk-secret-0123456789abcdef"}
    return Agent("any", home=home, **{"base_url": server.url, **quick, **settings})
