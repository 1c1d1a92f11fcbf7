"""What goes on beside something else took another time when it was recorded than it takes when it is replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_kernel import Agent
from hermes_kernel.testing import Server, call, late, say, status
from tests.contracts.recorded import KEY
from tests.contracts.talks import RECORD


@pytest.fixture
def agents(tmp_path):
    """Agents that are closed at the end."""
    made = []

    def make(**options):
        made.append(
            Agent(**({"home": tmp_path / f"home-{len(made)}", "learning": False, "approvals": "deny"} | options))
        )
        return made[-1]

    yield make
    for agent in made:
        agent.close()


async def test_a_summary_made_beside_the_turns_has_its_place_in_a_replay_however_long_it_took(agents, tmp_path):
    file = str(tmp_path / "x")

    def script(request):
        asked = str(request.messages[-1]["content"])
        return say("word " * 250) if asked.startswith("Prompt") else late(say(RECORD), 0.1)

    with Server(script) as server:
        asked = {"model": "m", "base_url": server.url, "api_key": KEY, "context_window": 4000}
        agent = agents(record=file, protect_last=2, **asked)
        for n in range(8):
            await agent.ask(f"Prompt {n}")
        agent.close()
    again = agents(replay=file, protect_last=2)
    for n in range(8):
        await again.ask(f"Prompt {n}")
    assert again.recording.missed is None
    assert again.recording.unused == ()


def where(n: int) -> str:
    """Where it is."""
    return f"{n}: {Path.cwd()}"


async def test_a_summary_of_what_overflowed_a_window_nobody_knows_is_found_where_paths_are_longer(
    agents, tmp_path, monkeypatch
):
    def script(request):
        if "tools" not in request.body:
            return say(RECORD)
        said = [str(message["content"]) for message in request.messages]
        if said[-1].startswith("Last") and len(said) > 12:
            return status(413, "Request Entity Too Large")
        return say("word " * 150) if said[-1][0].isdigit() or said[-1].startswith("Last") else call("where", {"n": 1})

    asked = [*[f"Prompt {n} " + "long " * 400 for n in range(6)], "Last"]
    file, told = str(tmp_path / "x"), []
    with Server(script) as server:
        here = {"model": "m", "base_url": server.url, "api_key": KEY, "record": file}
        for name, how in (("a", here), ("a longer name " * 3, {"replay": file})):
            (tmp_path / name).mkdir()
            monkeypatch.chdir(tmp_path / name)
            agent = agents(tools=[where], protect_last=2, **how)
            turns = [await agent.ask(each) for each in asked]
            told.append([(turn.outcome, turn.text, turn.reason) for turn in turns])
            agent.close()
    assert told[0] == told[1]
