"""How much a model can read and write: what servers say of it, and what is known of the well-known ones.

The numbers come from outside: what is no plausible number of tokens is taken as not said.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """``tokens`` a model can read; ``output`` it writes at most, 0: not known. ``source`` is where that was learnt:
    ``setting``, ``overflow``, ``truncation``, ``models``, ``table`` or ``local``."""

    tokens: int
    output: int = 0
    source: str = ""


def window_in(answer: object, model: str) -> Window | None:
    """What a server's ``/models`` answer says of `model`; None where it says nothing that can be."""
    return None


def known(model: str) -> Window | None:
    """The window of a well-known model, by its name with or without a provider before it and a date behind."""
    return None
