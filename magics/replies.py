"""What ipykernel 7.3 loses: a message that comes in the moment in which it sends a reply, and whatever that page sends
after it. The cell waits for ever (ipython/ipykernel#1554; 7.4 does not lose it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class Replies:
    """Lets what reads the socket send the replies too, as long as this is on: it looks afterwards whether one came."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._kernel: Any = getattr(shell, "kernel", None)
        self._manager: Any = None
        self._socket: Any = None

    def begin(self) -> None:
        """From here on; nothing where there is nothing to mend."""
        channel = getattr(self._kernel, "shell_channel_thread", None)
        if channel is None or self._manager is not None or not hasattr(channel.manager, "_shell_socket"):
            return
        self._manager = channel.manager
        self._socket, self._manager._shell_socket = self._manager._shell_socket, self._kernel.shell_stream  # noqa: SLF001 - it has no other end

    def end(self) -> None:
        """As it was before."""
        if self._manager is not None:
            self._manager._shell_socket, self._manager = self._socket, None  # noqa: SLF001
