"""The kernel `hermes`: IPython's own, in which a cell is a prompt. It turns prompts into ``%%hermes`` cells and leaves
the rest to ``ipykernel`` and to the extension `magics`, which it loads by name and never imports.
"""

from __future__ import annotations

import re
import sys
import threading
from contextlib import suppress
from typing import Any

from ipykernel.ipkernel import IPythonKernel

from hermes_kernel import __version__
from hermes_kernel.cell import as_ipython, is_prompt

CELL = re.compile(r"\s*%%hermes(?![\w?])")
LEFT = "get_ipython().magics_manager.registry['HermesMagics'].leave()"
"""What runs in place of a cell that was interrupted before."""
SETTLE = 0.5  # seconds after the start before imports for the first turn begin: a front end comes first


class HermesKernel(IPythonKernel):
    """``ipykernel``'s kernel with prompts for cells."""

    implementation = "hermes"
    implementation_version = __version__
    shell: Any
    session: Any

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._turns = 0
        self._closing = self._preparing = self._pressed = False
        self._agent: Any = object()  # which is `hermes`: nothing that a person has, at first
        self.shell.extension_manager.load_extension("magics")

    @property
    def banner(self) -> str:  # type: ignore[override]
        """What a console says first."""
        return f"Hermes Kernel {__version__}: a cell is a prompt, %%py runs Python, %hermes help says more.\n"

    @property
    def magics(self) -> Any:
        """The extension's face, by the name it has in IPython. Unloaded, it comes back: no cell runs without it."""
        registry = self.shell.magics_manager.registry
        if "HermesMagics" not in registry:
            self.shell.extension_manager.load_extension("magics")
        return registry["HermesMagics"]

    @property
    def desk(self) -> Any:
        """Where the magics keep this notebook's agent."""
        return self.magics.desk

    def start(self) -> None:
        """Begin to serve, and get ready for the first turn meanwhile."""
        super().start()
        preload = threading.Thread(target=self.magics.preload, name="hermes-preload", daemon=True)
        self.io_loop.call_later(SETTLE, preload.start)

    # --- cells

    async def execute_request(self, stream: Any, ident: Any, parent: Any) -> None:
        """A cell is prepared from the moment a front end hears of it."""
        self._preparing, self._pressed = True, False
        try:
            await super().execute_request(stream, ident, parent)
        finally:
            self._preparing = False

    async def do_execute(self, code: str, silent: bool, store_history: bool = True, *more: Any, **options: Any) -> Any:  # noqa: FBT001, FBT002 - ipykernel's signature
        """Run a cell. What front ends run behind a person's back (silent, or kept out of the history) is Python; in a
        spec, whose cells a checker runs so, only what is silent."""
        try:
            cell = self._prepared(code, silent=silent, kept=store_history)
        finally:
            self._preparing = False
        if self._pressed:
            cell, store_history = LEFT, False
        try:
            return await super().do_execute(cell, silent, store_history, *more, **options)
        finally:
            self._closing = True

    def _prepared(self, code: str, *, silent: bool, kept: bool) -> str:
        """`code` as IPython runs it. With the first cell come the agent and its imports."""
        self._introduce()
        behind = silent or not (kept or self._is_spec())
        cell = code if behind else as_ipython(code, self.shell.user_ns)
        self._turns, self._closing = self.desk.turns, False
        return cell

    def is_prompt(self, code: str) -> bool:
        """Whether this cell is for the agent."""
        return is_prompt(code, self.shell.user_ns)

    async def do_is_complete(self, code: str) -> Any:
        """A prompt is complete as it stands."""
        if self.is_prompt(code):
            return {"status": "complete"}
        return super().do_is_complete(code)

    async def do_complete(self, code: str, cursor_pos: int | None) -> dict[str, Any]:
        """What the magics know of a prompt and its options; as ever in the rest."""
        before = code if cursor_pos is None else code[:cursor_pos]
        prompt = self.is_prompt(code)
        if not (prompt or CELL.match(code)):
            reply: dict[str, Any] = super().do_complete(code, cursor_pos)
            return reply
        begun, words = self.magics.completed(before, prompt=prompt)
        start = len(before) - len(begun)
        found = {"matches": list(words), "cursor_start": start, "cursor_end": len(before)}
        return {"status": "ok", "metadata": {}, **found}

    async def do_shutdown(self, restart: bool) -> dict[str, Any]:  # noqa: FBT001 - ipykernel's signature
        """Stop what runs, then go."""
        with suppress(Exception):
            self.magics.close()
        reply: dict[str, Any] = super().do_shutdown(restart)
        return reply

    def _is_spec(self) -> bool:
        with suppress(ValueError):  # a wrong setting is said when a prompt needs it
            return bool(self.desk.settings.spec)
        return False

    def _introduce(self) -> None:
        """`hermes` is the agent, from the first cell on, unless a person calls something else so. A wrong setting is
        said when a prompt needs it."""
        if self.shell.user_ns.get("hermes", self._agent) is self._agent:
            with suppress(Exception):
                self._agent = self.desk.agent
                self.shell.push({"hermes": self._agent}, interactive=False)

    # --- stopping

    async def interrupt_request(self, stream: Any, ident: Any, parent: Any) -> None:
        """On the control thread. A turn is stopped by its latch, which wakes the loop; a signal is sent only to code
        that blocks it, for in a cell that is prepared or about to reply it would cost the reply."""
        if self._preparing:
            self._pressed = True
            self.session.send(stream, "interrupt_reply", {"status": "ok"}, parent, ident=ident)
            return
        desk = self.desk
        desk.stop()
        over = self._closing or (desk.turns > self._turns and not desk.running)
        if over or (desk.running and not _main_is_in_user_code()):
            self.session.send(stream, "interrupt_reply", {"status": "ok"}, parent, ident=ident)
            return
        await super().interrupt_request(stream, ident, parent)


def _main_is_in_user_code() -> bool:
    """The main thread runs code of a person or a model, which only a signal can end."""
    from hermes_kernel.world.tools.usercode import inside_user_code

    frames = sys._current_frames()  # noqa: SLF001 - the one way to see another thread's frame
    return inside_user_code(frames.get(threading.main_thread().ident or 0))


if __name__ == "__main__":
    import os
    import traceback

    from ipykernel.kernelapp import IPKernelApp
    from zmq import ZMQError

    from hermes_kernel.kernel import HermesKernel as Kernel  # the class by the name others know it by, not __main__'s
    from hermes_kernel.world.kernels import PACED

    IPKernelApp.outstream_class.default_value = PACED
    try:
        IPKernelApp.launch_instance(kernel_class=Kernel)
    except ZMQError:
        # One of its ports is taken. Jupyter starts a dead kernel again with others, and this one would not die by
        # itself: `IPKernelApp.close` waits for the socket that could not be bound (ipykernel 7.4).
        traceback.print_exc()
        os._exit(1)
