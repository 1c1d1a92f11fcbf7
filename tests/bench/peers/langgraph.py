"""langgraph with langchain's agent and its client of OpenAI's wire. A turn is stopped by cancelling its task."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


class LangGraph:
    def __init__(self, url: str, tools: Any) -> None:
        model = ChatOpenAI(model="any", base_url=url, api_key="none", streaming=True, timeout=tools.patience or 600)
        called = [tool("probe")(tools.probe), tool("nap")(tools.nap)]
        self._graph = create_agent(model, called, system_prompt="You are a probe.")

    async def ask(self, prompt: str, steps: int) -> None:
        said = {"messages": [{"role": "user", "content": prompt}]}
        limit = {"recursion_limit": 2 * steps + 10}
        async for _ in self._graph.astream(said, limit, stream_mode="messages"):
            pass


made = LangGraph
