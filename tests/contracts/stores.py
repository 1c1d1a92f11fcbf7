"""What the store's tests share: facts that say something, a clock and ids that are counted, and a child to play with."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from hermes_kernel.core.events import Asked, Final, Kept, Observed, Opened, Outcome, Replied, Started
from hermes_kernel.core.messages import ToolCall, Usage
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.store import Store

ROOT = Path(__file__).parents[2]


class Ticks(SystemClock):
    """One second later each time it is asked, in all stores of a test run."""

    _now = itertools.count(1_800_000_000.0)

    def now(self) -> float:
        return next(self._now)


def counted(prefix: str = "id") -> Callable[[], str]:
    """Ids that are numbers."""
    numbers = itertools.count(1)
    return lambda: f"{prefix}{next(numbers):010d}"


def store(home: Path, prefix: str = "id") -> Store:
    """A store in which nothing is left to chance."""
    return Store(home, clock=Ticks(), ids=counted(prefix))


def turn(session: str, prompt: str = "How many?", answer: str = "Three.", notebook: str = "a.ipynb") -> list[Kept]:
    """A session of one turn with one tool call."""
    call = ToolCall("c1", "python", '{"code": "len(df)"}')
    return [
        Opened(session, "You are Hermes.", "some-model", notebook=notebook),
        Asked(prompt),
        Replied("", (call,), usage=Usage(1, 100, 10), model="some-model", endpoint="http://x/v1", seconds=1.5),
        Started("c1"),
        Observed("c1", "3", seconds=0.25),
        Replied(
            answer, usage=Usage(1, 120, 5, cost=0.5), model="some-model", endpoint="http://x/v1", first_byte_seconds=0.5
        ),
        Final(Outcome.COMPLETED, answer),
    ]


def told(log: Store, session: str, facts: list[Kept]) -> list[Kept]:
    """`facts`, now in the log."""
    for fact in facts:
        log.append(session, fact)
    return facts


def journals(home: Path) -> list[Path]:
    return sorted((home / "store" / "journal").glob("*.jsonl"))


def child(code: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
    """A process of its own that runs `code`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)])}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, **options)  # type: ignore[call-overload]


def done(process: subprocess.Popen[str]) -> str:
    """What the child said, once it ended well."""
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, out
    return out


def under_interrupts(keep: Callable[[int], None], times: int = 1500) -> list[int]:
    """`keep` each number from 1 on while Ctrl-C rains on it; those that it returned from. For a child."""
    kept, n, over = [], 0, False

    def rain() -> None:
        while not n:
            pass
        while not over:
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(0.0007)

    def interrupt(_: int, frame: FrameType | None) -> None:
        """Only what is tried is interrupted, and not those who try it."""
        while frame is not None:
            if frame.f_code is keep.__code__:
                raise KeyboardInterrupt
            frame = frame.f_back

    signal.signal(signal.SIGINT, interrupt)
    raining = threading.Thread(target=rain)
    raining.start()
    while n < times:
        n += 1
        try:
            keep(n)
            kept.append(n)
        except KeyboardInterrupt:
            continue
    over = True
    raining.join()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return kept
