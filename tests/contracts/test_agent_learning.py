"""What an agent has learnt, as its model is told of it: in the prompt of the next session, in a note before the next
prompt, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel import Agent
from hermes_kernel.core.messages import User
from hermes_kernel.learning.skills.marks import Marks
from hermes_kernel.testing import ScriptedModel, call, forever, say

SKILL = "---\nname: {name}\ndescription: {said}\n---\n\n# {name}\n\nDo it in this order.\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def agents(home: Path) -> Iterator[Any]:
    made: list[Agent] = []

    def make(*steps: Any, **options: Any) -> Agent:
        made.append(Agent(ScriptedModel([*steps, forever(say("Fine."))]), home=home, **options))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


def put(home: Path, name: str, said: str) -> None:
    folder = home / "skills" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(SKILL.format(name=name, said=said), encoding="utf-8")


def heard(agent: Agent) -> str:
    """All that the last prompt said to the model."""
    return next(message.text for message in reversed(agent.turn.transcript) if isinstance(message, User))


async def test_what_is_written_in_a_session_is_read_by_the_next_one(agents: Any) -> None:
    agent = agents(
        call("memory", {"action": "add", "target": "user", "content": "Likes figures in euros."}), say("Kept.")
    )
    turn = await agent.ask("I want euros.")
    assert "euros" not in turn.system
    await agent.ask("And now?")
    assert "euros" not in agent.turn.system
    agent.new()
    assert "Likes figures in euros." in agent.turn.system


async def test_a_skill_that_came_changed_or_went_is_told_before_the_next_prompt_and_once(
    agents: Any, home: Path
) -> None:
    put(home, "tidy-sales", "Tidy the sales table.")
    agent = agents()
    assert "tidy-sales: Tidy the sales table." in agent.turn.system
    await agent.ask("one")
    assert heard(agent) == "one"
    put(home, "tidy-sales", "Tidy the sales table, refunds too.")
    put(home, "monthly-report", "Write the monthly report.")
    await agent.ask("two")
    assert "changed: tidy-sales: Tidy the sales table, refunds too." in heard(agent)
    assert "new: monthly-report: Write the monthly report." in heard(agent)
    assert heard(agent).endswith("\n\ntwo")
    await agent.ask("three")
    assert heard(agent) == "three"
    (home / "skills" / "monthly-report" / "SKILL.md").unlink()
    (home / "skills" / "monthly-report").rmdir()
    await agent.ask("four")
    assert "changed: tidy-sales" in heard(agent)
    assert "monthly-report" not in heard(agent)


async def test_a_note_is_no_words_of_the_person(agents: Any, home: Path) -> None:
    agent = agents()
    put(home, "tidy-sales", "Tidy the sales table.")
    await agent.ask("What sold best?")
    assert "tidy-sales" in heard(agent)
    assert agent.turn.events[0].text == "What sold best?"
    assert not agent.search("tidy-sales").threads
    (row,) = agent.store.sessions(10)
    assert row.title == "What sold best?"
    await agent.retry()
    assert agent.turn.events[0].text == "What sold best?"
    assert heard(agent).count("What sold best?") == 1


async def test_a_skill_that_is_switched_off_is_not_offered_from_the_next_prompt_on(agents: Any, home: Path) -> None:
    put(home, "tidy-sales", "Tidy the sales table.")
    agent = agents(call("skill_view", {"name": "tidy-sales"}), say("I cannot."))
    Marks(home / "skills").change("tidy-sales", disabled=True)
    turn = await agent.ask("Tidy it.")
    assert "gone: tidy-sales" in heard(agent)
    assert "disabled" in turn.messages[2].text
    agent.new()
    assert "tidy-sales" not in agent.turn.system


async def test_a_session_is_resumed_with_the_prompt_it_began_with(agents: Any, home: Path) -> None:
    put(home, "tidy-sales", "Tidy the sales table.")
    agent = agents()
    await agent.ask("one")
    system, session = agent.turn.system, agent.session_id
    agent.close()
    put(home, "monthly-report", "Write the monthly report.")
    later = agents(session=session)
    assert later.turn.system == system
    await later.ask("two")
    assert "new: monthly-report" in heard(later)
