"""A person at one notebook: asks, stops, looks at things, runs Python, at moments and with a patience of their own."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from tests.kernel.conftest import Kernel, Ran
from tests.soak.measures import PROBE, Sample, sample
from tests.soak.model import KINDS

LOOKS = (
    "search herons", "search value", "sessions", "sessions 50 all", "usage", "usage by session", "skills", "memory",
    "jobs", "runs", "loops", "status", "budget", "timeline", "tools", "config", "curator", "mcp", "doctor",
)  # fmt: skip
MOVES = ("new", "branch", "undo", "title Herons", "title Cranes", "compress", "export", "retry", "nudge", "resume last")
PYTHON = (
    "[n for n in range(1000)]",
    "print('line\\n' * 500)",
    "frame = {str(n): n for n in range(5000)}\nlen(frame)",
    "import matplotlib.pyplot as plt\nplt.plot([3, 1, 2])\nplt.show()",
    "1 / 0",
    "import time; time.sleep(0.5)",
)
JOB = '%hermes schedule "every 5m" "errand 0-{} tools"'
LOST = "KeyboardInterrupt between a cell and its reply"  # a stock kernel then sends none, whatever the cell was
SAID = ("KeyboardInterrupt", "HermesError", "ZeroDivisionError", LOST)  # how a cell may end that does not end well
PATIENCE = 120.0  # seconds; a cell that takes longer hangs
EVERY = 30.0  # seconds between two samples


class Person(threading.Thread):
    """What it did and saw is in `deeds`, `samples` and `odd`: errors that nobody should be shown."""

    def __init__(self, number: int, kernel: Callable[[], Kernel], seed: int, end: float) -> None:
        super().__init__(name=f"person-{number}", daemon=True)
        self.number = number
        self.deeds: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.samples: list[Sample] = []
        self.odd: list[str] = []
        self.doing = ""
        self._begin = kernel
        self._chance = random.Random(f"{seed} person {number}")
        self._end = end

    def run(self) -> None:
        """Work until the end; close the notebook."""
        try:
            self.kernel = self._begin()
        except Exception as error:
            self.odd.append(f"no start: {error!r}")
            return
        try:
            self._work()
        except Exception as error:
            self.odd.append(f"after {self.deeds.total()} deeds, in {self.doing!r}: {error!r}"[:2000])
        finally:
            self.kernel.client.stop_channels()
            self.kernel.manager.shutdown_kernel(now=False)

    def _work(self) -> None:
        due = time.monotonic()
        while time.monotonic() < self._end:
            if time.monotonic() >= due:
                self._measure()
                due = time.monotonic() + EVERY
            self._deed()
        self._measure()

    def _measure(self) -> None:
        self.doing = PROBE
        told = self.kernel.run(self.kernel.python(PROBE), timeout=PATIENCE).stdout
        self.samples.append(sample(self.kernel.manager.provisioner.pid, json.loads(told.splitlines()[-1])))

    def _deed(self) -> None:
        kind = self._chance.choices(("ask", "look", "move", "python", "job"), (60, 20, 12, 12, 0.3))[0]
        cell = self.doing = getattr(self, f"_{kind}")()
        self.deeds[kind] += 1
        stopped = self._chance.random() < (0.2 if kind == "ask" else 0.03)
        ran = (
            self._stopped(cell)
            if stopped
            else self.kernel.run(cell, timeout=PATIENCE, cell_id=f"c{self.deeds.total()}")
        )
        self._look_at(cell, ran)

    def _ask(self) -> str:
        options = self._chance.choice(("", "", "", "--plain", "--quiet", "--no-cells", "--as answer", "--budget 3"))
        kind = self._chance.choice(KINDS)
        return self.kernel.prompt(f"errand {self.number}-{self.deeds.total()} {kind}", options)

    def _look(self) -> str:
        return f"%hermes {self._chance.choice(LOOKS)}"

    def _move(self) -> str:
        return f"%hermes {self._chance.choice(MOVES)}"

    def _python(self) -> str:
        return self.kernel.python(self._chance.choice(PYTHON))

    def _job(self) -> str:
        return JOB.format(self._chance.randrange(10**6))

    def _stopped(self, cell: str) -> Ran:
        """The cell, with Interrupt pressed at some moment of it; at times twice."""
        sent = self.kernel.send(cell, cell_id="stopped")
        presses = [threading.Timer(self._chance.random() * 1.5, self.kernel.interrupt)]
        if self._chance.random() < 0.2:
            presses.append(threading.Timer(self._chance.random() * 1.5, self.kernel.interrupt))
        for press in presses:
            press.start()
        try:
            return self.kernel.finish(sent, timeout=PATIENCE)
        except AssertionError as error:
            if self.kernel.name == "hermes" or "no reply" not in str(error):
                raise
            return Ran({"status": "error", "ename": LOST, "evalue": ""})
        finally:
            for press in presses:
                press.cancel()
                press.join()

    def _look_at(self, cell: str, ran: Ran) -> None:
        ended = ran.status if ran.status == "ok" else ran.reply.get("ename", ran.status)
        self.ends[ended] += 1
        with suppress(KeyError):
            if ran.status == "ok" or (ended in SAID and "Traceback" not in ran.reply["evalue"]):
                return
        self.odd.append(f"{cell!r} ended with {ended}: {ran.reply.get('evalue', '')[:300]} {ran.error[-300:]}")
