"""The few words around what was found, with the finds marked. Offsets are into the message's own text."""

from __future__ import annotations

from hermes_kernel.core.search.found import Snippet
from hermes_kernel.core.search.query import Query

WIDTH = 160  # characters, about two lines of a terminal


def snippet(text: str, query: Query, width: int = WIDTH) -> Snippet:
    """The stretch of ``text`` that shows the most different terms, white space drawn together, ``…`` where it is cut.
    A text of megabytes costs no more than reading it once."""
    raise NotImplementedError
