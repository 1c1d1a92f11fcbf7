"""openai-agents: a streamed run over chat completions. A turn is stopped by what its result offers, or by its task."""

from __future__ import annotations

from typing import Any

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(disabled=True)


class OpenAIAgents:
    def __init__(self, url: str, tools: Any) -> None:
        model = OpenAIChatCompletionsModel(
            "any", AsyncOpenAI(base_url=url, api_key="none", timeout=tools.patience or 600)
        )
        called = [function_tool(tools.probe, name_override="probe"), function_tool(tools.nap, name_override="nap")]
        self._agent = Agent("probe", instructions="You are a probe.", model=model, tools=called)

    async def ask(self, prompt: str, steps: int) -> None:
        result = Runner.run_streamed(self._agent, prompt, max_turns=steps + 2)
        async for _ in result.stream_events():
            pass


made = OpenAIAgents
