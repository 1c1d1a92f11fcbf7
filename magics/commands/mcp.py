"""``%hermes mcp``: the servers whose tools are offered. List, add, remove, start again, look at what one has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.world.mcp import Servers, State, WrongServer
from hermes_kernel.world.mcp.adding import USAGE, adding
from hermes_kernel.world.mcp.state import Phase
from magics.commands.table import Table
from magics.options import split

if TYPE_CHECKING:
    from magics.desk import Desk

COLUMNS = ("server", "how", "state", "tools", "why")
NONE = (
    f"There are no MCP servers. {USAGE}; `$HERMES_HOME/mcp.json` holds them, and kernel.toml may: [mcp_servers.NAME]."
)
MEND = "`%hermes mcp restart NAME` starts a server again, `%hermes mcp remove NAME` takes it away."
ACTIONS = ("add", "remove", "restart", "tools NAME")


def mcp(desk: Desk, rest: str) -> Table:
    """What follows ``mcp``: nothing, or what is to be done with a server.

    Raises:
        HermesError: it cannot be done, or is nothing that can be done.
    """
    action, _, words = rest.partition(" ")
    servers, name = desk.agent.servers, words.strip()
    if action in ("remove", "restart", "tools") and not name:
        there = ", ".join(state.name for state in servers.states()) or "none"
        raise HermesError(f"mcp {action} needs the NAME of a server. There are: {there}.")
    try:
        match action:
            case "" | "list":
                return _listed(servers)
            case "add":
                return _added(servers, name)
            case "remove":
                servers.remove(name)
                return _listed(servers)
            case "restart":
                servers.restart(name)
                servers.settle()
                return _listed(servers)
            case "tools":
                return _tools(servers, name)
    except WrongServer as error:
        raise HermesError(str(error)) from None
    raise HermesError(f"mcp takes nothing or {', '.join(ACTIONS)}, not {brief(action, 40)!r}.")


def _listed(servers: Servers) -> Table:
    states = servers.states()
    if not states:
        return Table((), (), states, NONE)
    columns = COLUMNS if any(_why(each) for each in states) else COLUMNS[:-1]
    rows = tuple(_row(each)[: len(columns)] for each in states)
    return Table(columns, rows, states, MEND if any(each.phase is Phase.FAILED for each in states) else "")


def _row(state: State) -> tuple[str | int, ...]:
    return state.name, state.how, str(state.phase), len(state.tools), _why(state)


def _why(state: State) -> str:
    return "; ".join(filter(None, (state.why, *state.left_out)))


def _added(servers: Servers, line: str) -> Table:
    servers.add(*adding(split(line)))
    servers.settle()
    return _listed(servers)


def _tools(servers: Servers, name: str) -> Table:
    servers.begin()
    servers.settle()
    state = servers.state(name)
    rows = tuple((tool.name, brief(tool.description, 120)) for tool in state.tools.values())
    note = "; ".join(filter(None, (str(state.phase), _why(state))))
    return Table(("tool", "what its server says of it") if rows else (), rows, state, note)
