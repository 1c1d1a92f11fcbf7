"""Which command has a panel, and for which of its words. Each is imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from magics.commands.table import Shown
from magics.frontend import Frontend, frontend
from magics.painting.stopping import widgets_there

if TYPE_CHECKING:
    from magics.desk import Desk

PANELS = frozenset({"skills", "sessions", "memory", "jobs", "runs", "loops", "budget", "usage", "timeline", "curator"})
"""Commands with a module of their name here: ``face(desk, rest, shown)`` in it gives what opens the panel, or None
where the words that follow the command ask for something else."""


Face = Callable[[], None]


@dataclass(frozen=True, slots=True, repr=False)
class Faced:
    """What a command gives where it has a panel. It is the document's equal for a program; displayed, it opens."""

    shown: Shown
    face: Face

    @property
    def value(self) -> Any:
        """What a program wants of it."""
        return self.shown.value

    def plain(self) -> Shown:
        """As text only, without a panel."""
        return self.shown.plain()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.shown)  # type: ignore[call-overload, no-any-return]

    def __len__(self) -> int:
        return len(self.shown)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "shown"), name)

    def __repr__(self) -> str:
        return repr(self.shown)

    def _ipython_display_(self) -> None:
        self.face()


def faced(desk: Desk, name: str, rest: str, shown: Shown) -> Shown:
    """`shown`, with a panel where there is one and somebody looks at a notebook."""
    if name not in PANELS or desk.steady or frontend(desk.shell) is not Frontend.NOTEBOOK or widgets_there() is None:
        return shown
    face: Face | None = import_module(f"magics.panels.{name}").face(desk, rest, shown)
    return shown if face is None else Faced(shown, face)
