"""How much of what one piece of code shows a cell is given: a notebook that keeps it can still be opened. Code that a
person runs is theirs to bound; a model prints a table of millions of rows and does not look at the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WORDS = 500_000  # characters that are printed, a progress bar of minutes among them, and of the text of displays
RICH = 10_000_000  # of pictures, markup and data: a plot has 80,000, one that moves five million with its program
PLAIN = "text/plain"
MORE = "\n[… more was shown than a cell is given …]\n"


class Room:
    """What is left of it. Filling it up costs whoever shows nothing but what does not fit."""

    def __init__(self) -> None:
        self._words, self._rich = WORDS, RICH

    def words(self, text: str) -> str:
        """Of `text` as much as fits; where the rest begins, a word on it, once."""
        left, self._words = self._words, max(self._words - len(text), -1)
        return text if self._words >= 0 else text[:left] + MORE if left >= 0 else ""

    def rich(self, bundle: Mapping[str, Any]) -> dict[str, Any]:
        """A MIME bundle; one that does not fit as its text, with a word on the others."""
        others = {mime: content for mime, content in bundle.items() if mime != PLAIN}
        size = characters(others)
        if size <= self._rich:
            self._rich -= size
            return dict(bundle)
        said = f"[{', '.join(map(str, others))}: {size:,} characters, more than a cell is given]"
        text = bundle.get(PLAIN)
        return {PLAIN: f"{text}\n{said}" if isinstance(text, str) and text else said}

    def plain(self, bundle: Mapping[str, Any]) -> dict[str, Any]:
        """A MIME bundle with as much of its text as fits."""
        text = bundle.get(PLAIN)
        return {**bundle, PLAIN: self.words(text)} if isinstance(text, str) else dict(bundle)


def characters(value: Any) -> int:
    """How many there are in `value`, about."""
    match value:
        case str() | bytes():
            return len(value)
        case Mapping():
            return sum(map(characters, value.values()))
        case list() | tuple():
            return sum(map(characters, value))
    return 8
