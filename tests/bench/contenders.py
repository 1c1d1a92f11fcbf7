"""Who is measured: this package, a bare loop over the ``openai`` client as its manual shows it, and plain HTTP with JSON.

Run as ``python -m tests.bench.contenders CONTENDER SCRIPT URL N`` it plays once to warm up and once for the record, and
prints one JSON line: seconds of CPU and of wall time.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

Play = Callable[[int], Awaitable[None]]

PROBE: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "probe",
        "description": "Probe a number.",
        "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    },
}
NAP = {"type": "function", "function": {**PROBE["function"], "name": "nap"}}
SYSTEM = {"role": "system", "content": "You are a probe."}


def probed(number: int) -> str:
    return f"result {number}: " + "x" * 200


async def nap(number: int) -> str:
    await asyncio.sleep(0.2)
    return f"rested {number}"


def nap_in_thread(number: int) -> str:
    time.sleep(0.2)
    return f"rested {number}"


# --- ours -------------------------------------------------------------------------------------------------------------


def ours(url: str, script: str, *, store: bool, sync: bool = False) -> Play:
    from hermes_kernel import Agent, tool
    from hermes_kernel.world.store.memory import MemoryLog

    @tool(name="probe")
    def probe(number: int) -> str:
        """Probe a number."""
        return probed(number)

    napping = tool(name="nap")(nap_in_thread if sync else nap)
    home = Path(tempfile.mkdtemp())
    agent = Agent("any", [probe, napping], base_url=url, api_key="none", home=home, log=None if store else MemoryLog())

    async def play(n: int) -> None:
        agent.new()
        async for _ in agent.stream(f"{script} {n}", tools=["probe", "nap"], budget=n + 1):
            pass
        assert agent.turn.outcome == "completed", agent.turn.reason

    return play


# --- a bare loop over the openai client -------------------------------------------------------------------------------


def bare(url: str, script: str, *, sync: bool = False) -> Play:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)

    async def run(call: dict[str, Any]) -> dict[str, str]:
        arguments = json.loads(call["arguments"])
        if call["name"] == "nap":
            content = await (asyncio.to_thread(nap_in_thread, **arguments) if sync else nap(**arguments))
        else:
            content = probed(**arguments)
        return {"role": "tool", "tool_call_id": call["id"], "content": content}

    async def play(n: int) -> None:
        messages: list[Any] = [SYSTEM, {"role": "user", "content": f"{script} {n}"}]
        while True:
            stream = await client.chat.completions.create(
                model="any",
                messages=messages,
                tools=[PROBE, NAP],
                stream=True,  # type: ignore[list-item]
            )
            text, wanted = "", {}
            async for chunk in stream:
                for choice in chunk.choices:
                    text += choice.delta.content or ""
                    for piece in choice.delta.tool_calls or ():
                        held = wanted.setdefault(piece.index, {"id": "", "name": "", "arguments": ""})
                        held["id"] += piece.id or ""
                        held["name"] += piece.function.name or ""
                        held["arguments"] += piece.function.arguments or ""
            if not wanted:
                return
            asked = [{"id": c["id"], "type": "function", "function": c} for c in wanted.values()]
            messages.append({"role": "assistant", "content": text, "tool_calls": asked})
            messages += await asyncio.gather(*(run(call) for call in wanted.values()))

    return play


# --- plain HTTP -------------------------------------------------------------------------------------------------------


def floor(url: str, script: str) -> Play:
    import httpx2

    client = httpx2.AsyncClient(timeout=None)

    async def play(n: int) -> None:
        messages: list[Any] = [SYSTEM, {"role": "user", "content": f"{script} {n}"}]
        while True:
            body = {"model": "any", "messages": messages, "tools": [PROBE, NAP], "stream": True}
            text, call = "", {"id": "", "name": "", "arguments": ""}
            async with client.stream("POST", f"{url}/chat/completions", json=body) as response:
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
            content = probed(**json.loads(call["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})

    return play


CONTENDERS: dict[str, Callable[[str, str], Play]] = {
    "ours": lambda url, script: ours(url, script, store=True),
    "ours, no store": lambda url, script: ours(url, script, store=False),
    "ours, sync tools": lambda url, script: ours(url, script, store=True, sync=True),
    "bare openai loop": bare,
    "bare openai loop, sync tools": lambda url, script: bare(url, script, sync=True),
    "httpx + json": floor,
}


def main(contender: str, script: str, url: str, n: int) -> None:
    play = CONTENDERS[contender](url, script)

    async def both() -> dict[str, float]:
        await play(min(n, 3))
        cpu, wall = time.process_time(), time.perf_counter()
        await play(n)
        return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}

    figures = asyncio.run(both())
    figures["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
