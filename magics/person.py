"""The person at the notebook, asked without freezing it: by buttons, over stdin, at a terminal, or not at all.

A question that is given up leaves nothing behind that could take the next answer.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hermes_kernel.view.asking import chosen, written
from hermes_kernel.world.clock import SystemClock
from magics.frontend import Frontend, allows_stdin, frontend

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from hermes_kernel.core.question import Question
    from hermes_kernel.world.ports import Clock
    from magics.stage import Stage

LOOK = 0.05  # seconds between two looks for an answer on stdin
FAREWELL = "\x04"  # what a front end sends for end of file


class NotebookPerson:
    """`ports.Person` of one shell. ``stage`` is the turn's, while it is shown: questions stand on it."""

    def __init__(self, shell: InteractiveShell, clock: Clock | None = None) -> None:
        self._shell = shell
        self._clock = clock or SystemClock()
        self.stage: Stage | None = None

    @property
    def present(self) -> bool:
        """Somebody can answer. False in headless runs, which let no ``input()`` through."""
        match frontend(self._shell):
            case Frontend.HEADLESS:
                return False
            case Frontend.TERMINAL:
                return True
            case Frontend.NOTEBOOK | Frontend.CONSOLE:
                return allows_stdin(self._shell)

    async def ask(self, question: Question) -> str | None:
        """The answer, one of the choices or the person's own words; None when nobody answers."""
        if not self.present:
            return None
        where = frontend(self._shell)
        if where is Frontend.NOTEBOOK and find_spec("ipywidgets"):
            from magics.question import Asked

            return await Asked(self._shell, question, self.stage, self._clock).answer()
        text = f"{written(question)}\n> "
        kernel: Any = getattr(self._shell, "kernel", None)
        said = await (_at_terminal(text) if where is Frontend.TERMINAL else _over_stdin(kernel, text))
        return None if said is None else chosen(question, said)


async def _over_stdin(kernel: Any, prompt: str) -> str | None:
    """`input` that can be given up: the kernel's own messages, but the event loop goes on meanwhile."""
    import zmq

    socket, session = kernel.stdin_socket, kernel.session
    with suppress(zmq.ZMQError):
        while True:
            socket.recv_multipart(zmq.NOBLOCK)
    ident = kernel._parent_ident["shell"]  # noqa: SLF001 - the address that ipykernel's own `input` answers to
    content = {"prompt": prompt, "password": False}
    session.send(socket, "input_request", content, kernel.get_parent("shell"), ident=ident)
    while True:
        reply = None
        with suppress(zmq.ZMQError):
            _, reply = session.recv(socket, mode=zmq.NOBLOCK)
        if reply is not None:
            value = str(reply["content"]["value"])
            return None if value == FAREWELL else value
        await asyncio.sleep(LOOK)


async def _at_terminal(prompt: str) -> str | None:
    """Prompt-toolkit's prompt, which ends when its task is cancelled."""
    from prompt_toolkit import PromptSession

    try:
        said: str = await PromptSession().prompt_async(prompt, handle_sigint=False)
    except (EOFError, KeyboardInterrupt):
        return None
    return said
