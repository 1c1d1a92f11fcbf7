"""The wire: where bytes pass between us and a server. Real, recorded or replayed, it keeps the same contract, and
nothing above it knows which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from hermes_kernel.core.trouble import Trouble
from hermes_kernel.core.windows import Window
from hermes_kernel.world.model.routes import Route


class Talk(Protocol):
    """A request that is out. ``status`` is 200 once the answer has begun, ``headers`` are the answer's; ``trouble``
    says why there is no more. Where a server refused, ``status`` stays 0 and ``refusal`` is all that it said."""

    @property
    def headers(self) -> dict[str, str]: ...

    @property
    def status(self) -> int: ...

    @property
    def trouble(self) -> Trouble | None: ...

    @property
    def refusal(self) -> str: ...

    @property
    def ended(self) -> bool:
        """Whether nothing more will come, and all that came was taken: it ends while its beginning is being shown."""
        ...

    def take(self) -> bytes:
        """What has come of the body since the last time."""
        ...

    def check(self) -> None:
        """Raise what went wrong in here that no server can do."""
        ...

    def settle(self, trouble: Trouble | None) -> None:
        """All is known that will be: ``trouble`` where we ended it for one. What was stopped by a person or by a time
        limit is never settled."""
        ...

    async def close(self) -> None:
        """Hang up. The socket is closed when this returns, or within moments if the system is slow about it."""
        ...


class Wire(Protocol):
    """What requests go out by. ``alone``: it answers without anybody, so that no key, server or network is needed."""

    alone: bool

    def warm(self) -> None:
        """Import what the first request needs: a second or two. For a thread, while a person is still typing."""
        ...

    async def open(self, route: Route, body: bytes, ring: Callable[[], None]) -> Talk:
        """Send `body`, a request for the model of `route`. `ring` is called whenever there is news. Never raises for
        anything an address, a server or a network can be."""
        ...

    def window(self, route: Route) -> Window | None:
        """What the server says of how much the model of `route` reads. For a thread, unless it is ``alone``."""
        ...

    def news(self) -> tuple[str, ...]:
        """Lines that a person should see, each once."""
        ...

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        ...

    def close(self) -> None:
        """The same from anywhere, for those of every loop. Can be called again."""
        ...
