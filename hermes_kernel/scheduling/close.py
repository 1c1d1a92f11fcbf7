"""What comes close to a name that there is none of."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from hermes_kernel.core.text import brief

CLOSE, SHOWN = 5, 8
CHARS = 60  # of a name


def close_to(name: str, known: Iterable[str], nothing: str = "There are none.") -> str:
    """A sentence: the names that come close, else some that there are, else `nothing`."""
    names = sorted(known)
    lower = name.lower()
    close = difflib.get_close_matches(lower, names, CLOSE) or [
        each for each in names if lower and lower in each.lower()
    ]
    some = close[:CLOSE] or names[:SHOWN]
    if not some:
        return nothing
    more = ", …" if not close and len(names) > len(some) else ""
    listed = ", ".join(brief(each, CHARS) for each in some)
    return f"{'Close to it' if close else 'There are'}: {listed}{more}."
