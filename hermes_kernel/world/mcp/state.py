"""How a server is at one moment, as a value: read by any thread while the server's own goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from hermes_kernel.world.tools.tool import Tool


class Phase(StrEnum):
    """Where a server is in its life. A failed one stays so until it is restarted by hand."""

    NOT_STARTED = "not started"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class State:
    """``tools`` are by the names that the server gives them; while it starts anew, those it had. ``left_out`` says in a
    line each which it has that cannot be offered."""

    name: str
    how: str
    phase: Phase
    why: str = ""
    tools: Mapping[str, Tool] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    @property
    def offers(self) -> bool:
        """Its tools may be shown to a model: a call would be answered, soon."""
        return self.phase in (Phase.READY, Phase.STARTING)

    @property
    def news(self) -> tuple[str, ...]:
        """What whoever watches a turn should know of it: a line each."""
        match self.phase:
            case Phase.FAILED:
                return (f"The MCP server {self.name!r} is not available: {self.why}",)
            case Phase.STARTING | Phase.NOT_STARTED if not self.tools:
                return (f"The MCP server {self.name!r} is still being started; its tools come when it is ready.",)
            case Phase.READY:
                return tuple(f"The MCP server {self.name!r}: {line}." for line in self.left_out)
        return ()
