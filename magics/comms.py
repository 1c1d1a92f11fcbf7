"""What ipykernel 7.4 forgets: a status for comm messages that are handled while a cell runs, for which a control waits
before it sends its next value. Without it a slider that is touched while a cell awaits something sends one value, and
never another. (7.3 handles them on a thread of their own, and tells.) The same on such a thread, where 7.4 has one
message overtake another. And what both forget: that it was a cell before this one whose value could not be displayed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from magics.overtaking import OF_WIDGETS, Overtaking

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

Handler = Callable[[Any, Any, dict[str, Any]], Any]
_overtakes: ContextVar[bool] = ContextVar("overtakes", default=False)
"""What is handled overtakes something: ipykernel tells no status of it."""


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
        self._kernel.dispatch_shell = self._dispatched
        handlers = self._kernel.shell_handlers
        self._before = {kind: handlers[kind] for kind in OF_WIDGETS if kind in handlers}
        handlers.update({kind: self._told(handler) for kind, handler in self._before.items()})
        self._shell.events.register("pre_execute", self._opened)
        self._shell.events.register("post_execute", self._closed)

    def end(self) -> None:
        """As it was before."""
        if not self._before:
            return
        self._overtaking.end()
        del self._kernel.dispatch_shell
        self._kernel.shell_handlers.update(self._before)
        self._before = {}
        self._shell.events.unregister("pre_execute", self._opened)
        self._shell.events.unregister("post_execute", self._closed)

    def _opened(self) -> None:
        self._cell = self._kernel.get_parent("shell")
        self._shell._last_traceback_during_displayhook = False  # type: ignore[attr-defined] # noqa: SLF001 - ipykernel's own name

    def _closed(self) -> None:
        self._cell = None

    async def _dispatched(self, *message: Any, **how: Any) -> None:
        mark = _overtakes.set(bool(how.get("concurrent")))
        try:
            await type(self._kernel).dispatch_shell(self._kernel, *message, **how)
        finally:
            _overtakes.reset(mark)

    def _told(self, handler: Handler) -> Handler:
        def handled(stream: Any, ident: Any, message: dict[str, Any]) -> Any:
            try:
                return handler(stream, ident, message)
            finally:
                if _overtakes.get():
                    self._say("busy", message)
                    self._say("idle", message)
                    if self._cell is not None:
                        self._say("busy", self._cell)  # front ends show the last status they heard: it still runs

        return handled

    def _say(self, status: str, parent: dict[str, Any]) -> None:
        kernel = self._kernel
        kernel.session.send(kernel.iopub_socket, "status", {"execution_state": status}, parent=parent, ident=b"status")
