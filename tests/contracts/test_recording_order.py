"""What goes on beside something else took another time when it was recorded than it takes when it is replayed."""

from __future__ import annotations

import pytest

from hermes_kernel import Agent
from hermes_kernel.core.commands import Compress
from hermes_kernel.core.messages import User
from hermes_kernel.settings import Settings
from hermes_kernel.testing import Server, late, say
from hermes_kernel.world.compressing.measures import measured
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


@pytest.mark.parametrize("tokens", [1_100, 5_300, 70_000])
def test_what_a_summariser_is_asked_is_the_same_where_a_path_is_longer(tokens):
    """A replay elsewhere has other paths in its results, and is to find the summary that was recorded."""
    sizes = {
        (each.window, each.most, each.keep.tokens, each.words((User("word " * words),)))
        for longer, words in ((0, 2_200), (tokens // 50, 2_210))
        if (each := measured(Compress((), tokens=tokens + longer), Settings()))
    }
    assert len(sizes) == 1
