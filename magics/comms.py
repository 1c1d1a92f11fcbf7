"""What ipykernel 7.4 forgets: a status for comm messages that are handled while a cell runs.

A control in a page waits for ``idle`` before it sends its next value. Without it a slider that is touched while a cell
awaits something sends one value, and never another. (7.3 handles them on a thread of their own, and tells.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from magics.overtaking import Overtaking

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

MESSAGES = ("comm_open", "comm_msg", "comm_close")
Handler = Callable[[Any, Any, dict[str, Any]], Any]


class Comms:
    """Tells front ends that such a message is done, as long as this is on. Knows nothing of what is in it."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._kernel: Any = getattr(shell, "kernel", None)
        self._cell: dict[str, Any] | None = None
        self._before: dict[str, Handler] = {}
        self._overtaking = Overtaking(shell)

    def begin(self) -> None:
        """From here on; nothing where there is no kernel."""
        if self._kernel is None or self._before:
            return
        self._overtaking.begin()
        handlers = self._kernel.shell_handlers
        self._before = {kind: handlers[kind] for kind in MESSAGES if kind in handlers}
        handlers.update({kind: self._told(handler) for kind, handler in self._before.items()})
        self._shell.events.register("pre_execute", self._opened)
        self._shell.events.register("post_execute", self._closed)

    def end(self) -> None:
        """As it was before."""
        if not self._before:
            return
        self._overtaking.end()
        self._kernel.shell_handlers.update(self._before)
        self._before = {}
        self._shell.events.unregister("pre_execute", self._opened)
        self._shell.events.unregister("post_execute", self._closed)

    def _opened(self) -> None:
        self._cell = self._kernel.get_parent("shell")

    def _closed(self) -> None:
        self._cell = None

    def _told(self, handler: Handler) -> Handler:
        def handled(stream: Any, ident: Any, message: dict[str, Any]) -> Any:
            """On the main thread a comm message that comes while a cell runs has overtaken it."""
            cell = self._cell if threading.current_thread() is threading.main_thread() else None
            try:
                return handler(stream, ident, message)
            finally:
                if cell is not None:
                    self._say("busy", message)
                    self._say("idle", message)
                    self._say("busy", cell)  # front ends show the last status they heard, and the cell still runs

        return handled

    def _say(self, status: str, parent: dict[str, Any]) -> None:
        kernel = self._kernel
        kernel.session.send(kernel.iopub_socket, "status", {"execution_state": status}, parent=parent, ident=b"status")
