"""What one process measures of one contender: ``python -P playing.py FILE JOB URL NUMBER SECONDS`` prints a JSON line.

Needs nothing but Python, because it runs in the environments of others, too. FILE offers ``made(url, tools)``: an object
with ``async ask(prompt, steps)`` and, where a turn is not stopped by Ctrl-C, ``stop()``, which another thread may call.
What it cannot do at all it says by a `NotImplementedError`.
"""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

INTO = 2.0
"""Seconds into a turn, the second of its process, after which it is stopped: it waits then for what it is to wait for."""

SLOW = 30.0
"""Seconds that a tool rests which is to be ended before."""

Figures = dict[str, Any]


class Tools:
    """What a model may call, as functions: `probe` and `nap`. Nobody probes on after `limit` seconds of CPU."""

    def __init__(self, *, sync: bool, nap: float, limit: float, patience: float = 0.0) -> None:
        self.patience = patience
        """Seconds of silence after which a stream is to be given up; 0: whatever is usual."""
        self.marks = list[float]()
        """CPU seconds at each call of `probe` since `begin`."""
        self.resting = 0
        """Calls of `nap` that have begun."""
        self.known: Figures = {}
        """What is known of this process before anything is measured."""
        self._began = 0.0

        def probe(number: int) -> str:
            """Probe a number.

            Args:
                number: Which one.
            """
            self.marks.append(time.process_time() - self._began)
            if self.marks[-1] > limit:
                tell(self.known | {"marks": self.marks})
            return f"result {number}: " + "x" * 200

        async def rest(number: int) -> str:
            """Rest.

            Args:
                number: How deep.
            """
            self.resting += 1
            await asyncio.sleep(nap)
            return f"rested {number}"

        def rest_in_thread(number: int) -> str:
            """Rest.

            Args:
                number: How deep.
            """
            self.resting += 1
            time.sleep(nap)
            return f"rested {number}"

        self.probe = probe
        self.nap = rest_in_thread if sync else rest

    def begin(self) -> float:
        """Count from now, in seconds of CPU."""
        self.marks.clear()
        self._began = time.process_time()
        return self._began


def tell(figures: Figures) -> None:
    """The figures, and the end of this process, whatever its threads are at."""
    print("\n" + json.dumps(figures), flush=True)
    os._exit(0)


def memory(field: str) -> float:
    """Megabytes of this program: `VmRSS` now, `VmHWM` at most."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


async def played(contender: Any, tools: Tools, prompt: str, number: int) -> Figures:
    """A whole turn, after a short one to warm up: CPU in all, and at each call of a tool."""
    script, start = prompt.split(maxsplit=1)[0], time.process_time()
    await contender.ask(f"{script} 1", number)
    tools.known["warm"] = time.process_time() - start
    await contender.ask(f"{script} {min(number, 3)}", number)
    cpu, wall = tools.begin(), time.perf_counter()
    await contender.ask(prompt, number)
    figures = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "memory": memory("VmRSS")}
    return figures | {"marks": tools.marks}


async def stalled(contender: Any) -> Figures:
    """Seconds until there is an answer, or an error, where the stream once falls silent."""
    began, error = time.perf_counter(), ""
    try:
        await contender.ask(f"stall {os.getpid()}", 8)
    except Exception as wrong:
        error = f"{type(wrong).__name__}: {wrong}"
    return {"wall": time.perf_counter() - began, "error": error}


def stopped(contender: Any, prompt: str, tools: Tools, limit: float) -> Figures:
    """Seconds from the wish to stop until whoever asked has the thread again, in which he asked; none: not in time."""
    begun, pressed = threading.Event(), list[float]()

    async def both() -> None:
        await contender.ask("chunks 1", 8)
        begun.set()
        await contender.ask(prompt, 8)

    def press() -> None:
        begun.wait()
        while prompt.startswith("batch") and not tools.resting:
            time.sleep(0.05)
        time.sleep(INTO)
        pressed.append(time.perf_counter())
        contender.stop() if hasattr(contender, "stop") else os.kill(os.getpid(), signal.SIGINT)
        time.sleep(limit)
        tell({"wall": None})

    threading.Thread(target=press, daemon=True).start()
    error = ""
    try:
        asyncio.run(both())
    except (Exception, KeyboardInterrupt) as wrong:
        error = f"{type(wrong).__name__}: {wrong}"
    over = time.perf_counter()
    return {"wall": over - pressed[0], "error": error} if pressed else {"cannot": f"it ended by itself: {error}"}


def measured(file: str, job: str, url: str, number: int, limit: float) -> Figures:
    """The figures of a job: `loop`, `chunks`, `batch`, `batch sync`, `stall`, or `stop` with a script of the server."""
    kind, _, how = job.partition(" ")
    rest, patience = (SLOW if kind == "stop" else 0.2), (limit if kind == "stall" else 0.0)
    tools = Tools(sync="sync" in how, nap=rest, limit=limit, patience=patience)
    cpu, before = time.process_time(), memory("VmRSS")
    made: Callable[[str, Tools], Any] = runpy.run_path(file)["made"]
    tools.known = {"import": time.process_time() - cpu, "imported": memory("VmRSS"), "bare": before}
    contender = made(url, tools)
    if kind == "stop":
        found = stopped(contender, f"{how.split()[0]} {number}", tools, limit)
    elif kind == "stall":
        found = asyncio.run(stalled(contender))
    else:
        found = asyncio.run(played(contender, tools, f"{kind} {number}", number))
    return tools.known | found


def main(file: str, job: str, url: str, number: str, limit: str) -> None:
    try:
        tell(measured(file, job, url, int(number), float(limit)))
    except NotImplementedError as never:
        tell({"cannot": str(never)})


if __name__ == "__main__":
    main(*sys.argv[1:])
