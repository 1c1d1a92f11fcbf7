"""A loop over the `openai` client, as its manual shows it."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import Any

from openai import AsyncOpenAI

NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": name, "description": said, "parameters": NUMBER}}
    for name, said in (("probe", "Probe a number."), ("nap", "Rest."))
]


class Bare:
    def __init__(self, url: str, tools: Any) -> None:
        self._client = AsyncOpenAI(base_url=url, api_key="none", timeout=tools.patience or 600)
        self._tools = {"probe": tools.probe, "nap": tools.nap}

    async def ask(self, prompt: str, steps: int) -> None:
        messages: list[Any] = [
            {"role": "system", "content": "You are a probe."},
            {"role": "user", "content": prompt},
        ]
        while True:
            stream = await self._client.chat.completions.create(
                model="any", messages=messages, tools=TOOLS, stream=True
            )
            text, wanted = "", dict[int, dict[str, str]]()
            async for chunk in stream:
                for choice in chunk.choices:
                    text += choice.delta.content or ""
                    for piece in choice.delta.tool_calls or ():
                        held = wanted.setdefault(piece.index, {"id": "", "name": "", "arguments": ""})
                        held["id"] += piece.id or ""
                        if piece.function:
                            held["name"] += piece.function.name or ""
                            held["arguments"] += piece.function.arguments or ""
            if not wanted:
                return
            asked = [{"id": call["id"], "type": "function", "function": call} for call in wanted.values()]
            messages.append({"role": "assistant", "content": text, "tool_calls": asked})
            messages += await asyncio.gather(*(self._run(call) for call in wanted.values()))

    async def _run(self, call: dict[str, str]) -> dict[str, str]:
        run, arguments = self._tools[call["name"]], json.loads(call["arguments"])
        if inspect.iscoroutinefunction(run):
            content = await run(**arguments)
        elif call["name"] == "probe":
            content = run(**arguments)
        else:
            content = await asyncio.to_thread(run, **arguments)
        return {"role": "tool", "tool_call_id": call["id"], "content": content}


made = Bare
