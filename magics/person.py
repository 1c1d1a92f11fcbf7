"""The person at the notebook, asked without freezing it: by buttons, over stdin, at a terminal, or not at all.

A question that is given up leaves nothing behind that could take the next answer.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hermes_kernel.view.turn.asking import chosen, written
from hermes_kernel.world.clock import SystemClock
from magics.frontend import Frontend, allows_stdin, frontend
from magics.painting.stopping import widgets_there

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from hermes_kernel.core.question import Question
    from hermes_kernel.world.ports import Clock
    from magics.painting.stage import Stage

MOMENT = 1.0  # seconds: who is called off so shortly before the end is called off by it
LOOK = 0.05  # seconds between two looks for an answer on stdin
FAREWELL = "\x04"  # what a front end sends for end of file


class NotebookPerson:
    """`ports.Person` of one shell. ``stage`` is the turn's, while it is shown: questions stand on it."""

    def __init__(self, shell: InteractiveShell, clock: Clock | None = None) -> None:
        self._shell = shell
        self._clock = clock or SystemClock()
        self._stdin = _Stdin(shell)
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
        if where is Frontend.NOTEBOOK and widgets_there():
            from magics.painting.question import Asked

            return await Asked(self._shell, question, self.stage, self._clock).answer()
        text, end = f"{written(question)}\n> ", self._clock.elapsed() + question.seconds
        try:
            said = await (_at_terminal(text) if where is Frontend.TERMINAL else self._stdin.ask(text))
        except asyncio.CancelledError:
            if question.seconds and end - self._clock.elapsed() < MOMENT:
                self._stdin.owed += 1
            raise
        return None if said is None else chosen(question, said)


class _Stdin:
    """`input` that can be given up: the kernel's own messages, but the event loop goes on meanwhile.

    A console goes on showing a question whose time is over, and sends its answer all the same, perhaps when another
    is asked. Pages say which request they answer, consoles do not: as many of theirs are dropped as are ``owed``."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._kernel: Any = getattr(shell, "kernel", None)
        self.owed = 0

    async def ask(self, prompt: str) -> str | None:
        """What is typed; None for an end of file."""
        kernel = self._kernel
        while self._reply() is not None:
            self.owed = max(self.owed - 1, 0)
        ident = kernel._parent_ident["shell"]  # noqa: SLF001 - the address that ipykernel's own `input` answers to
        content, parent = {"prompt": prompt, "password": False}, kernel.get_parent("shell")
        sent = kernel.session.send(kernel.stdin_socket, "input_request", content, parent, ident=ident)
        while True:
            reply = self._reply()
            if reply is None:
                await asyncio.sleep(LOOK)
            elif self._answers(reply, sent["header"]["msg_id"]):
                value = str(reply["content"]["value"])
                return None if value == FAREWELL else value

    def _answers(self, reply: Any, request: str) -> bool:
        named = (reply.get("parent_header") or {}).get("msg_id")
        if named or not self.owed:
            return named in (request, None)
        self.owed -= 1
        return False

    def _reply(self) -> Any:
        """What has come, if anything has."""
        import zmq

        with suppress(zmq.ZMQError):
            return self._kernel.session.recv(self._kernel.stdin_socket, mode=zmq.NOBLOCK)[1]
        return None


async def _at_terminal(prompt: str) -> str | None:
    """Prompt-toolkit's prompt, which ends when its task is cancelled."""
    from prompt_toolkit import PromptSession

    try:
        said: str = await PromptSession().prompt_async(prompt, handle_sigint=False)
    except (EOFError, KeyboardInterrupt):
        return None
    return said
