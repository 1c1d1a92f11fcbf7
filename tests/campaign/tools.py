"""The tools of the campaign: quick, slow, endless, raising, loud and hostile ones. Those that do something leave a mark."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hermes_kernel import tool
from tests.campaign.saying import KEY, PLANTED

LONGEST = 20.0  # seconds that a stuck tool stays, if nobody lets it go


class Bench:
    """Makes the tools of one agent. Marks go to the file ``marks``; `release` lets go of threads that are stuck."""

    def __init__(self, marks: Path) -> None:
        self._marks = marks
        self._gate = threading.Event()

    def release(self) -> None:
        """Whatever is stuck ends."""
        self._gate.set()

    def made(self, name: str) -> str:
        """Leave a mark, on disk when this returns."""
        handle = os.open(self._marks, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        os.write(handle, f"{name}\n".encode("utf-8", "replace"))
        os.close(handle)
        return f"made {name}"

    def tools(self) -> list[Callable[..., Any]]:
        """All of them."""
        return [price, shaky, huge, hostile, exits, hang, *self._marking()]

    def _marking(self) -> list[Callable[..., Any]]:
        made, gate = self.made, self._gate

        @tool
        def mark(name: str) -> str:
            """Make a mark."""
            return made(name)

        @tool
        async def mark_async(name: str) -> str:
            """Make a mark."""
            await asyncio.sleep(0.001)
            return made(name)

        @tool
        def slow(name: str) -> str:
            """Make a mark, slowly."""
            time.sleep(0.01)
            return made(name)

        @tool(seconds=0.1)
        def stuck(name: str) -> str:
            """Make a mark and stay."""
            told = made(name)
            gate.wait(LONGEST)
            return told

        return [mark, mark_async, slow, stuck]


@tool
def price(sku: str, currency: str = "EUR") -> str:
    """Look up a price."""
    return f"{sku}: 3 {currency}"


@tool
async def shaky(n: int) -> str:
    """Fail for every third number, late for every second."""
    await asyncio.sleep(0.002 * (n % 2))
    if n % 3 == 0:
        raise ValueError(f"{n} is no good \udc80")
    return f"{n} \udc80" * (n % 5)


@tool
def huge(size: int) -> str:
    """Say much."""
    return "lorem ipsum\n" * (size // 12)


@tool(seconds=0.1)
async def hang(name: str) -> str:
    """Wait for ever."""
    await asyncio.Event().wait()
    return name


class _Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


@tool
def hostile(kind: int) -> Any:
    """Return what nobody expects."""
    loop: list[Any] = []
    loop.append(loop)
    return (
        f"the key is {KEY}, the token {PLANTED}",
        "\ud83d\x00\u202e\x1b]0;x\x07",
        b"\xff\x00",
        _Unspeakable(),
        loop,
        float("nan"),
        {"a": {1, 2}, 3: object},
        (letter for letter in "abc"),
    )[kind % 8]


@tool
async def exits(kind: int) -> str:
    """Raise what ends programs."""
    raise (
        SystemExit(3),
        KeyboardInterrupt(),
        asyncio.CancelledError("by myself"),
        GeneratorExit(),
        StopAsyncIteration(),
        MemoryError(KEY),
        RecursionError("\udfff"),
    )[kind % 7]
