"""`HermesError`: what faces show of work that could not be done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hermes_kernel.core.safe import clean


class HermesError(Exception):
    """Work that could not be done, in one or two lines that a person can act on. They move no cursor, though a file, a
    server or a model may have said some of the words."""

    def __str__(self) -> str:
        return clean(super().__str__())

    def _render_traceback_(self) -> list[str]:
        return [f"HermesError: {self}"]


def in_a_line(error: BaseException, line: str) -> None:
    """Have a notebook show `error` as this line. It stays what it is for whoever knows it by its class."""
    shown: Any = error
    shown._render_traceback_ = lambda: [line]


def line_of(error: BaseException) -> str:
    """The line as which a notebook shows `error`; ``""`` where it shows a traceback."""
    render = getattr(error, "_render_traceback_", None)
    return "\n".join(render()) if render else ""


@contextmanager
def explained() -> Iterator[None]:
    """What a store, a search or a toolbox has to say, as the error that faces show."""
    from hermes_kernel.core.search.query import QueryError
    from hermes_kernel.world.store.places import NoSession, StoreError
    from hermes_kernel.world.tools.registry import NoTool

    try:
        yield
    except StoreError as error:
        raise HermesError(str(error)) from error
    except (NoSession, NoTool, QueryError) as error:
        raise HermesError(str(error)) from None
