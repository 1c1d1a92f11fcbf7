"""The person at the notebook, asked without freezing it: by buttons, over stdin, at a terminal, or not at all.

A question that is given up leaves nothing behind that could take the next answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hermes_kernel.view import clean
from magics.frontend import Frontend, allows_stdin, frontend

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

LOOK = 0.05  # seconds between two looks for an answer on stdin
FAREWELL = "\x04"  # what a front end sends for end of file


class NotebookPerson:
    """`ports.Person` of one shell."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell

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

    async def ask(self, question: str, choices: Sequence[str] = ()) -> str | None:
        """The answer, one of `choices` or the person's own words; None when nobody answers."""
        if not self.present:
            return None
        where = frontend(self._shell)
        if where is Frontend.NOTEBOOK and find_spec("ipywidgets"):
            from magics.question import Question

            return await Question(self._shell, question, choices).answer()
        text = _written(question, choices)
        kernel: Any = getattr(self._shell, "kernel", None)
        said = await (_at_terminal(text) if where is Frontend.TERMINAL else _over_stdin(kernel, text))
        return None if said is None else _chosen(said, choices)


def _written(question: str, choices: Sequence[str]) -> str:
    """A question in text, its choices numbered."""
    lines = [clean(question), *(f"  {n}. {clean(choice)}" for n, choice in enumerate(choices, 1))]
    return "\n".join([*lines, "> "])


def _chosen(said: str, choices: Sequence[str]) -> str:
    """A number stands for its choice; anything else for itself."""
    words = said.strip()
    if words.isdecimal() and 1 <= int(words) <= len(choices):
        return choices[int(words) - 1]
    return next((choice for choice in choices if choice.casefold() == words.casefold()), words)


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
