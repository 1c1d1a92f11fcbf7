"""Other people's tools, over the Model Context Protocol. Only `session`, `pipes` and `http` know the package `mcp`, and
nothing imports them before there is a server to start."""

from hermes_kernel.world.mcp.described import Described, WrongServer
from hermes_kernel.world.mcp.servers import Servers
from hermes_kernel.world.mcp.state import State

__all__ = ["Described", "Servers", "State", "WrongServer"]
