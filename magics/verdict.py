"""What a finished turn means for its cell: an answer, one readable line or an interrupt; and how it is displayed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from hermes_kernel.core.events import Outcome
from hermes_kernel.core.turn import Turn
from hermes_kernel.errors import HermesError, explained, in_a_line, line_of
from hermes_kernel.settings import SettingsError
from hermes_kernel.view import clean, sanitise

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

T = TypeVar("T")

BEFORE = "Interrupted before the model was asked."


def show_turns(shell: InteractiveShell) -> None:
    """A turn that is displayed shows its answer, made harmless."""
    formatter: Any = shell.display_formatter
    formatter.formatters["text/markdown"].for_type(Turn, lambda turn: sanitise(turn.text))
    formatter.formatters["text/plain"].for_type(Turn, lambda turn, printer, _: printer.text(_words(turn)))


def _words(turn: Turn) -> str:
    return clean(turn.text) or f"[{turn.outcome or 'no turn yet'}]"


def judged(turn: Turn) -> Turn:
    """`turn`, where it did its work or used up its budget.

    Raises:
        HermesError: it has no answer. One line says why.
        KeyboardInterrupt: a person stopped it.
    """
    match turn.outcome:
        case Outcome.COMPLETED | Outcome.BUDGET_EXHAUSTED:
            return turn
        case Outcome.INTERRUPTED if turn.stopped == "person":
            raise stopped("Interrupted. The conversation is kept; the next prompt goes on from here.")
        case _:
            ended = turn.outcome.words if turn.outcome else "unfinished"
            raise HermesError(turn.reason or f"The turn ended without an answer: {ended}.")


def cancelled(error: asyncio.CancelledError) -> KeyboardInterrupt:
    """The same, of a cell that was cancelled, with what `error` has to say of what is left."""
    return stopped(line_of(error) or BEFORE)


def stopped(line: str) -> KeyboardInterrupt:
    """An interrupt that is shown as one line. A plain `KeyboardInterrupt`, for front ends know it by name."""
    error = KeyboardInterrupt(line)
    in_a_line(error, line)
    return error


def heard(write: Callable[[], T]) -> T:
    """What `write` gives, while an interrupt is heard: views run the code of variables, and files may be far away.

    Raises:
        KeyboardInterrupt: it was interrupted.
    """
    from hermes_kernel.world.interrupt import pressing
    from hermes_kernel.world.stop import Stop
    from hermes_kernel.world.tools.usercode import call_user, inside_user_code

    press = Stop()
    try:
        with pressing(press.press, inside_user_code):
            written = call_user(write)
    except KeyboardInterrupt:
        raise stopped(BEFORE) from None
    if press.by:
        raise stopped(BEFORE)
    return written


@contextmanager
def readable() -> Iterator[None]:
    """What a store, a search or a setting has to say is shown like everything else a person can mend."""
    try:
        with explained():
            yield
    except SettingsError as error:
        raise HermesError(str(error)) from None
