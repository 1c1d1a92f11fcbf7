"""What a person may have meant by a word, how a word of theirs is quoted, and what is amiss with a part of a text."""

from __future__ import annotations

from collections.abc import Iterable

from hermes_kernel.core.text import brief, scrub

FAR = 3  # letters that must change before two words are no longer alike
QUOTED = 60  # characters of a person's text in a message


class Amiss(Exception):
    """``what`` is wrong with the part ``written`` of a text, in whose place ``instead`` could stand."""

    def __init__(self, what: str, written: str, *instead: str) -> None:
        self.what, self.written, self.instead = what, written, instead
        super().__init__(what)


def quoted(text: str) -> str:
    """``text`` as it may stand in a message: short, on one line, readable, and never taken for a valid form."""
    line = brief(scrub(text).replace("`", "'"), QUOTED)
    return f"“{''.join(letter if letter.isprintable() else '�' for letter in line)}”"


def closest(word: str, words: Iterable[str]) -> str:
    """The one of ``words`` that is most like ``word``; empty where none is."""
    far = min(FAR, len(word))
    alike = [each for each in words if abs(len(each) - len(word)) < far]
    apart, near = min(((_apart(word, each), each) for each in alike), default=(far, ""))
    return near if apart < far else ""


def _apart(one: str, two: str) -> int:
    """How many letters must be put in, left out, changed, or put before their neighbour, to make one of the other."""
    before, above, row = [0], [0], list(range(len(two) + 1))
    for at, letter in enumerate(one, 1):
        before, above, row = above, row, [at]
        for to, other in enumerate(two, 1):
            row.append(min(above[to] + 1, row[-1] + 1, above[to - 1] + (letter != other)))
            if at > 1 and to > 1 and letter == two[to - 2] and other == one[at - 2]:
                row[-1] = min(row[-1], before[to - 2] + 1)
    return row[-1]
