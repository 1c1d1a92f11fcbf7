"""Hundreds of random turns in long sessions, with every fault there is: the laws hold after each. A seed is a session."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from hermes_kernel import Agent, Outcome, tool
from hermes_kernel.core.events import Final
from hermes_kernel.testing import (
    HINTS,
    OVERFLOWS,
    FastClock,
    Request,
    Server,
    Step,
    Thoughts,
    bad_arguments,
    calls,
    cut_call,
    cut_off,
    disconnect,
    disconnect_in_call,
    duplicate_call,
    empty,
    error_in_stream,
    error_with_200,
    failed_generation,
    filtered,
    garbled,
    hang_up,
    login_page,
    no_choices,
    out_of_quota,
    overflow,
    queued,
    rate_limited,
    say,
    stall,
    status,
    thinking_only,
    torn,
    unfinished,
    unstreamed,
    written_call,
)
from tests.faults.played import KEY, Played, check, hung_up, price, stored

SEEDS = range(12)
TURNS = 25
TEXTS = [
    "Yes.",
    "one two three four",
    "one two five",
    "a😀b",
    "über \u2028 x",
    "  spaced  ",
    "\ud83d lone",
    "**bold** `code`",
]
SHAPES = ["openai", "llama", "whole", "ollama", "gemini", "litellm", "dict", "batch", "no_ids", "same_id"]
FORMS = ["object", "string", "vllm", "openrouter", "event", "llama_line", "list"]


@tool
async def shaky(n: int) -> str:
    """Fail for every third number, late for every second."""
    await asyncio.sleep(0.01 * (n % 2))
    if n % 3 == 0:
        raise ValueError(f"{n} is no good \udc80")
    return f"{n} \udc80" * (n % 5)


class Model:
    """A model and its server by the dice of one seed."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def __call__(self, request: Request) -> Step:
        kind = self.dice.choices([self.words, self.tools, self.useless, self.broken, self.refusal], [6, 6, 2, 3, 2])[0]
        return kind()

    def text(self) -> str:
        return self.dice.choice(TEXTS)

    def words(self) -> Step:
        return self.dice.choice(
            [
                say(self.text()),
                say(self.text(), thoughts=Thoughts("hm", self.dice.choice(["reasoning", "think_tag", "content_list"]))),
                torn(self.text()),
                unstreamed("whole"),
                queued(say(self.text()), 0.04),
                say(self.text(), finish=self.dice.choice(["stop", None, "odd", "length"])),
            ]
        )

    def tools(self) -> Step:
        names = [
            ("price", {"sku": self.text()}),
            ("shaky", {"n": self.dice.randrange(9)}),
            ("nothing", {}),
            ("price", "{"),
        ]
        wanted = self.dice.choices(names, [6, 6, 1, 1], k=self.dice.randrange(1, 5))
        plain = [pair for pair in wanted if isinstance(pair[1], dict)] or [("price", {"sku": "A1"})]
        shape = self.dice.choice(SHAPES)
        finish = self.dice.choice(["tool_calls", "stop", None])
        return self.dice.choice(
            [
                calls(plain, shape=shape, finish=finish, text=self.dice.choice(["", "Let me look."])),
                calls(wanted, shape="whole", finish=finish),
                duplicate_call("price", {"sku": "A1"}),
                written_call("price", {"sku": "A1"}),
                bad_arguments("price", "{'sku': 'A1',}"),
            ]
        )

    def useless(self) -> Step:
        form = self.dice.choice(["length", "tool_calls", "invalid_diff"])
        return self.dice.choice(
            [
                cut_off(self.text()),
                cut_call("price", {"sku": "A1"}, keep=self.dice.randrange(13), form=form),
                empty(),
                thinking_only("hm", finish=self.dice.choice(["stop", "length"])),
                say("no", finish="content_filter"),
            ]
        )

    def broken(self) -> Step:
        at = self.dice.randrange(4)
        text = self.text()
        return self.dice.choice(
            [
                hang_up(reset=self.dice.random() < 0.5),
                disconnect(text, after=at, reset=self.dice.random() < 0.5),
                disconnect_in_call("price", {"sku": "A1"}, keep=self.dice.randrange(14), text="Let me"),
                garbled(text, after=at),
                unfinished(text),
                error_in_stream(text=text, form=self.dice.choice(FORMS)),
                no_choices(),
                stall(text, after=at, seconds=30) if self.dice.random() < 0.2 else hang_up(),
            ]
        )

    def refusal(self) -> Step:
        return self.dice.choice(
            [
                status(self.dice.choice([400, 401, 402, 404, 408, 413, 500, 502, 503, 529])),
                rate_limited(self.dice.choice([0, 1, 37, 5000]), hint=self.dice.choice(HINTS)),
                overflow(self.dice.choice(list(OVERFLOWS))),
                out_of_quota(),
                filtered(),
                login_page(),
                error_with_200(),
                failed_generation("<function=price>{}</function>"),
            ]
        )


@pytest.mark.parametrize("seed", SEEDS)
async def test_the_laws_hold_in_a_session_of_random_turns(tmp_path: Path, seed: int) -> None:
    print(f"seed {seed}")
    dice, clock = random.Random(seed), FastClock()
    with Server(Model(seed), now=clock.now) as server:
        agent = Agent(
            "scripted",
            [price, shaky],
            clock=clock,
            home=tmp_path,
            base_url=server.url,
            api_key=KEY,
            approvals="deny",
            fallback_models=("b",) * (seed % 2),
            max_iterations=dice.choice([3, 6, 90]),
            stale_seconds=0.4,
            first_byte_seconds=5,
        )
        try:
            outcomes = [await turn(agent, server, dice) for _ in range(TURNS)]
        finally:
            agent.close()
            await hung_up(server)
    assert stored(tmp_path, agent.session_id) == agent.turn.transcript
    assert Outcome.COMPLETED in outcomes


async def turn(agent: Agent, server: Server, dice: random.Random) -> Outcome | None:
    """One turn, stopped at a random event now and then, and the laws on it."""
    before, patience = len(server.requests), dice.choice([10**6] * 7 + [dice.randrange(12)])
    seen = []
    async for event in agent.stream(dice.choice(["What does A1 cost?", "Go on \ud800.", "日本 " * 50])):
        seen.append(event)
        if len(seen) > patience:
            agent.stop()
    assert server.await_idle()
    got = Played(agent.turn, tuple(seen), server.requests[before:], ())
    check(got)
    assert len(got.of(Final)) == 1
    assert len(got.requests) < 400
    if dice.random() < 0.1:
        agent.undo()
    return got.outcome
