"""The whole story, over a real agent and real HTTP: a task makes a skill, the next one uses it, a correction mends it; what
is remembered is read by the next conversation; and all of it is paid for where it can be seen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from skills_ref import validate

from hermes_kernel import Agent
from hermes_kernel.core.events import Replied
from hermes_kernel.core.learnt import LookDue, Looked, SkillChanged, SkillUsed
from hermes_kernel.core.messages import Usage
from hermes_kernel.testing import Request, Server, Step, billed, call, calls, say, stall
from tests.contracts.looks import LONG, Parts, price, remember, text_of, who
from tests.contracts.test_reflecting_skills import SIX, SKILL
from tests.postgres import postgres, url  # noqa: F401 - fixtures

NAME = "pricing-a-list"
PATCH = {"name": NAME, "action": "patch", "old": "Look up each article.", "new": "Look up each article, in EUR."}
ENTRY = "Wants prices in EUR."
PROMPT, REPLY = 1_000, 7
"""Tokens of each reply, as the server tells them, whatever was asked."""


class Story:
    """A model that does a task the long way until it has a skill for it, and says who asked what."""

    def __init__(self, **looks: list[Step]) -> None:
        self._looks = {name: iter(steps) for name, steps in looks.items()}
        self._long = iter(SIX)

    def __call__(self, request: Request) -> Step:
        loop = who(request)
        step = self._chat(request) if loop == "chat" else next(self._looks[loop], say("Nothing."))
        return billed(step, PROMPT, REPLY)

    def _chat(self, request: Request) -> Step:
        """Where the system prompt names the skill, it is read, and one batch of calls is enough."""
        if "Hello" in str(request.messages[-1]["content"]):
            return say("Hello.")
        if NAME not in str(request.messages[0]["content"]):
            return next(self._long)
        said = [each for each in request.messages if each["role"] in ("assistant", "tool")]
        asked = max(n for n, each in enumerate(request.messages) if each["role"] == "user")
        calls_since = [each for each in request.messages[asked:] if each.get("tool_calls")]
        if not any("skill_view" in str(each) for each in said):
            return call("skill_view", {"name": NAME})
        if not any("price" in str(each.get("tool_calls")) for each in calls_since):
            return calls([("price", {"sku": f"B{n}"}) for n in range(3)])
        return say("Priced.")


@asynccontextmanager
async def agent_on(home: Path, server: Server, **settings: Any) -> AsyncIterator[Agent]:
    """An agent that learns by itself."""
    given = {"learning": True, "approvals": "deny", "nudge_every_turns": 0, "nudge_seconds": 0} | settings
    agent = Agent("scripted", [price], home=home, base_url=server.url, api_key="none", **given)
    try:
        yield agent
    finally:
        await asyncio.to_thread(agent.close)


async def ask(agent: Agent, prompt: str) -> int:
    """How many replies a turn took; all that it sets going beside it is over when this returns."""
    replies = [event async for event in agent.stream(prompt) if isinstance(event, Replied)]
    assert await asyncio.to_thread(agent.learning.reflector.wait, LONG)
    return len(replies)


def changes(agent: Agent) -> list[tuple[str, str, str]]:
    facts: list[Any] = [each.fact for each in agent.learning.chronicle.read(SkillChanged)]
    return [(fact.name, fact.action, fact.by) for fact in facts]


async def test_a_task_makes_one_skill_the_next_needs_fewer_calls_and_a_correction_patches_it(tmp_path: Path) -> None:
    view = call("skill_view", {"name": NAME})
    script = Story(
        review=[call("skill_manage", SKILL), say("Made."), view, call("skill_manage", PATCH), say("Patched.")]
    )
    with Server(script) as server:
        async with agent_on(tmp_path, server) as agent:
            first = await ask(agent, "Price A1 to A5.")
            assert changes(agent) == [(NAME, "create", "review")]
            folder = Path(agent.learning.skills.get(NAME).folder)
            assert validate(folder) == []
            before = (folder / "SKILL.md").read_text()
            agent.new()
            second = await ask(agent, "Price B0 to B2.")
            assert second < first
            assert {each.fact.name for each in agent.learning.chronicle.read(SkillUsed)} == {NAME}
            assert changes(agent) == [(NAME, "create", "review")], "a task that went well teaches nothing new"
            await ask(agent, "No, that is wrong: I want the prices in EUR.")
            assert changes(agent) == [(NAME, "create", "review"), (NAME, "patch", "review")]
            after = (folder / "SKILL.md").read_text()
            assert after == before.replace("Look up each article.", "Look up each article, in EUR.")
            assert validate(folder) == []


async def test_what_a_nudge_remembers_is_in_the_next_conversation_and_not_in_this_one(tmp_path: Path) -> None:
    with Server(Story(nudge=[remember(ENTRY, "user"), say("Kept.")])) as server:
        async with agent_on(tmp_path, server, nudge_every_turns=1) as agent:
            await ask(agent, "Hello, I want prices in EUR.")
            assert agent.learning.memory.entries("user") == (ENTRY,)
            await ask(agent, "Hello again.")
            agent.new()
            await ask(agent, "Hello there.")
    first, second, third = [r.messages[0]["content"] for r in server.requests if who(r) == "chat"]
    assert ENTRY not in first
    assert second == first, "the system prompt of a conversation stays as it was"
    assert ENTRY in third


async def test_every_token_that_the_server_counted_is_in_the_usage(tmp_path: Path) -> None:
    looks = {"nudge": [remember(ENTRY), say("Kept.")], "review": [call("skill_manage", SKILL), say("Made.")]}
    with Server(Story(**looks)) as server:
        async with agent_on(tmp_path, server, nudge_every_turns=1) as agent:
            await ask(agent, "Price A1 to A5.")
            assert {each.fact.loop for each in agent.learning.chronicle.read(Looked)} == {"nudge", "review"}
            await ask(agent, "Hello, thank you.")
            agent.new()
            told = sum((row.usage for row in agent.store.usage()), Usage())
    count = len(server.requests)
    assert {who(request) for request in server.requests} == {"chat", "nudge", "review"}
    assert (told.input_tokens, told.output_tokens) == (count * PROMPT, count * REPLY)


@pytest.mark.parametrize("loop", ["nudge", "review"])
async def test_an_agent_that_is_closed_in_the_middle_of_a_look_waits_for_nothing_and_the_next_takes_it_up(
    tmp_path: Path, loop: str
) -> None:
    hangs = stall("Hm", after=1, seconds=float("inf"))
    with Server(Story(**{loop: [hangs]})) as server:
        async with agent_on(tmp_path, server, nudge_every_turns=1 if loop == "nudge" else 0) as agent:
            await agent.ask("Price A1 to A5.")
            async with asyncio.timeout(LONG):
                while not any(who(request) == loop for request in server.requests):
                    await asyncio.sleep(0.01)
            began = time.monotonic()
            await asyncio.to_thread(agent.close)
            assert time.monotonic() - began < LONG
    ends = {"nudge": [remember(ENTRY), say("Kept.")], "review": [call("skill_manage", SKILL), say("Made.")]}
    with Server(Story(**{loop: ends[loop]})) as server:
        async with agent_on(tmp_path, server, nudge_every_turns=100) as agent:
            await agent.ask("Hello.")
            assert await asyncio.to_thread(server.await_requests, 3, LONG), "what was left is taken up beside it"
            assert await asyncio.to_thread(agent.learning.reflector.wait, LONG)
            done = [each.fact for each in agent.learning.chronicle.read(Looked) if each.fact.loop == loop]
            assert done[-1].wrote
            assert done[-1].outcome == "completed"


@pytest.mark.parametrize("resumed", [False, True], ids=["in one process", "said in another process"])
async def test_what_is_compressed_by_hand_is_looked_at_word_for_word_if_nothing_more_is_said(
    tmp_path: Path, resumed: bool
) -> None:
    settings = {"nudge_every_turns": 10, "protect_first": 1, "protect_last": 1}
    with Server(Parts(chat=say("word " * 100))) as server:
        async with agent_on(tmp_path, server, **settings) as agent:
            for n in range(4):
                await ask(agent, f"This is note {n}. {'And so on. ' * 50}")
            first = agent.session_id
            if not resumed:
                await compressed(agent)
        if resumed:
            async with agent_on(tmp_path, server, session=first, **settings) as agent:
                await compressed(agent)
    (nudge,) = [text_of(request) for request in server.requests if who(request) == "nudge"]
    assert [n for n in range(4) if f"This is note {n}." in nudge] == [0, 1, 2, 3]


async def compressed(agent: Agent) -> None:
    before = agent.session_id
    made = await agent.compress()
    assert made.after < made.before
    assert [each.fact.session for each in agent.learning.chronicle.read(LookDue)] == [before]
    assert await asyncio.to_thread(agent.learning.reflector.wait, LONG)


async def test_homes_that_share_a_store_look_at_their_own_conversations_and_remember_their_own(
    tmp_path: Path,
    url: str,  # noqa: F811
) -> None:
    settings = {"nudge_every_turns": 10, "nudge_seconds": 600, "store_url": url}
    script = Parts(nudge=[say("Nothing."), remember(ENTRY, "user"), say("Kept.")])
    with Server(script) as server:
        async with agent_on(tmp_path / "hers", server, **settings) as hers:
            await hers.ask("I want prices in EUR.")
        async with agent_on(tmp_path / "his", server, **settings) as his:
            await his.ask("I do not.")
            assert his.learning.reflector.status()[0].due == ()
            await his.learning.reflector.look("nudge")
            assert await asyncio.to_thread(his.learning.reflector.wait, LONG)
            assert his.learning.memory.entries("user") == ()
        async with agent_on(tmp_path / "hers", server, **settings) as hers:
            assert len(hers.learning.reflector.status()[0].due) == 1
            await hers.ask("Hello.")
            async with asyncio.timeout(LONG):
                while not hers.learning.memory.entries("user"):
                    await asyncio.sleep(0.01)
    nudges = [text_of(request) for request in server.requests if who(request) == "nudge"]
    assert ["I want prices" in nudge for nudge in nudges] == [False, True, True][: len(nudges)]


async def test_a_turn_that_was_cancelled_is_looked_at_like_any_other(tmp_path: Path) -> None:
    with Server(Parts(chat=stall("Hm", after=1, seconds=float("inf")))) as server:
        async with agent_on(tmp_path, server, nudge_every_turns=1) as agent:
            asked = asyncio.ensure_future(agent.ask("I want prices in EUR."))
            assert await asyncio.to_thread(server.await_requests, 1, LONG)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            assert await asyncio.to_thread(agent.learning.reflector.wait, LONG)
    (nudge,) = [text_of(request) for request in server.requests if who(request) == "nudge"]
    assert "I want prices in EUR." in nudge
