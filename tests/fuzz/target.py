"""What a target is, and how bytes are taken apart into what it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

TARGETS: dict[str, Target] = {}


class Target(NamedTuple):
    """``check`` raises where something does not hold of these bytes. ``seeds`` are a corpus to begin with, ``words`` what
    is put in and after one another; ``pure``: it touches no file."""

    name: str
    check: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...]
    pure: bool

    @property
    def law(self) -> str:
        """What holds, in a sentence."""
        return " ".join((self.check.__doc__ or "").split())


def target(
    *seeds: str | bytes, words: str = "", pure: bool = True
) -> Callable[[Callable[[bytes], None]], Callable[[bytes], None]]:
    """Registers a check by its name. ``words`` are those of its language, with spaces between."""

    def register(check: Callable[[bytes], None]) -> Callable[[bytes], None]:
        name = check.__name__.replace("_", "-")
        whole = tuple(seed.encode("utf-8", "surrogatepass") if isinstance(seed, str) else seed for seed in seeds)
        TARGETS[name] = Target(name, check, whole, tuple(word.encode() for word in words.split()), pure)
        return check

    return register


class Grain:
    """Bytes as a source of choices. When they are used up, every choice is the first."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, most: int) -> int:
        """From 0 to `most`, at most 255."""
        byte = self._data[self._at] if self._at < len(self._data) else 0
        self._at += 1
        return byte % (most + 1)

    def one(self, *choices: object) -> object:
        """One of at most 256."""
        return choices[self.number(len(choices) - 1)]

    def some(self, most: int = 64) -> bytes:
        """A few of the bytes."""
        size = self.number(most)
        found = self._data[self._at : self._at + size]
        self._at += size
        return found

    def rest(self) -> bytes:
        """All that is left."""
        left, self._at = self._data[self._at :], len(self._data)
        return left

    def left(self) -> bool:
        """Whether there are bytes that were not used."""
        return self._at < len(self._data)

    def pieces(self, whole: bytes) -> Iterator[bytes]:
        """`whole`, cut as the bytes say."""
        at = 0
        while at < len(whole):
            size = 1 + self.number(19) ** 2
            yield whole[at : at + size]
            at += size


def said(data: bytes) -> str:
    """The bytes as text that a decoder of ours may give: wrong ones are replaced, halves of a pair stay."""
    return data.decode("utf-8", "surrogatepass") if _is_text(data) else data.decode("utf-8", "replace")


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def one_or_two_lines(error: BaseException, most: int = 1_000) -> None:
    """What a person is told of what cannot be: short, and no other program's words about its own innards."""
    text = str(error)
    assert text.strip(), type(error)
    assert text.count("\n") <= 1, text
    assert len(text) <= most, len(text)
    for word in ("Traceback", "duckdb.", "Parser Error", "Binder Error", "Conversion Error", "object at 0x"):
        assert word not in text, text
