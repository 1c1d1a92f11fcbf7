"""pydantic-ai: an agent whose events are heard as they come. A turn is stopped by cancelling its task."""

from __future__ import annotations

from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import UsageLimits


class PydanticAI:
    def __init__(self, url: str, tools: Any) -> None:
        model = OpenAIChatModel("any", provider=OpenAIProvider(base_url=url, api_key="none"))
        settings = ModelSettings(timeout=tools.patience or 600)
        self._agent = Agent(model, instructions="You are a probe.", model_settings=settings)
        self._agent.tool_plain(tools.probe, name="probe")
        self._agent.tool_plain(tools.nap, name="nap")

    async def ask(self, prompt: str, steps: int) -> None:
        await self._agent.run(
            prompt, usage_limits=UsageLimits(request_limit=steps + 2), event_stream_handler=self._heard
        )

    @staticmethod
    async def _heard(_: Any, events: Any) -> None:
        async for _event in events:
            pass


made = PydanticAI
