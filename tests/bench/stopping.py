"""How soon Ctrl-C gives a person the prompt back, whatever the agent was at; and how soon a silent stream is given up.

``python -m tests.bench.stopping WHO PHASE`` is one process: it plays a turn against a scripted server, is interrupted by
a real SIGINT in the middle of that phase, and prints the seconds from there until it had its thread again.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hermes_kernel.core.compression import SYSTEM
from hermes_kernel.testing import Request, Server, Step, call, calls, forever, late, say, stall, status
from tests.bench.rows import BARE, OURS, Row, medians

INTO = 0.6  # seconds after the phase began at which it is interrupted
LIMIT, SILENCE = 3.0, 20.0  # seconds: what a client is told to wait for, and how long a stream says nothing
SLOW = 30.0  # seconds: of whatever is to be ended before it ends by itself
AT_MOST = 60.0  # seconds of a sample; who is not back by then is not stopped

Do = Callable[[str], object]


class Phase(NamedTuple):
    """What the server says after a first answer, and when the interruption comes: `INTO` after so many requests."""

    what: str
    steps: Sequence[Step]
    requests: int = 2
    bare: bool = True
    """A bare loop has such a phase."""


NAPS = calls([("nap", {"number": n}) for n in range(8)])
READY = say("Here.")
SILENT = stall(["Some words.", " More."], after=1, seconds=SLOW)

PHASES = {
    "silent": Phase("in a silent stream", [SILENT]),
    "stream": Phase("in mid stream", [say(["word "] * 600, gap=0.05)]),
    "unanswered": Phase("before the first byte", [late(say("Never."), SLOW)]),
    "backoff": Phase("in a backoff", [status(503)] * 9),
    "sync": Phase("in a batch of 8 sync tools", [NAPS]),
    "async": Phase("in a batch of 8 async tools", [NAPS]),
    "python": Phase(
        "in `python` code that blocks the main thread",
        [call("python", {"code": f"import time\ntime.sleep({SLOW})"})],
        bare=False,
    ),
    "terminal": Phase("in a command", [call("terminal", {"command": f"sleep {SLOW:.0f}"})], bare=False),
    "clarify": Phase("while a person is asked", [call("clarify", {"question": "Which one?"})], bare=False),
    "compress": Phase("in a compression", [], 8, bare=False),
}


def rows(rounds: int, contenders: Sequence[str]) -> Iterator[Row]:
    """A line for each phase, and one for a stall."""
    who = [each for each in contenders if each in WHO]
    for phase, told in PHASES.items():
        asked = [each for each in who if told.bare or each == OURS]
        values = medians(rounds, asked, lambda each, phase=phase: _sample(each, phase))  # type: ignore[misc]
        yield Row("stops", f"interrupt {told.what}", "s", values, 0.3)
    values = medians(rounds, who, lambda each: _sample(each, "stall"))
    yield Row("stops", f"a stream silent for {SILENCE:.0f} s, limit {LIMIT:.0f} s", "s", values, LIMIT + 0.5)


def _sample(who: str, phase: str) -> float | None:
    """Seconds, in a fresh process; None where it was not back in time."""
    command = [sys.executable, "-m", "tests.bench.stopping", who, phase]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "HERMES_PLAIN": "on"}
    ) as process:
        threading.Timer(AT_MOST, process.kill).start()
        assert process.stdout
        line = process.stdout.readline()
        process.kill()
    return float(json.loads(line)) if line else None


# --- who is stopped ---------------------------------------------------------------------------------------------------


def ours(url: str, phase: str) -> tuple[Do, Do]:
    """Ours, from plain code."""
    from hermes_kernel import Agent, tool

    settings = {"base_url": url, "api_key": "none", "home": Path(tempfile.mkdtemp()), "approvals": "allow"}
    limits = {
        "retry_base_seconds": SLOW if phase == "backoff" else 0,
        "stale_seconds": LIMIT,
        "context_window": 100_000,
    }
    if phase != "stall":
        limits["stale_seconds"] = SLOW
    nap = tool(name="nap")(napping if phase == "async" else napping_in_thread)
    agent = Agent("any", [nap], person=Someone() if phase == "clarify" else None, **settings, **limits)
    if phase != "compress":
        return agent.ask_sync, agent.ask_sync
    for at in range(6):
        agent.ask_sync(f"prompt {at}: " + "word " * 2_000)
    return agent.ask_sync, lambda _: agent.compress_sync()


def bare(url: str, phase: str) -> tuple[Do, Do]:
    """A loop over the ``openai`` client as its manual shows it."""
    from openai import AsyncOpenAI

    retries = 8 if phase == "backoff" else 0

    async def play(prompt: str) -> None:
        client = AsyncOpenAI(base_url=url, api_key="none", max_retries=retries, timeout=_patience(phase))
        messages = [{"role": "user", "content": prompt}]
        stream = await client.chat.completions.create(model="any", messages=messages, stream=True)  # type: ignore[call-overload]
        wanted = 0
        async for chunk in stream:
            wanted += sum(len(choice.delta.tool_calls or ()) for choice in chunk.choices)
        if phase == "sync":
            await asyncio.gather(*(asyncio.to_thread(napping_in_thread, at) for at in range(wanted)))
        else:
            await asyncio.gather(*(napping(at) for at in range(wanted)))

    return (lambda prompt: asyncio.run(play(prompt)),) * 2


def _patience(phase: str) -> float:
    return LIMIT if phase == "stall" else 600.0


WHO: dict[str, Callable[[str, str], tuple[Do, Do]]] = {OURS: ours, BARE: bare}


async def napping(number: int) -> str:
    """Rest."""
    await asyncio.sleep(SLOW)
    return f"rested {number}"


def napping_in_thread(number: int) -> str:
    """Rest."""
    time.sleep(SLOW)
    return f"rested {number}"


class Someone:
    """A person who is there and never answers."""

    present = True

    async def ask(self, question: object) -> str | None:
        """Nothing, for ever."""
        await asyncio.Event().wait()
        return None


# --- one process ------------------------------------------------------------------------------------------------------


def interrupted(who: str, phase: str) -> float:
    """Seconds from the interruption to having the thread again."""
    told = PHASES[phase]
    pressed = list[float]()
    with Server(_summarised if phase == "compress" else [READY, *told.steps, forever(READY)]) as server:
        act = _ready(who, server, phase)

        def press() -> None:
            assert server.await_requests(told.requests)
            time.sleep(INTO)
            pressed.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=press, daemon=True).start()
        with suppress(KeyboardInterrupt, Exception):
            act("Go.")
        over = time.perf_counter()
        assert pressed, "it ended by itself"
        return _told(over - pressed[0])


def stalled(who: str) -> float:
    """Seconds from asking to an answer, or to an error that can be acted on, where the stream falls silent."""
    with Server([READY, stall(["Some words.", " More."], after=1, seconds=SILENCE), forever(READY)]) as server:
        act = _ready(who, server, "stall")
        begun = time.perf_counter()
        with suppress(Exception):
            act("Go.")
        return _told(time.perf_counter() - begun)


def _ready(who: str, server: Server, phase: str) -> Do:
    """What asks, after it has asked once: whatever is loaded then is no part of stopping."""
    ask, act = WHO[who](server.url, phase)
    ask("Are you there?")
    return act


def _summarised(request: Request) -> Step:
    """Words to a prompt; to whoever wants a summary, nothing."""
    return late(say("Never."), SLOW) if request.messages[0]["content"] == SYSTEM else say("word " * 500)


def _told(seconds: float) -> float:
    """Said at once: threads that nobody can end may keep the process."""
    print(json.dumps(seconds), flush=True)
    return seconds


if __name__ == "__main__":
    stalled(sys.argv[1]) if sys.argv[2] == "stall" else interrupted(sys.argv[1], sys.argv[2])
