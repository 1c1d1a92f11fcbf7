"""Agents that are recorded and replayed, and what they are asked."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from hermes_kernel import Agent, tool
from hermes_kernel.testing import Server, call, say
from tests.contracts.recorded import KEY

ASKED: list[str] = []


@tool
def price(sku: str) -> str:
    """Look up a price."""
    ASKED.append(sku)
    return f"{sku}: 3 EUR"


@pytest.fixture
def file(tmp_path):
    ASKED.clear()
    return tmp_path / "x.cassette.jsonl"


@pytest.fixture
def agents(tmp_path):
    """``agents(record=file)``: agents that are closed at the end."""
    made = []

    def make(**options):
        given = {"home": tmp_path / f"home-{len(made)}", "tools": [price], "learning": False, "approvals": "deny"}
        named = {name: str(options[name]) for name in ("record", "replay") if name in options}
        made.append(Agent(**(given | options | named)))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


@contextmanager
def serving(agents, file, *script, **options):
    """An agent that is recorded, and what it asks."""
    with Server(script[0] if len(script) == 1 and callable(script[0]) else script) as server:
        yield agents(model="scripted", base_url=server.url, api_key=KEY, record=file, **options)


async def seen(agent, prompt="What does A1 cost?", **options):
    return [event async for event in agent.stream(prompt, **options)]


LOOKED_UP = (call("price", {"sku": "A1"}, text="Let me look."), say("It costs three euros."))
