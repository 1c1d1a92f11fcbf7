"""How a map is to be run, in a person's words: refused in a line where it cannot be."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from typing import Any

from hermes_kernel.checks import limited, titled
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.mapping.asking import Given
from hermes_kernel.mapping.outcome import RowOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How a map is to be run; see `Mapper.stream`."""

    executor: Executor | None = None
    workers: int | None = None
    budget: int | None = None
    row_budget: int | None = None
    tools: Sequence[Given] = ()
    name: str = ""
    again: Collection[str] = ()
    timeout: float | None = None
    system: str | None = None

    def __post_init__(self) -> None:
        for what in ("workers", "budget", "row_budget"):
            value = getattr(self, what)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise HermesError(f"{what} cannot be {brief(repr(value), 40)}: it must be a whole number from 1.")
        object.__setattr__(self, "timeout", limited(self.timeout))
        again = (self.again,) if isinstance(self.again, str) else self.again
        if wrong := [each for each in again if each not in set(RowOutcome)]:
            raise HermesError(f"again cannot be {brief(repr(wrong[0]), 40)}: it must be among {', '.join(RowOutcome)}.")
        object.__setattr__(self, "again", frozenset(map(str, again)))
        object.__setattr__(self, "tools", (self.tools,) if isinstance(self.tools, str) else tuple(self.tools))
        object.__setattr__(self, "name", titled(self.name) if self.name else "")


def wished(wishes: Mapping[str, Any]) -> Wishes:
    """The wishes of a map, as a person gave them.

    Raises:
        HermesError: there is no such wish, or it has a value that it cannot have.
    """
    known = [field.name for field in fields(Wishes)]
    if unknown := next((name for name in wishes if name not in known), ""):
        close = difflib.get_close_matches(unknown, known, 1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise HermesError(f"A map has no argument {brief(unknown, 40)}.{hint} There are: {', '.join(known)}.")
    executor = wishes.get("executor")
    if not isinstance(executor, Executor | None):
        raise HermesError(
            f"executor cannot be a {brief(type(executor).__name__, 40)}: it must be a concurrent.futures.Executor; "
            "of a Dask client, `client.get_executor()`."
        )
    return Wishes(**wishes)
