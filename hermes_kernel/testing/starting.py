"""The kernel of a notebook under test, started once more where it died or hung before it answered: its ports are chosen
before it starts (`jupyter_client`), and any other process may take one in the second that it needs to bind them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from nbclient import NotebookClient

T = TypeVar("T")


class Client(NotebookClient):
    """nbclient's client, for a kernel of its own."""

    async def async_start_new_kernel(self, **launch: Any) -> None:
        """Start it, and have its answer."""
        try:
            await self._begin(launch)
        except RuntimeError:
            self.create_kernel_manager()
            await self._begin(launch)

    async def _begin(self, launch: dict[str, Any]) -> None:
        await super().async_start_new_kernel(**launch)
        await self.async_start_new_kernel_client()


def once_more(start: Callable[[], T]) -> Callable[[], T]:
    """A `start` of a kernel, such as nbval's, that is tried again."""

    def started() -> T:
        with suppress(RuntimeError):
            return start()
        return start()

    return started
