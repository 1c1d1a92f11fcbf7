"""What the scripted server says: an answer for every request, by its prompt's words and how often it was asked for."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from hermes_kernel.testing import (
    FAULTS,
    Request,
    Step,
    bad_arguments,
    call,
    calls,
    cut_off,
    duplicate_call,
    error_with_200,
    hang_up,
    late,
    say,
    unfinished,
)

ERRAND = re.compile(r"errand (\d+-\d+) (\w+)")
KINDS = ("tools", "parallel", "python", "plot", "faults", "long", "slow", "delegate", "short")
WORDS = "The herons stand in the reeds and wait until the water is clear again. "
PLOT = """
import matplotlib.pyplot as plt
figure, axes = plt.subplots(figsize=(3, 2))
axes.plot([n * n % 17 for n in range(200)])
plt.show()
"""
LASTING = ("stale_stream", "rate_limit", "overloaded", "server_error", "timeout", "disconnect", "unknown", "billing")
TROUBLE: tuple[Step, ...] = (
    *(step for fault, step in FAULTS.items() if fault in LASTING),
    hang_up(), cut_off(WORDS), error_with_200(), duplicate_call("todo", {"items": []}), bad_arguments("python", "{"), unfinished(WORDS),
)  # fmt: skip

Call = tuple[str, dict[str, Any]]


class Errands:
    """An answer to the latest prompt that stands in a request, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._asked: Counter[str] = Counter()

    def __call__(self, request: Request) -> Step:
        errand, kind = _errand(request)
        self._asked[errand] += 1
        chance = random.Random(f"{self._seed} {errand} {self._asked[errand]}")
        wanted = errand and "tools" in request.body and chance.random() < 0.75
        request.body.clear()  # what a server remembers of half an hour is much
        return ANSWERS[kind](chance) if wanted else say(f"Errand {errand}. {WORDS}")


def _errand(request: Request) -> tuple[str, str]:
    """Its number and kind; none for what nobody has typed, such as a summary, or what a look back is told of: twelve
    answers of trouble in a row take as many minutes, and that is not what is measured."""
    if any(str(message["content"]).startswith("You look back at") for message in request.messages[:1]):
        return "", "short"
    for message in reversed(request.messages):
        if message["role"] == "user":
            found = ERRAND.findall(str(message["content"]))
            return found[-1] if found else ("", "short")
    return "", "short"


def _call(chance: random.Random) -> Call:
    n = chance.randrange(12)
    file = f"notes-{n}.txt"
    return chance.choice([
        ("write_file", {"path": file, "content": WORDS * chance.randrange(1, 40)}),
        ("read_file", {"path": file}),
        ("edit_file", {"path": file, "old": "herons", "new": "cranes"}),
        ("search_files", {"pattern": "reeds", "glob": "*.txt"}),
        ("terminal", {"command": f"seq {10 ** chance.randrange(1, 6)} | tail -n 3000"}),
        ("todo", {"items": [{"content": f"Look at {n}", "status": "pending"}]}),
        ("session_search", {"query": "herons water"}),
        ("memory", {"action": "add", "target": "memory", "content": f"Fact {n} of {chance.randrange(10**6)}."}),
        ("skills_search", {"query": "herons"}),
        ("python", {"code": f"value = sum(range({n * 1000}))\nprint('value', value)\nvalue"}),
        ("no_such_tool", {}),
    ])  # fmt: skip


def _code(chance: random.Random) -> Step:
    code = chance.choice([
        "rows = [str(n) for n in range(20_000)]\nlen(rows)",
        "print('line\\n' * 3000)",
        "1 / 0",
        "import asyncio\nawait asyncio.sleep(0.3)\n'slept'",
        "import time\ntime.sleep(0.4)",
        "import subprocess\nsubprocess.run(['true'], check=True)",
    ])  # fmt: skip
    return call("python", {"code": code}, text="Let me see.")


def _delegate(chance: random.Random) -> Step:
    tasks = [{"goal": f"errand 0-{chance.randrange(10**9)} tools"} for _ in range(chance.randrange(1, 4))]
    return call("delegate", {"tasks": tasks})


ANSWERS: dict[str, Callable[[random.Random], Step]] = {
    "tools": lambda chance: call(*_call(chance)),
    "parallel": lambda chance: calls([_call(chance) for _ in range(chance.randrange(2, 9))]),
    "python": _code,
    "plot": lambda _: call("python", {"code": PLOT}),
    "faults": lambda chance: chance.choice([*TROUBLE, call(*_call(chance))]),
    "long": lambda chance: say([WORDS] * chance.randrange(100, 1500)),
    "slow": lambda chance: late(say([WORDS] * 20, gap=0.05), chance.random()),
    "delegate": _delegate,
    "short": lambda _: say(WORDS),
}
