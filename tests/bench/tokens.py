"""``python -m tests.bench.tokens [MODEL...]``: how close the estimate of a call's tokens comes to what a model counts.

Models are local ones (``smol``, ``qwen``) or ``model@base_url``; each is asked to read, not to write. A row for each
script: how far the estimate made before a call was from the usage told after it, over conversations of six calls.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from random import Random

from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Replied
from hermes_kernel.core.gauge import Gauge, weighed
from hermes_kernel.core.messages import Assistant, Message, User
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.model import OpenAIModel
from hermes_kernel.world.stop import Stop
from tests.bench.sayings import SCRIPTS

CALLS = 6
AFTER = 3  # calls, before which an estimate may be anything
SIZE = 500  # characters of a message: a small model on a small machine reads a hundred tokens a second
SYSTEM = "You are a careful assistant in a notebook. " * 8


async def errors(model: OpenAIModel, scripts: Sequence[str], seed: int) -> AsyncIterator[float]:
    """By how much of the usage the estimate was off, call by call."""
    random, gauge, said = Random(seed), Gauge(), list[Message]()
    for _ in range(CALLS):
        said.append(User(SCRIPTS[random.choice(scripts)](random)[:SIZE]))
        estimate = gauge.tokens(weighed(*said))
        told = await usage(model, said)
        yield estimate / told - 1
        gauge = gauge.learned(weighed(*said), told)
        said.append(Assistant(SCRIPTS[random.choice(scripts)](random)[: SIZE // 2]))


async def usage(model: OpenAIModel, said: Sequence[Message]) -> int:
    """The input tokens of a call with these messages, as the server counts them."""
    call = CallModel(tuple(said), SYSTEM, max_tokens=1)
    for _ in range(2):  # llama-server may let a kept connection go unasked
        *_, end = [event async for event in model.reply(call, (), Stop())]
        if isinstance(end, Replied) and not end.usage.estimated:
            return end.usage.input_tokens
    raise SystemExit(f"no usage: {end}")


async def rows(model: OpenAIModel, seeds: range) -> AsyncIterator[tuple[str, float, float, float]]:
    """Script, and how far off estimates were: with nothing told, after `AFTER` calls, and on average after them."""
    for name, scripts in [*((script, [script]) for script in SCRIPTS), ("all of them", list(SCRIPTS))]:
        found = [[error async for error in errors(model, scripts, seed)] for seed in seeds]
        late = [abs(error) for conversation in found for error in conversation[AFTER:]]
        yield name, max(abs(each[0]) for each in found), max(late), sum(late) / len(late)


async def measured(name: str, home: Path, say: Callable[[str], None], seeds: range) -> float:
    """Print a table for one model; the worst error of a conversation in one script after `AFTER` calls."""
    wanted, _, base_url = name.partition("@")
    model = OpenAIModel(Settings(base_url=base_url or "local:", model=wanted, home=home), SystemClock())
    say(f"| {name} | first call | after {AFTER} calls, worst | average |")
    say("|---|---|---|---|")
    worst = 0.0
    try:
        async for script, first, late, average in rows(model, seeds):
            say(f"| {script} | {first:.0%} | {late:.1%} | {average:.1%} |")
            worst = max(worst, late if script in SCRIPTS else 0)
    finally:
        await model.aclose()
    return worst


if __name__ == "__main__":
    for each in sys.argv[1:] or ["smol", "qwen"]:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(measured(each, Path(folder), lambda line: print(line, flush=True), range(1)))
