"""What a person may have meant by a word, and how a word of theirs is quoted."""

from __future__ import annotations

from collections.abc import Iterable

from hermes_kernel.core.text import brief, scrub

FAR = 3  # changes of a letter from which on two words are not alike


def quoted(text: str) -> str:
    """``text`` as it may stand in a message: short, on one line, readable, and never taken for a valid form."""
    plain = "".join(letter if letter.isprintable() else "\ufffd" for letter in scrub(" ".join(text.split())))
    return f"“{brief(plain.replace('`', chr(39)), 60)}”"


def closest(word: str, words: Iterable[str]) -> str:
    """The one of ``words`` that is most like ``word``; empty where none is."""
    if len(word) > 40:
        return ""
    apart, near = min(((_apart(word, each), each) for each in words), default=(FAR, ""))
    return near if apart < min(FAR, len(word)) else ""


def _apart(one: str, two: str) -> int:
    """How many letters must be put in, left out or changed."""
    row = list(range(len(two) + 1))
    for at, letter in enumerate(one, 1):
        above, row = row, [at]
        for to, other in enumerate(two, 1):
            row.append(min(above[to] + 1, row[-1] + 1, above[to - 1] + (letter != other)))
    return row[-1]
