"""This package: the whole agent, its store on disk, a tool as anyone writes it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hermes_kernel import Agent, tool

WINDOW = 10_000_000


class Ours:
    def __init__(self, url: str, tools: Any) -> None:
        called = [tool(name="probe")(tools.probe), tool(name="nap")(tools.nap)]
        home = Path(tempfile.mkdtemp())
        self._agent = Agent("any", called, base_url=url, api_key="none", home=home, context_window=WINDOW)

    async def ask(self, prompt: str, steps: int) -> None:
        self._agent.new()
        async for _ in self._agent.stream(prompt, tools=["probe", "nap"], budget=steps + 1):
            pass
        assert self._agent.turn.outcome == "completed", self._agent.turn.reason


made = Ours
