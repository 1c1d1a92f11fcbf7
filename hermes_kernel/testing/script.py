"""Which step answers which request, and whether all came as it was written. Counts; knows neither sockets nor time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from hermes_kernel.core.faults import Fault
from hermes_kernel.core.text import brief
from hermes_kernel.testing.refusals import status
from hermes_kernel.testing.step import Step

Asked = TypeVar("Asked")


class NotFollowed(AssertionError):
    """Steps were left over, or there were too few."""


class Script(Generic[Asked]):
    """One step a request, in order; a step marked with `step.forever` answers all further ones. Or a function from the
    request to its step.

    Raises:
        TypeError: it holds something that is no step.
    """

    def __init__(self, steps: Step | Iterable[Step] | Callable[[Asked], Step]) -> None:
        self._choose = steps if callable(steps) else None
        self._steps = () if callable(steps) else _steps(steps)
        self._endless = callable(steps) or any(step.repeats for step in self._steps[-1:])
        self._taken = 0
        self._error: Exception | None = None

    def next(self, asked: Asked) -> Step:
        """The step for this request; one that refuses, in words that say so, where the script has come to its end.

        Raises:
            Exception: what the script's function raised.
        """
        self._taken += 1
        if self._choose:
            return self._chosen(self._choose, asked)
        at = self._taken - 1
        if self._endless:
            at = min(at, len(self._steps) - 1)
        return self._steps[at] if at < len(self._steps) else _refusal(self._ended())

    def answer(self, asked: Asked) -> Step:
        """The same, as the step of a server, which raises nothing: it refuses."""
        try:
            return self.next(asked)
        except Exception as error:  # noqa: BLE001 - a person's function; `check` raises what it raised
            return _refusal(f"the script failed: {type(error).__name__}: {brief(str(error), 200)}")

    def check(self) -> None:
        """Nothing, where every request found its step and every step its request (one marked `forever` needs none).

        Raises:
            NotFollowed: steps were left over, or there were too few.
            Exception: what the script's function raised.
        """
        __tracebackhide__ = True
        if self._error is not None:
            raise self._error
        if self._taken > len(self._steps) and not self._endless:
            raise NotFollowed(f"{self._ended()}. End it in forever(…) where more may come.")
        if left := [step.name for step in self._steps[self._taken :] if not step.repeats]:
            came = "1 request" if self._taken == 1 else f"{self._taken} requests"
            raise NotFollowed(f"the script was not used up: {', '.join(left)} never came, after {came}")

    def _chosen(self, choose: Callable[[Asked], Step], asked: Asked) -> Step:
        try:
            return _step(choose(asked), "what the script's function returned")
        except Exception as error:
            self._error = self._error or error
            raise

    def _ended(self) -> str:
        told = ", ".join(step.name for step in self._steps) or "nothing"
        steps = f"its {len(self._steps)} steps ({told})"
        return f"the script is exhausted: request {self._taken} came after {steps}"


def _steps(steps: object) -> tuple[Step, ...]:
    if isinstance(steps, Step):
        return (steps,)
    if isinstance(steps, str | bytes) or not isinstance(steps, Iterable):
        raise TypeError(f"a script is made of steps, such as say('Hello.'), not of {brief(repr(steps), 60)}")
    return tuple(_step(each, f"step {at}") for at, each in enumerate(steps, 1))


def _step(given: object, what: str) -> Step:
    if not isinstance(given, Step):
        raise TypeError(f"a script is made of steps, such as say('Hello.'); {what} is {brief(repr(given), 60)}")
    return given


def _refusal(words: str) -> Step:
    """A status that says nothing of the world, so that nothing is taken for a fault of it and waited for."""
    return status(418, words, fault=Fault.FORMAT_ERROR)
