"""Plain HTTP and JSON: what the wire itself costs. It runs no tool but `probe`."""

from __future__ import annotations

import json
from typing import Any

import httpx2

NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
TOOLS = [{"type": "function", "function": {"name": "probe", "description": "Probe a number.", "parameters": NUMBER}}]


class Floor:
    def __init__(self, url: str, tools: Any) -> None:
        self._client = httpx2.AsyncClient(timeout=None)
        self._url = f"{url}/chat/completions"
        self._probe = tools.probe

    async def ask(self, prompt: str, steps: int) -> None:
        messages: list[Any] = [
            {"role": "system", "content": "You are a probe."},
            {"role": "user", "content": prompt},
        ]
        while True:
            body = {"model": "any", "messages": messages, "tools": TOOLS, "stream": True}
            text, call = "", {"id": "", "name": "", "arguments": ""}
            async with self._client.stream("POST", self._url, json=body) as response:
                async for line in response.aiter_lines():
                    if not line.startswith("data: {"):
                        continue
                    for choice in json.loads(line[6:])["choices"]:
                        delta = choice["delta"]
                        text += delta.get("content") or ""
                        for piece in delta.get("tool_calls") or ():
                            call["id"] += piece.get("id") or ""
                            call["name"] += piece["function"].get("name") or ""
                            call["arguments"] += piece["function"].get("arguments") or ""
            if not call["name"]:
                return
            asked = [{"id": call["id"], "type": "function", "function": call}]
            messages.append({"role": "assistant", "content": text, "tool_calls": asked})
            content = self._probe(**json.loads(call["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


made = Floor
