"""Other people's tools, over the Model Context Protocol.

`described` is what a person says of a server, in `file` or the settings (`roster`); `life` starts and ends one, over a
`session` by `pipes` or `web`; `offering` makes tools of what it lists, `results` of what it answers; `servers` are all.
Only `session`, `pipes`, `web` and `results` know the package `mcp`: nothing imports it before there is one to start.
"""

from hermes_kernel.world.mcp.described import Described, WrongServer
from hermes_kernel.world.mcp.servers import Servers
from hermes_kernel.world.mcp.state import State

__all__ = ["Described", "Servers", "State", "WrongServer"]
