"""An agent and its conversations: named, found, resumed by name, branched at a turn; over the disk and in memory alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hermes_kernel import Agent, HermesError
from hermes_kernel.core.events import Asked, Compressed, Final, Kept, Opened, Outcome, Replied, Started, Titled
from hermes_kernel.core.messages import Assistant, ToolCall, User
from hermes_kernel.core.turn import decide
from hermes_kernel.testing import ScriptedModel, say
from hermes_kernel.world.ports import Archive
from hermes_kernel.world.store import MemoryLog, NoSession, Store, StoreError
from tests.laws.worlds import check_whole


@pytest.fixture(params=["disk", "memory"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Archive:
    return Store(tmp_path / "home") if request.param == "disk" else MemoryLog()


@pytest.fixture
def agents(log: Archive, tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    made: list[Agent] = []

    def make(*answers: str, **options: object) -> Agent:
        made.append(Agent(ScriptedModel([say(each) for each in answers]), log=log, home=tmp_path / "home", **options))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


def words(agent: Agent) -> list[str]:
    return [message.text for message in agent.turn.transcript if isinstance(message, (User, Assistant))]


async def talked(agent: Agent, *prompts: str) -> Agent:
    for prompt in prompts:
        await agent.ask(prompt)
    return agent


async def test_a_conversation_is_gone_on_with_by_id_beginning_title_or_last(agents) -> None:
    first = await talked(agents("One."), "first")
    first.title("The heron")
    first.close()
    for name in (first.session_id, first.session_id[:6], "The heron", "last"):
        again = agents("Again.", session=name)
        assert again.session_id == first.session_id
        assert words(again) == ["first", "One."]
        again.close()


async def test_a_name_of_none_or_of_several_is_refused_with_those_that_come_close(agents) -> None:
    ids = []
    for _ in range(2):
        agent = await talked(agents("Yes."), "q")
        agent.title("Twins")
        ids.append(agent.session_id)
        agent.close()
    with pytest.raises(HermesError) as refused:
        agents(session="Twins")
    assert all(each[:8] in str(refused.value) for each in ids)
    for name in ("nosuch", ids[0][:3], ""):
        with pytest.raises(HermesError) as refused:
            agents(session=name)
        assert "\n" not in str(refused.value)


async def test_the_latest_title_is_the_title(agents, log) -> None:
    agent = await talked(agents("Yes."), "q")
    agent.title("First name")
    agent.title("  Second name ")
    assert [fact.title for fact in log.recall(agent.session_id) if isinstance(fact, Titled)] == [
        "First name",
        "Second name",
    ]
    assert log.find("Second name") == agent.session_id


async def test_a_title_given_before_anything_was_asked_is_written_with_the_first_prompt(agents, log) -> None:
    agent = agents("Yes.")
    agent.title("Early")
    assert log.latest() is None
    await agent.ask("q")
    assert [type(fact) for fact in log.recall(agent.session_id)][:3] == [Opened, Titled, Asked]
    assert log.find("Early") == agent.session_id


@pytest.mark.parametrize("title", ["", "   ", "two\nlines", "\x1b[31m", "x" * 101, "a\u202eb"])
async def test_what_is_no_title_is_refused_and_nothing_is_written(agents, log, title: str) -> None:
    agent = await talked(agents("Yes."), "q")
    before = log.recall(agent.session_id)
    with pytest.raises(HermesError, match="one line of 1 to 100 characters"):
        agent.title(title)
    assert log.recall(agent.session_id) == before


async def test_a_title_holds_no_secret(agents, log) -> None:
    agent = await talked(agents("Yes."), "q")
    agent.title("key sk-proj-abcdefghijklmnopqrstuvwxyz0123")
    assert "sk-proj" not in str(log.recall(agent.session_id))


@pytest.mark.parametrize(("at", "kept"), [(None, 3), (1, 1), (2, 2), (3, 3)])
async def test_a_branch_is_a_copy_up_to_and_including_a_turn(agents, log, at: int | None, kept: int) -> None:
    agent = await talked(agents("A1", "A2", "A3", "B"), "q1", "q2", "q3")
    parent, whole = agent.session_id, words(agent)
    agent.branch(at)
    assert words(agent) == whole[: 2 * kept]
    await agent.ask("other")
    assert words(agent) == [*whole[: 2 * kept], "other", "B"]
    opened = log.recall(agent.session_id)[0]
    assert isinstance(opened, Opened)
    assert opened.parent == parent
    assert len([fact for fact in log.recall(parent) if isinstance(fact, Asked)]) == 3


async def test_turns_are_counted_as_they_stand(agents) -> None:
    agent = await talked(agents("A1", "A2", "A3", "B", "C"), "q1", "q2", "q3")
    agent.undo(2)
    await talked(agent, "q4", "q5")
    parent = agent.session_id
    agent.branch(2)
    assert words(agent) == ["q1", "A1", "q4", "B"]
    agent.resume(parent)
    with pytest.raises(HermesError, match=r"There is no turn 4 to branch from: this session has 3 of its own\."):
        agent.branch(4)
    assert agent.session_id == parent


@pytest.mark.parametrize("at", [0, -1, 1, 7])
def test_there_is_nothing_to_branch_from_before_anything_was_asked(agents, at: int) -> None:
    with pytest.raises(HermesError, match="this session has 0 of its own"):
        agents().branch(at)


async def test_a_branch_of_a_turn_that_was_cut_off_is_whole(agents, log) -> None:
    asked = ToolCall("c", "python", "{}")
    log.append("cut", Opened("cut"), Asked("q1"), Replied("", (asked,)), Started("c"), Asked("q2"), Replied("A2"))
    agent = agents(session="cut")
    for at in (1, 2):
        agent.resume("cut")
        agent.branch(at)
        check_whole(agent.turn.transcript)
        assert decide(agent.turn) is None


async def test_turns_before_a_compression_can_be_branched_from_but_not_undone(agents, log) -> None:
    log.append("long", Opened("long"), *(fact for n in range(3) for fact in (Asked(f"q{n}"), Replied(f"A{n}"))))
    shorter = (User("q0"), Assistant("A0"), User("[2 messages are left out]"), User("q2"), Assistant("A2"))
    log.append("long", Compressed(shorter, 9, 5), Final(Outcome.COMPLETED, "A2"))
    agent = agents(session="long")
    agent.branch(2)
    assert words(agent) == ["q0", "A0", "q1", "A1"]
    agent.resume("long")
    assert agent.undo(3) == 1
    agent.branch(1)
    assert words(agent) == ["q0", "A0"]


async def test_a_session_of_a_model_that_is_gone_goes_on_with_the_one_there_is(agents, log) -> None:
    log.append(
        "old", Opened("old", "Old words.", "a-model-of-yesterday", notebook="elsewhere.ipynb"), Asked("q"), Replied("A")
    )
    agent = agents("Still here.", session="old")
    assert (await agent.ask("Are you there?")).text == "Still here."
    assert words(agent) == ["q", "A", "Are you there?", "Still here."]


async def test_an_agent_searches_what_it_and_others_said(agents) -> None:
    one = await talked(agents("The avocet stands in the pond."), "Where?")
    other = await talked(agents("No bird."), "And the heron?")
    assert [hit.passage.session for hit in other.search("avocet").hits] == [one.session_id]
    assert [hit.passage.session for hit in one.search('"the heron"').hits] == [other.session_id]
    with pytest.raises(HermesError, match="role") as refused:
        one.search("role:king")
    assert "\n" not in str(refused.value)
    one.undo()
    assert other.search("avocet").total == 0


class Vanishing(MemoryLog):
    """A log in which a session goes between its being found and its being read."""

    def recall(self, session_id: str) -> list[Kept]:
        if session_id == "gone":
            raise NoSession(session_id)
        return super().recall(session_id)


async def test_a_conversation_that_could_not_be_read_leaves_the_one_that_was_to_this_process(tmp_path: Path) -> None:
    log = Vanishing()
    log.append("gone", Opened("gone"), Asked("here for a moment"))
    with closing(Agent(ScriptedModel([say("One."), say("Two.")]), log=log, home=tmp_path)) as agent:
        await talked(agent, "first")
        was = agent.session_id
        with pytest.raises(HermesError, match="no session 'gone'"):
            agent.resume("gone")
        assert agent.session_id == was
        with pytest.raises(StoreError, match="is in use"):
            log.claim(was)
        log.claim("gone").close()
        await talked(agent, "second")
    log.claim(was).close()
