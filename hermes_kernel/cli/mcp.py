"""``hermes-kernel mcp``: the MCP servers of this home. What is added here is offered by every notebook's next turn."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.cli.opened import Commands, command
from hermes_kernel.cli.trouble import Failure, Misuse

if TYPE_CHECKING:
    from hermes_kernel.world.mcp import Servers, State

ACTIONS = ("list", "add", "remove", "tools")
ABOUT = "[--json] for list and tools; NAME for remove and tools; for add, see docs/mcp.md: NAME COMMAND…|URL"


def add_mcp(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its arguments. What follows ``add NAME`` is a command with options of its own, so all of it is
    taken as it is."""
    made = command(commands, "mcp", "list, add and remove MCP servers, and look at what tools one has")
    made.add_argument("action", choices=ACTIONS, nargs="?", default="list", help="what to do (default: list)")
    made.add_argument("words", nargs=argparse.REMAINDER, metavar="…", help=ABOUT)
    made.set_defaults(do=mcp)


def mcp(options: argparse.Namespace) -> int:
    """Do what is asked for; `add` and `remove` change ``mcp.json`` alone.

    Raises:
        Misuse: it was said wrongly.
        Failure: the server that was asked for its tools does not run.
    """
    from hermes_kernel.settings import Settings
    from hermes_kernel.world.clock import SystemClock
    from hermes_kernel.world.mcp import Servers, WrongServer

    settings = Settings.load()
    servers = Servers(settings.home, settings.mcp_servers, Path.cwd, SystemClock())
    try:
        _do(options.action, options.words, servers)
    except WrongServer as error:
        raise Misuse(str(error)) from None
    finally:
        servers.close()
    return 0


def _do(action: str, words: list[str], servers: Servers) -> None:
    from hermes_kernel.world.mcp.adding import adding

    named = [word for word in words if word != "--json"]
    as_json = len(named) < len(words)
    match action:
        case "add":
            servers.roster.add(*adding(words))
        case "remove":
            servers.roster.remove(_name(named))
        case "tools":
            _tools(servers, _name(named), as_json=as_json)
        case _:
            _show(servers.states(), as_json=as_json)


def _name(words: list[str]) -> str:
    if len(words) != 1:
        raise Misuse("it takes the name of one server")
    return words[0]


def _show(states: tuple[State, ...], *, as_json: bool) -> None:
    from hermes_kernel.view.columns import aligned

    if as_json:
        rows = [{"name": each.name, "how": each.how, "trouble": each.why} for each in states]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    elif states:
        print("\n".join(aligned(("server", "how", ""), tuple((each.name, each.how, each.why) for each in states))))


def _tools(servers: Servers, name: str, *, as_json: bool) -> None:
    from hermes_kernel.view.columns import aligned
    from hermes_kernel.world.mcp.servers import START_SECONDS
    from hermes_kernel.world.mcp.state import Phase

    servers.begin()
    servers.settle(START_SECONDS)
    state = servers.state(name)
    if state.phase is not Phase.READY:
        raise Failure(f"{name}, {state.phase}: {state.why or 'it has not answered yet'}")
    tools = [(tool.name, " ".join(tool.description.split())) for tool in state.tools.values()]
    if as_json:
        print(json.dumps([{"name": name, "description": said} for name, said in tools], ensure_ascii=False, indent=2))
        return
    print("\n".join((*aligned(("tool", ""), tuple((name, said[:100]) for name, said in tools)), *state.left_out)))
