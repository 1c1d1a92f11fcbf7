"""Conversations that outgrow their window, over real connections: no overflow reaches anybody, whatever goes wrong."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel import Agent
from hermes_kernel.core.compression import SYSTEM, sound
from hermes_kernel.core.events import Compressed, Failed, Noticed
from hermes_kernel.core.fill import REST
from hermes_kernel.testing import (
    FastClock,
    Request,
    Server,
    Step,
    Tokens,
    disconnect,
    forever,
    late,
    overflow,
    rate_limited,
    say,
    stall,
    status,
)
from hermes_kernel.world.store import Store
from tests.bench.long import FACTS, converse
from tests.contracts.talks import RECORD, ask, begun, compressed, fill, made, of, summaries
from tests.soon import SOON

WINDOW = 24_000
NEVER = float("inf")
KEY = "sk-very-secret-0123456789"


def tokens(request: Request) -> int:
    """What a request is to this server."""
    return 2_000 + sum(4 + len(str(message.get("content") or "")) // 4 for message in request.messages[1:])


class Talk:
    """A scripted server with answers of about 700 tokens. ``limit`` is what it really reads, in its own count, and
    ``refusal`` what it says of more."""

    def __init__(
        self, summary: Step | Callable[[Request], Step], limit: float = NEVER, refusal: Step | None = None
    ) -> None:
        self.summary, self.limit, self.refusal = summary, limit, refusal or overflow("ollama")
        self.asked: list[Request] = []
        self.summaries: list[Request] = []
        self.refused = 0

    def __call__(self, request: Request) -> Step:
        if tokens(request) > self.limit:
            self.refused += 1
            return self.refusal
        if request.messages[0]["content"] == SYSTEM:
            self.summaries.append(request)
            return self.summary(request) if callable(self.summary) else self.summary
        self.asked.append(request)
        return say([f"answer {len(self.asked)} ", "word " * 560], usage=Tokens(tokens(request), 700))


@pytest.fixture
async def talks(tmp_path: Path) -> AsyncIterator[Any]:
    """Agents over talks."""
    opened: list[tuple[Agent, Server]] = []

    def make(talk: Any, **options: Any) -> Agent:
        server = Server(talk).start()
        given = {"home": tmp_path / "home", "base_url": server.url, "api_key": KEY, "context_window": WINDOW}
        agent = Agent("scripted", **(given | {"retry_base_seconds": 0, "max_retries": 0} | options))
        opened.append((agent, server))
        return agent

    yield make
    for agent, server in opened:
        async with agent:
            pass
        server.stop()


# --- the whole of it, in small


@pytest.mark.parametrize(("known", "states"), [(True, True), (False, True), (False, False)])
async def test_a_long_conversation_never_overflows_and_forgets_nothing(
    tmp_path: Path, known: bool, states: bool
) -> None:
    figures = await converse(tmp_path / "home", 160, 9_000, known=known, states=states)
    assert figures.unhappy == []
    assert figures.unsound == []
    assert figures.lost == [], f"of {FACTS} facts"
    assert figures.overflows <= (0 if known else 1 if states else 3), "a window is learnt from one refusal, or from few"
    assert len(figures.sessions) > 2
    assert figures.summaries <= figures.tokens / (REST * figures.window) + figures.overflows
    assert not figures.spent


# --- the summariser's connection


@pytest.mark.parametrize(
    "trouble",
    [
        rate_limited(1),
        status(503, "overloaded"),
        disconnect(RECORD, after=3),
        stall(RECORD, after=2, seconds=60),
        late(say(RECORD), 60),
    ],
    ids=["rate limit", "overloaded", "cut off", "gone silent", "never begun"],
)
async def test_what_any_call_survives_a_summary_survives(talks: Any, trouble: Step) -> None:
    steps = iter([trouble])
    talk = Talk(lambda _: next(steps, say(RECORD)))
    agent = talks(talk, clock=FastClock(real=1.0), max_retries=2, stale_seconds=0.2, first_byte_seconds=0.2)
    await fill(agent, begun)
    await made(agent)
    await ask(agent)
    assert "heron-4821" in summaries(agent)[0].text
    assert len(talk.summaries) == 2


async def test_side_work_has_a_model_of_its_own_and_the_main_one_behind_it(talks: Any, tmp_path: Path) -> None:
    talk = Talk(say(RECORD))
    with Server(forever(status(500, "down"))) as side:
        agent = talks(talk, aux_model=f"small@{side.url}")
        await fill(agent, begun)
        await made(agent)
        await ask(agent)
        assert summaries(agent)
        assert side.requests[0].body["model"] == "small"
        assert KEY not in str(side.requests[0].headers), "a key goes where it is meant to"
        assert len(talk.summaries) == 1


async def test_a_summariser_with_a_small_window_is_told_the_conversation_in_pieces(talks: Any) -> None:
    side_talk = Talk(say(RECORD), limit=9_000, refusal=overflow("openai"))
    with Server(side_talk) as side:
        agent = talks(Talk(status(500, "not asked")), aux_model=f"small@{side.url}")
        await fill(agent, begun)
        await made(agent)
        await ask(agent)
        assert summaries(agent)
        assert side_talk.refused <= 2
        assert 2 <= len(side_talk.summaries) <= 5
        assert "heron-4821" in str(side_talk.summaries[1].messages), "each piece updates the record"


async def test_no_secret_goes_to_the_summariser_or_into_the_summary(talks: Any) -> None:
    leak = "sk-proj-" + "a1B2" * 10
    talk = Talk(say(RECORD + f"- the key is {leak} and {KEY}\n"))
    agent = talks(talk)
    await ask(agent, f"my key is {leak}")
    await fill(agent, begun)
    await made(agent)
    await ask(agent)
    assert summaries(agent)
    assert leak not in str(agent.turn.transcript)
    assert KEY not in str(agent.turn.transcript)
    assert leak not in str(talk.summaries[0].body)


# --- the main model's window


@pytest.mark.parametrize("wording", ["ollama", "lm-studio", "anthropic-413", "proxy-500"])
async def test_an_overflow_that_nobody_expected_is_answered_all_the_same(talks: Any, wording: str) -> None:
    talk = Talk(say(RECORD), limit=12_000, refusal=overflow(wording))
    agent = talks(talk, context_window=0)
    told = await fill(agent, compressed)
    assert of(Failed, told)
    for n in range(6):
        await ask(agent, f"after it {n}")
    assert "answer" in agent.turn.text


async def test_a_window_that_was_learnt_too_small_costs_little_and_is_unlearnt(talks: Any) -> None:
    talk = Talk(say(RECORD))
    talk.limit, real = 0, talk.limit
    talk.refusal = overflow("vllm")
    agent = talks(talk, context_window=0)
    async with aclosing(agent.stream("refused as if the window were tiny")) as events:
        async for event in events:
            if isinstance(event, Failed):
                talk.limit = real
    assert agent.turn.outcome == "completed"
    for n in range(6):
        await ask(agent, f"prompt {n}")
    assert len(talk.summaries) <= 4


async def test_a_fallback_with_a_smaller_window_gets_less(talks: Any) -> None:
    other = Talk(say(RECORD), limit=8_000)
    with Server(other) as second:
        down = False

        def first(request: Request) -> Step:
            return status(500, "down") if down else main(request)

        main = Talk(say(RECORD))
        agent = talks(first, fallback_models=(f"small@{second.url}",), compress_at=0.8)
        for n in range(14):
            await ask(agent, f"prompt {n}")
        down = True
        told = await ask(agent, "and now")
        assert compressed(told)
        assert agent.turn.route == 1
        assert other.refused


# --- stops and deaths


async def test_a_stop_while_a_turn_waits_for_a_summary_is_heard(talks: Any) -> None:
    agent = talks(Talk(late(say(RECORD), 60)))
    pressed = 0.0
    for n in range(60):
        async with aclosing(agent.stream(f"prompt {n}")) as events:
            async for event in events:
                if isinstance(event, Noticed) and "summarising" in event.text:
                    agent.stop()
                    pressed = time.monotonic()
        if pressed:
            break
    assert time.monotonic() - pressed < SOON
    assert agent.turn.outcome == "interrupted"
    assert sound(agent.turn.transcript) == ""


LIVING = """
import asyncio, os, sys
from hermes_kernel import Agent
from hermes_kernel.core.events import Compressing
async def main():
    agent = Agent("scripted", home=sys.argv[1], base_url=sys.argv[2], api_key="none", context_window=24000)
    print(agent.session_id, flush=True)
    for n in range(60):
        async for event in agent.stream(f"prompt {n}"):
            if isinstance(event, Compressing):
                print("begun", flush=True)
asyncio.run(main())
"""


async def test_a_process_killed_while_a_summary_is_made_leaves_a_conversation_that_goes_on(tmp_path: Path) -> None:
    talk = Talk(late(say(RECORD), 60))
    with Server(talk) as server:
        child = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(LIVING), str(tmp_path / "home"), server.url],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        session = child.stdout.readline().strip()
        assert child.stdout.readline().strip() == "begun"
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        talk.summary = say(RECORD)
        home = tmp_path / "home"
        agent = Agent("scripted", home=home, base_url=server.url, api_key=KEY, context_window=WINDOW, session=session)
        try:
            await agent.finish()
            assert sound(agent.turn.transcript) == ""
            await fill(agent, lambda _: bool(summaries(agent)))
            assert "heron-4821" in summaries(agent)[0].text
        finally:
            await agent.__aexit__()
        assert Store(home).find(session) == session


async def test_closing_an_agent_hangs_up_on_the_summariser(talks: Any) -> None:
    talk = Talk(late(say(RECORD), 60))
    with Server(talk) as server:
        agent = talks(Talk(say(RECORD)), base_url=server.url)
        await fill(agent, begun)
        await asyncio.to_thread(server.await_requests, len(talk.asked) + 1)
        async with agent:
            pass
        async with asyncio.timeout(10):
            while server.connected:
                await asyncio.sleep(0.005)


async def test_what_a_compression_gained_is_told(talks: Any) -> None:
    agent = talks(Talk(say(RECORD)))
    for n in range(8):
        await ask(agent, f"prompt {n}")
    event = await agent.compress()
    assert isinstance(event, Compressed)
    assert event.after < event.before
    assert event.usage.calls == 1


async def test_a_window_smaller_than_the_setting_says_is_refused_once(talks: Any) -> None:
    talk = Talk(say(RECORD), limit=8_192, refusal=overflow("openai"))
    agent = talks(talk, context_window=32_000)
    for n in range(24):
        await ask(agent, f"prompt {n}")
    assert talk.refused == 1
    assert "heron-4821" in summaries(agent)[0].text
