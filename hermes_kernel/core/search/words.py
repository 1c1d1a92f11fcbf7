"""Text as units that can be found: folded words, single characters of scripts without spaces, parts of identifiers.

One rule for what is stored and what is asked for. Folding keeps no case and no accent; punctuation only separates.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

LONGEST = 128  # characters of a unit that count: the digits of a SHA-512 do, a picture in base64 need not
WHOLE = 64  # an identifier longer than this is somebody's data, and has no parts
REMEMBERED = 1 << 15  # words; nine in ten words of a language's running text are among its first few thousand

# Characters that are a unit each: Thai, Lao, Myanmar, Khmer, kana, Bopomofo, Han and Hangul; pictures, for they are
# asked for one by one as well.
_SINGLE = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef"
    r"\uaa60-\uaa7f\u1780-\u17d3\u17dd\u3005\u3007\u3021-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    r"\u30fc-\u30ff\u3105-\u312f\u3192-\u319f\u31a0-\u31bf\u31f0-\u31ff\u3220-\u3247\u3280-\u32b0\u3400-\u4dbf"
    r"\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d\u2600-\u27bf\U0001f1e6-\U0001faff\U00020000-\U000323af"
)
_VOICING = r"\u3099\u309a\uff9e\uff9f"  # the marks that make か into が, where no single character does
# Characters that fold to nothing: accents, points and vowel marks that most people leave out, what only shapes a word.
_SILENT = (
    r"\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640"
    r"\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200d"
    r"\u2060\u20d0-\u20f0\ufe00-\ufe0f\ufe20-\ufe2f"
)
# Signs that are part of a word without being letters: the vowels of the Indic scripts, Tibetan and their neighbours.
_SIGNS = (
    r"\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u0816-\u082d\u0859-\u085b\u0898-\u08ff\u0900-\u0963\u0966-\u096f"
    r"\u0971-\u0a75\u0a81-\u0aef\u0af9-\u0bef\u0c00-\u0c6f\u0c80-\u0cef\u0cf1-\u0df3\u0f18\u0f19\u0f35\u0f37\u0f39"
    r"\u0f3e\u0f3f\u0f71-\u0f84\u0f86\u0f87\u0f8d-\u0fbc\u135d-\u135f\u1712-\u1715\u1732-\u1734\u1920-\u193b"
    r"\u1a17-\u1a1b\u1a55-\u1a7f\u1b00-\u1b04\u1b34-\u1b44\u1b80-\u1b82\u1ba1-\u1bad\u1c24-\u1c37\ua8c4\ua8c5"
    r"\ua8e0-\ua8f1"
)
_REST = rf"[^\W{_SINGLE}{_VOICING}]"

# The `T` between a date and a time stands apart, so that the date is found by itself.
_TOKEN = re.compile(
    rf"(?<=\d)T(?=\d\d:)|\d\d(?=T\d\d:)"
    rf"|[^\W_{_SINGLE}{_VOICING}]{_REST}*(?:[{_SILENT}{_SIGNS}]+{_REST}*)*"
    rf"|[{_SINGLE}][{_VOICING}]?"
)
_ASCII_TOKEN = re.compile(r"(?<=\d)T(?=\d\d:)|\d\d(?=T\d\d:)|[A-Za-z0-9][A-Za-z0-9_]*")

_MARKS = re.compile(rf"[{_SILENT}]+")
_APART = re.compile(rf"[^\w{_SIGNS}{_SINGLE}{_VOICING}]+")
# What is a letter of its own to a machine and a letter with an accent to a person's eye.
_ALIKE = str.maketrans({
    "đ": "d", "ð": "d", "ħ": "h", "\u0131": "i", "ł": "l", "ø": "o", "ŧ": "t", "ƀ": "b", "ɨ": "i", "ʉ": "u",
    "æ": "ae", "œ": "oe", "þ": "th", "\u0138": "k",
})  # fmt: skip

_LOWER, _UPPER = "a-zß-öø-ÿ", "A-ZÀ-ÖØ-Þ"
# `fooBar`, `HTTPServer`, `Base64Text`; the s of `URLs` is no word.
_SEAM = re.compile(
    rf"_+|(?<=[{_LOWER}])(?=[{_UPPER}])|(?<=[{_UPPER}0-9])(?=[{_UPPER}][{_LOWER}])(?![{_UPPER}]s(?![^\W_]))"
)


class Unit(NamedTuple):
    """One unit and where it stands in the text. ``parts`` are what a person may also look for: ``read_csv`` is one
    unit with the parts ``read`` and ``csv``; ``fooBar`` is the unit ``foobar`` with the parts ``foo`` and ``bar``."""

    text: str
    start: int
    end: int
    parts: tuple[str, ...] = ()


def units(text: str) -> Iterator[Unit]:
    """The units of ``text``, in order, with offsets into ``unicodedata.normalize("NFC", text)``."""
    token = _ASCII_TOKEN if text.isascii() else _TOKEN
    for found in token.finditer(unicodedata.normalize("NFC", text)):
        written = found.group()
        unit, parts = _unit(written)
        if unit:
            yield Unit(unit, found.start(), found.start() + len(written.rstrip("_")), parts)


def row(text: str) -> tuple[str, int]:
    """The units as one searchable line, and how many there are: ``" a  b  c "``, and after a newline the parts of each
    unit that has some, written likewise. A unit is found as ``" b "``, a phrase as ``" a  b "``, a beginning as
    ``" b"``; no phrase crosses a newline, so ``"read csv"`` finds ``read_csv`` and nothing is made up."""
    tokens = _ASCII_TOKEN.findall(text) if text.isascii() else _TOKEN.findall(unicodedata.normalize("NFC", text))
    written = list(map(_written, tokens))
    line = "".join([unit for unit, _ in written])
    return line + "".join([parts for _, parts in written if parts]), line.count("  ") + (line != "")


def pairs(line: str) -> Iterator[str]:
    """Every two neighbours in a line made by `row`, as ``"a b"``: with these indexed, a phrase of common words is as
    quick to find as a rare word."""
    for stretch in line.split("\n"):
        yield from map(" ".join, pairwise(stretch.split()))


def fold(text: str) -> str:
    """``text`` without case and accents, as words are compared; whatever is no letter stays as it is."""
    if text.isascii():
        return text.lower()
    # Folding case may bring back an accent and the other way round, so both are done until nothing changes.
    while (folded := _folded_once(text)) != text:
        text = folded
    return text


def _folded_once(text: str) -> str:
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare.casefold().translate(_ALIKE))


def _folded(token: str) -> str:
    return _APART.sub("", fold(token[:LONGEST])).strip("_")[:LONGEST]


@lru_cache(REMEMBERED)
def _unit(token: str) -> tuple[str, tuple[str, ...]]:
    """The unit a token is, and its parts."""
    if len(token) > WHOLE:
        return _folded(token), ()
    whole = _folded(token)
    parts = tuple(filter(None, map(_folded, _SEAM.split(token))))
    return whole, parts if len(parts) > 1 else ()


@lru_cache(REMEMBERED)
def _written(token: str) -> tuple[str, str]:
    """A token as `row` writes it: the unit, and its parts on a line of their own."""
    unit, parts = _unit.__wrapped__(token)  # remembered here already
    return (f" {unit} " if unit else ""), ("\n" + "".join(f" {part} " for part in parts) if parts else "")
