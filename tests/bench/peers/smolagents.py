"""smolagents: its agent of tool calls, which is synchronous. A turn is stopped by its `interrupt`, between two steps."""

from __future__ import annotations

import asyncio
from typing import Any

from smolagents import OpenAIServerModel, ToolCallingAgent, tool


class SmolAgents:
    def __init__(self, url: str, tools: Any) -> None:
        model = OpenAIServerModel("any", api_base=url, api_key="none", client_kwargs={"timeout": tools.patience or 600})
        if asyncio.iscoroutinefunction(tools.nap):
            raise NotImplementedError("its tools are synchronous")
        called = [_named("probe", tools.probe), _named("nap", tools.nap)]
        self._agent = ToolCallingAgent(called, model, stream_outputs=True, verbosity_level=-1)

    async def ask(self, prompt: str, steps: int) -> None:
        await asyncio.to_thread(self._ask, prompt, steps)

    def stop(self) -> None:
        self._agent.interrupt()

    def _ask(self, prompt: str, steps: int) -> None:
        for _ in self._agent.run(prompt, max_steps=steps + 2, stream=True):
            pass


def _named(name: str, function: Any) -> Any:
    made = tool(function)
    made.name = name
    return made


made = SmolAgents
