"""``%hermes loops``: the eight loops, what each wrote, and what has read it since."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.learning.loops import COLUMNS, LoopRow, cells
from hermes_kernel.core.safe import NO_MATH
from hermes_kernel.view import escape
from hermes_kernel.view.kept.spread import spread, thing
from hermes_kernel.view.markup import typed
from magics.commands.standing import nothing
from magics.commands.table import Shown, Table
from magics.frontend import Frontend, frontend
from magics.painting.stopping import widgets_there

if TYPE_CHECKING:
    from magics.desk import Desk

NOTE = (
    "Each slower loop writes what a faster one reads. `%hermes usage` has what they cost, `%hermes show` what they did."
)


def loops(desk: Desk, rest: str) -> Shown:
    """The table; its value is a tuple of eight `core.learning.loops.LoopRow`. Where a panel shows it, it is read when
    it is wanted: after thousands of runs that takes seconds.

    Raises:
        HermesError: something follows, or the store cannot be read.
    """
    nothing("loops", rest)
    seen = frontend(desk.shell) is Frontend.NOTEBOOK and widgets_there() and not (desk.settings.plain or desk.steady)
    return Awaited(lambda: read(desk)) if seen else read(desk)


def read(desk: Desk) -> Loops:
    """The eight as they are now, from any thread.

    Raises:
        StoreError: the store cannot be read.
    """
    from hermes_kernel.learning import loops

    rows = loops.loops(desk.store, desk.settings, loops.standing(desk.agent.learning))
    return Loops(COLUMNS, tuple(map(cells, rows)), rows, NOTE)


class Loops(Table):
    """The eight. As HTML each has its facts beside one another where there is room, for eight columns seldom have."""

    def _repr_html_(self) -> str:
        note = f'<div class="{NO_MATH}">{typed(escape(self.note))}</div>'
        return spread(thing(named(row), row.timescale, facts(row)) for row in self.value) + note


def named(row: LoopRow) -> str:
    """What a loop is called, behind its number."""
    return f"{row.number} {row.loop}"


def facts(row: LoopRow) -> tuple[tuple[str, str], ...]:
    """What there is to say of a loop."""
    _, _, _, last, next_run, wrote, reads, cost = cells(row)
    return (("last", last), ("next", next_run), ("wrote", wrote), ("read", reads), ("cost", cost))


class Awaited:
    """A table that is made when somebody first wants something of it."""

    def __init__(self, make: Callable[[], Table]) -> None:
        self._make = make
        self._made: Table | None = None
        self._one = threading.Lock()

    @property
    def made(self) -> bool:
        """It is there already."""
        return self._made is not None

    def table(self) -> Table:
        """What it is, however long that takes. Raises what making it raises."""
        with self._one:
            if self._made is None:
                self._made = self._make()
            return self._made

    @property
    def value(self) -> Any:
        """What a program wants of it."""
        return self.table().value

    def plain(self) -> Shown:
        """As text only."""
        return self.table().plain()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.table())

    def __len__(self) -> int:
        return len(self.table())

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
