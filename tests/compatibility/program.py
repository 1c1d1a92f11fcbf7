"""A program that a person might write: everything public that has a type, as a strict checker of theirs sees it."""
# pyright: strict

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

import hermes_kernel
import magics
from hermes_kernel import Agent, HermesError, Image, Outcome, Result, Risk, Settings, Task, Tool, ToolError, Turn, tool
from hermes_kernel.core.events import CallDelta, Event, Observed, Replied, TextDelta
from hermes_kernel.core.messages import Usage
from hermes_kernel.testing import FastClock, Notebook, Request, ScriptedModel, Server, Step, call, run_notebook, say
from hermes_kernel.testing.factories import Agents, Servers


@tool
def price(sku: str) -> float:
    """Look up a price."""
    if not sku:
        raise ToolError("which one?")
    return {"A1": 3.0}[sku]


def red(arguments: Mapping[str, Any]) -> Risk | None:
    """Whether a person is to be asked."""
    return Risk("red", "It cannot be washed off.") if arguments["colour"] == "red" else None


@tool(name="paint", dangerous=red)
async def painted(colour: str) -> Result:
    """Paint it."""
    return Result(f"It is {colour}.")


def told(event: Event) -> str:
    """What a person is shown of an event."""
    match event:
        case TextDelta(text=text):
            return text
        case CallDelta():
            return "…"
        case Observed(text=text):
            return text
        case Replied(usage=usage):
            return f"{usage.calls} calls"
        case _:
            return ""


async def asked(agent: Agent, prompt: str) -> Turn:
    """A turn, told as it goes on."""
    async with aclosing(agent.stream(prompt, budget=3, images=[Image("image/png", "aGk=")])) as events:
        async for event in events:
            print(told(event), end="")
    return agent.turn


def main(model: ScriptedModel) -> tuple[str, Outcome | None, Usage]:
    """Ask once, in whichever way."""
    settings = Settings.load(max_iterations=3)
    agent = Agent(model, [price, painted], settings=settings, clock=FastClock())
    found: Tool | None = agent.tools.get("price")
    try:
        turn = asyncio.run(asked(agent, found.name if found else ""))
        again: Turn = agent.ask_sync("Again.")
        asyncio.run(agent.delegate([Task("Look.")]))
    except HermesError as error:
        return str(error), None, agent.usage
    finally:
        agent.close()
    return again.text, turn.outcome, turn.usage


def clerk(request: Request) -> Step:
    """A script that is a function."""
    return call("price", {"sku": "A1"}) if request.tools else say("Three euros.")


def test_it(hermes_agent: Agents, hermes_server: Servers, hermes_home: Path) -> None:
    """As fixtures give it."""
    server: Server = hermes_server(clerk)
    text: str = hermes_agent().ask_sync("What does A1 cost?").text
    assert (text, [each.tools for each in server.requests]) == ("Three euros.", [])


def shown(path: Path, shell: InteractiveShell) -> str:
    """A notebook, run; and the magics in a shell of one's own."""
    magics.load_ipython_extension(shell)
    hermes_kernel.load_ipython_extension(shell)
    ran: Notebook = run_notebook(path, seconds=60)
    return ran.text
