"""Text as units that can be found: folded words, single characters of scripts without spaces, parts of identifiers.

One rule for what is stored and what is asked for. Folding keeps no case and no accent; punctuation only separates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit and where it stands in the text. ``parts`` are what a person may also look for: ``read_csv`` is one
    unit with the parts ``read`` and ``csv``; ``fooBar`` is the unit ``foobar`` with the parts ``foo`` and ``bar``."""

    text: str
    start: int
    end: int
    parts: tuple[str, ...] = ()


def units(text: str) -> Iterator[Unit]:
    """The units of ``text``, in order, with offsets into ``unicodedata.normalize("NFC", text)``."""
    raise NotImplementedError


def row(text: str) -> tuple[str, int]:
    """The units as one searchable line, and how many there are: ``" a  b  c "``, then a newline and the parts written
    likewise. A unit is found as ``" b "``, a phrase as ``" a  b "``, a beginning as ``" b"``; no phrase crosses the
    newline."""
    raise NotImplementedError
