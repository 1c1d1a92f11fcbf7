"""``python -m tests.bench.tokens [MODEL...]``: how close the estimate of a call's tokens comes to what a model counts.

Models are local ones (``smol``, ``qwen``), whose server is asked for its template and its tokens, which is what it tells
as usage (that is checked once); or ``model@base_url``, asked with one token of output. A row for each script: how far the
estimate made before a call was from the usage told after it, over a conversation of eight calls.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Replied
from hermes_kernel.core.gauge import Gauge, weighed
from hermes_kernel.core.messages import Assistant, Message, User
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.local import LocalModel
from hermes_kernel.world.model import OpenAIModel
from hermes_kernel.world.stop import Stop
from tests.bench.sayings import SCRIPTS

CALLS = 8
AFTER = 3  # calls, before which an estimate may be anything
SYSTEM = "You are a careful assistant in a notebook. " * 8

Usage = Callable[[Sequence[Message]], Awaitable[int]]
"""The input tokens of a call with `SYSTEM` and these messages, as a server counts them."""


def told_by(model: OpenAIModel) -> Usage:
    """The usage that a call is told with."""

    async def usage(said: Sequence[Message]) -> int:
        call = CallModel(tuple(said), SYSTEM, max_tokens=1)
        for _ in range(2):  # llama-server may let a kept connection go unasked
            *_, end = [event async for event in model.reply(call, (), Stop())]
            if isinstance(end, Replied) and not end.usage.estimated:
                return end.usage.input_tokens
        raise SystemExit(f"no usage: {end}")

    return usage


def counted_by(base_url: str, key: str) -> Usage:
    """The usage that a llama-server would tell: its template filled in, its tokenizer run, nothing read by the model."""

    async def usage(said: Sequence[Message]) -> int:
        roles = [{"role": "user" if isinstance(m, User) else "assistant", "content": m.text} for m in said]
        messages = [{"role": "system", "content": SYSTEM}, *roles]
        prompt = _asked(base_url, key, "/apply-template", {"messages": messages})["prompt"]
        words = {"content": prompt, "add_special": True, "parse_special": True}
        return len(_asked(base_url, key, "/tokenize", words)["tokens"])

    return usage


async def errors(usage: Usage, scripts: Sequence[str], seed: int = 1) -> list[float]:
    """By how much of the usage the estimate was off, call by call."""
    random, gauge, said, found = Random(seed), Gauge(), list[Message](), []
    for _ in range(CALLS):
        said.append(User(SCRIPTS[random.choice(scripts)](random)))
        told = await usage(said)
        found.append(gauge.tokens(weighed(*said)) / told - 1)
        gauge = gauge.learned(weighed(*said), told)
        said.append(Assistant(SCRIPTS[random.choice(scripts)](random)))
    return found


async def rows(usage: Usage) -> AsyncIterator[tuple[str, float, float, float]]:
    """Script, and how far off estimates were: with nothing told, after `AFTER` calls at worst, and on average."""
    for name, scripts in [*((script, [script]) for script in SCRIPTS), ("all of them", list(SCRIPTS))]:
        first, *more = [abs(error) for error in await errors(usage, scripts)]
        late = more[AFTER - 1 :]
        yield name, first, max(late), sum(late) / len(late)


@asynccontextmanager
async def counting(name: str, home: Path) -> AsyncIterator[Usage]:
    """The usage of the model called `name`; of a local one, checked against a real call."""
    wanted, _, base_url = name.partition("@")
    model = OpenAIModel(Settings(base_url=base_url or "local:", model=wanted, home=home), SystemClock())
    try:
        if base_url:
            yield told_by(model)
            return
        local = LocalModel(home, model=wanted)
        usage = counted_by(*await asyncio.to_thread(local.start))
        said = [User("Is không a 词, or YWJj?")]
        if (counted := await usage(said)) != (told := await told_by(model)(said)):
            raise SystemExit(f"{name} tells {told} tokens where {counted} are counted")
        yield usage
        local.stop()
    finally:
        await model.aclose()


async def measured(name: str, home: Path) -> None:
    """Print the table of one model."""
    async with counting(name, home) as usage:
        print(f"| {name} | first call | after {AFTER} calls, worst | average |\n|---|---|---|---|", flush=True)
        async for script, first, worst, average in rows(usage):
            print(f"| {script} | {first:.0%} | {worst:.1%} | {average:.1%} |", flush=True)


def _asked(base_url: str, key: str, path: str, body: object) -> Any:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    url = base_url.removesuffix("/v1") + path
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
        return json.load(answer)


if __name__ == "__main__":
    for each in sys.argv[1:] or ["smol", "qwen"]:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(measured(each, Path(folder)))
