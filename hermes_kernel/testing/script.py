"""Which step answers which request. Counts; knows neither sockets nor time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from hermes_kernel.testing.refusals import status
from hermes_kernel.testing.step import Step

Asked = TypeVar("Asked")


class Script(Generic[Asked]):
    """One step a request, in order; a step marked with `step.forever` answers all further ones. Or a function from the
    request to its step."""

    def __init__(self, steps: Step | Iterable[Step] | Callable[[Asked], Step]) -> None:
        self._choose = steps if callable(steps) else None
        self._steps = () if callable(steps) else (steps,) if isinstance(steps, Step) else tuple(steps)
        self._taken = 0

    def next(self, asked: Asked) -> Step:
        """The step for this request; a script at its end gives a 500 that says so."""
        self._taken += 1
        if self._choose:
            return self._choose(asked)
        at = self._taken - 1
        if self._steps and self._steps[-1].repeats:
            at = min(at, len(self._steps) - 1)
        return self._steps[at] if at < len(self._steps) else self._ended()

    def _ended(self) -> Step:
        told = ", ".join(step.name for step in self._steps) or "nothing"
        steps = f"its {len(self._steps)} steps ({told})"
        return status(500, f"the script is exhausted: request {self._taken} came after {steps}")
