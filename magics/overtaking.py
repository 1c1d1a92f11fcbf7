"""What ipykernel keeps waiting while a cell awaits: messages that come on the main channel.

A page that is loaded anew in mid-turn asks there what kernel this is and what widgets it has. Until it is told, it has
no panel, and no Stop. 7.4 lets messages of widgets overtake by itself, but not the question which of them there are,
which a page asks that has waited for four seconds.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

INFORMING = frozenset({"comm_info_request", "kernel_info_request"})
OF_WIDGETS = frozenset({"comm_open", "comm_msg", "comm_close"})

BESIDE = ContextVar("BESIDE", default=False)
"""Whether a message is handled beside a cell."""


class Overtaking:
    """Lets such messages by, as long as this is on. Knows nothing of what is in them."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._kernel: Any = getattr(shell, "kernel", None)
        self._late = frozenset() if self._kernel is None else _late(self._kernel)
        self._on = False

    def begin(self) -> None:
        """From here on; nothing where there is nothing to mend."""
        if self._late and not self._on:
            self._on = True
            self._kernel.shell_main = self._heard
            self._kernel.pre_handler_hook = _not_beside(self._kernel.pre_handler_hook)
            self._kernel.post_handler_hook = _not_beside(self._kernel.post_handler_hook)
            self._listen()

    def end(self) -> None:
        """As it was before."""
        if self._on:
            self._on = False
            del self._kernel.shell_main, self._kernel.pre_handler_hook, self._kernel.post_handler_hook
            self._listen()

    def _listen(self) -> None:
        """A kernel that has not started yet looks up by itself whom it tells."""
        channel = self._kernel.shell_channel_thread
        if channel is not None and channel.is_alive():
            channel.manager.set_on_recv_callback(self._kernel.shell_main)

    async def _heard(self, subshell_id: str | None, message: Any) -> None:
        kernel = self._kernel
        ours = subshell_id is None and kernel._main_asyncio_lock.locked()  # noqa: SLF001 - a cell runs
        if ours and self._kind(message) in self._late:
            await self._pass(message)
        else:
            await type(kernel).shell_main(kernel, subshell_id, message)

    async def _pass(self, message: Any) -> None:
        """Handle it beside the cell that runs, whose own messages and status are the same afterwards; the cell may have
        ended meanwhile, and the next one begun."""
        kernel = self._kernel
        context = copy_context()
        context.run(BESIDE.set, True)
        try:
            await asyncio.create_task(kernel.dispatch_shell(message, subshell_id=None), context=context)
        finally:
            ident, cell = kernel._parent_ident["shell"], kernel.get_parent("shell")  # noqa: SLF001 - nothing tells of it
            kernel.set_parent(ident, cell, channel="shell")
            if kernel._main_asyncio_lock.locked():  # noqa: SLF001 - a cell runs
                status = {"execution_state": "busy"}  # front ends show the last status they heard
                kernel.session.send(kernel.iopub_socket, "status", status, parent=cell, ident=b"status")

    def _kind(self, message: Any) -> str:
        session = self._kernel.session
        try:
            _, frames = session.feed_identities(message, copy=False)
            header: dict[str, str] = session.deserialize(frames, content=False, copy=False)["header"]
        except Exception:  # noqa: BLE001 - the kernel says what is wrong with it, in its turn
            return ""
        return header.get("msg_type", "")


def _not_beside(hook: Callable[[], None]) -> Callable[[], None]:
    """`hook`, but not for a message beside a cell: it would have Interrupt end that message, and the cell go on. It is
    the cell that a person interrupts, as ipykernel 7.4 has it for the messages of widgets."""

    def unless_beside() -> None:
        if not BESIDE.get():
            hook()

    return unless_beside


def _late(kernel: Any) -> frozenset[str]:
    """What this kernel keeps waiting and need not; nothing before ipykernel 7, which hears in another way."""
    if not hasattr(kernel, "shell_main"):
        return frozenset()
    overtaking = "concurrent" in inspect.signature(kernel.dispatch_shell).parameters
    return INFORMING if overtaking else INFORMING | OF_WIDGETS
