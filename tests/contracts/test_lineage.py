"""A conversation that goes on in session after session: found once, under every name it has, and in one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, aclosing
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel import Agent, HermesError
from hermes_kernel.core.events import Asked, Compressed, Continued, Opened
from hermes_kernel.export.conversation import conversations
from hermes_kernel.world.store import MemoryLog
from tests.contracts.talks import Talk, ask, begun, fill, made, talking, until


@pytest.fixture
def agents(tmp_path: Path) -> Iterator[Any]:
    with talking(tmp_path / "home") as make:
        yield make


async def ready(agent: Agent, talk: Talk) -> None:
    """Return once a summary is there, which has not been put in its place."""
    await fill(agent, begun)
    talk.open.set()
    await made(agent)


@pytest.mark.parametrize("log", [None, MemoryLog()], ids=["disk", "memory"])
async def test_a_title_is_found_once_however_many_sessions_have_it(agents: Any, log: Any) -> None:
    talk = Talk()
    talk.open.set()
    agent = agents(talk, log=log)
    first = agent.session_id
    await ask(agent, "the heron at the weir")
    agent.title("Ornithology")
    await fill(agent, lambda _: agent._session.opened.parent not in ("", first))
    for words in ("ornithology", "heron weir"):
        found = agent.search(words)
        assert (found.total, found.threads[0].hits[0].passage.session) == (1, first)
    assert agent.resume("Ornithology").session_id == agent.session_id
    agent.title("Birds of the river")
    assert agent.search("river").total == 1, "a name that is given later is found like any other"


@pytest.mark.parametrize("name", ["id", "beginning", "title", "last"])
async def test_the_conversation_at_hand_is_gone_on_with_under_any_name_and_its_summary_is_not_given_up(
    agents: Any, name: str
) -> None:
    talk = Talk()
    agent = agents(talk)
    await fill(agent, begun)
    await until(lambda: bool(talk.summaries))
    agent.title("Letters")
    names = {"id": agent.session_id, "beginning": agent.session_id[:8], "title": "Letters", "last": "last"}
    for n in range(3):
        agent.resume(names[name])
        await ask(agent, f"as every cell of a notebook says {n}")
    talk.open.set()
    await made(agent)
    old = agent.session_id
    await ask(agent, "and now")
    assert agent.session_id != old
    assert len(talk.summaries) == 1


class Late(MemoryLog):
    """A log in which a conversation goes on elsewhere between being looked up and being claimed."""

    going = ""

    def claim(self, session_id: str) -> ExitStack:
        if session_id == self.going:
            self.append("f" * 32, Opened("f" * 32, parent=session_id), Asked("elsewhere"))
            self.append(session_id, Continued("f" * 32))
        return super().claim(session_id)


async def test_a_conversation_that_goes_on_elsewhere_while_it_is_resumed_does_not_fork(agents: Any) -> None:
    log = Late()
    agent = agents(Talk(), log=log)
    log.going = agent.session_id
    await ask(agent, "first")
    agent.new()
    with pytest.raises(HermesError, match="Resume it again"):
        agent.resume(log.going)
    assert agent.session_id != log.going
    assert agent.resume(log.going).session_id == "f" * 32


@pytest.mark.parametrize("left", [Asked, Compressed], ids=["by a prompt", "by hand"])
async def test_whoever_stops_listening_as_it_moves_leaves_the_tools_in_the_new_session(
    agents: Any, left: type[Any]
) -> None:
    talk = Talk()
    agent = agents(talk)
    await ready(agent, talk)
    old = agent.session_id
    async with aclosing(agent.stream("go on") if left is Asked else agent.compressing()) as events:
        async for event in events:
            if isinstance(event, left):
                break
    assert agent.session_id != old
    assert agent.tools._session.id == agent.session_id


async def test_a_turn_taken_back_after_the_conversation_moved_is_told_and_found_nowhere(agents: Any) -> None:
    talk = Talk()
    agent = agents(talk)
    await ready(agent, talk)
    await ask(agent, "a kingfisher")
    old = agent.session_id
    await agent.compress()
    assert agent.session_id != old
    assert agent.search("kingfisher").total == 1
    await ask(agent, "and more")
    assert agent.undo(2) == 2
    assert agent.search("kingfisher").total == 0
    assert all("kingfisher" not in message.text for message in agent.turn.transcript)
    for session in (old, agent.session_id):
        (told,) = conversations([agent.store.records(session)])
        assert "a kingfisher" not in [turn.asked.text for turn in (*told.inherited, *told.turns)]
    here = agent.session_id
    await ask(agent, "go on")
    agent.new()
    assert agent.resume(old).session_id == here
    assert agent.resume("last").session_id == here
