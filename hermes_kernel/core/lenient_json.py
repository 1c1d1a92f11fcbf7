"""A reader of almost-JSON: what models write when they mean JSON. One value or `Unreadable`; it guesses at no end.

Takes single, triple and typographic quotes, raw newlines, bare keys, Python literals, comments, trailing commas, and
quotes inside strings that were not escaped (a quote ends a string only where JSON could go on after it).
"""

from __future__ import annotations

import math
import re

from hermes_kernel.core.text import REPLACEMENT, scrub

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None


class Unreadable(ValueError):
    """Not even nearly JSON at this position."""


_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_ENDS = re.compile(r"\s*(?:[,}\]:]|\Z)")
_LITERALS: dict[str, Json] = {
    "true": True, "True": True, "false": False, "False": False,
    "null": None, "None": None, "undefined": None, "nil": None,
}  # fmt: skip
_QUOTES = {'"': '"', "'": "'", "“": "”", "`": "`"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""}
_CODE = re.compile(r"u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}")
_DEPTH = 64


def read(text: str) -> Json:
    """The one value in `text`.

    Raises:
        Unreadable: it is not one, or is cut off, or is nested deeper than 64.
    """
    value, at = read_at(text, _skip(text, 0))
    if _skip(text, at) != len(text):
        raise Unreadable(at)
    return value


def read_at(text: str, at: int) -> tuple[Json, int]:
    """The value that begins at `at`, and where it ends.

    Raises:
        Unreadable: as for `read`.
    """
    return _value(text, at, 0)


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # matches the empty string too


def _value(text: str, at: int, depth: int) -> tuple[Json, int]:
    char = text[at : at + 1]
    if depth > _DEPTH:
        raise Unreadable(at)
    if char == "{":
        return _object(text, at + 1, depth)
    if char == "[":
        return _array(text, at + 1, depth)
    if char in _QUOTES and char:
        return _string(text, at)
    return _scalar(text, at)


def _object(text: str, at: int, depth: int) -> tuple[Json, int]:
    members: dict[str, Json] = {}
    while text[(at := _skip(text, at)) : at + 1] != "}":
        key, at = _key(text, at)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise Unreadable(at)
        members[key], at = _value(text, _skip(text, at + 1), depth + 1)
        at = _comma(text, at, "}")
    return members, at + 1


def _array(text: str, at: int, depth: int) -> tuple[Json, int]:
    items: list[Json] = []
    while text[(at := _skip(text, at)) : at + 1] != "]":
        item, at = _value(text, at, depth + 1)
        items.append(item)
        at = _comma(text, at, "]")
    return items, at + 1


def _comma(text: str, at: int, closing: str) -> int:
    at = _skip(text, at)
    char = text[at : at + 1]
    if char == ",":
        return at + 1
    if char != closing:
        raise Unreadable(at)
    return at


def _key(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] in _QUOTES:
        return _string(text, at)
    if word := _WORD.match(text, at):
        return word.group(), word.end()
    raise Unreadable(at)


def _scalar(text: str, at: int) -> tuple[Json, int]:
    if (word := _WORD.match(text, at)) and word.group() in _LITERALS:
        return _LITERALS[word.group()], word.end()
    if number := _NUMBER.match(text, at):
        digits = number.group().replace("_", "")
        return (int(digits) if digits.lstrip("+-").isdigit() else finite(digits)), number.end()
    raise Unreadable(at)


def finite(digits: str) -> float | None:
    """The number; null where it is larger than any, as most encoders write: JSON knows no infinity."""
    number = float(digits)
    return number if math.isfinite(number) else None


def _string(text: str, at: int) -> tuple[str, int]:
    opening = text[at]
    if text.startswith(opening * 3, at):
        return _triple(text, at + 3, opening * 3)
    closing, start = _QUOTES[opening], at
    out: list[str] = []
    at += 1
    while at < len(text):
        char = text[at]
        if char == closing and _ENDS.match(text, at + 1):
            return scrub("".join(out)), at + 1
        if char == "\\":
            char, at = _escape(text, at + 1)
            out.append(char)
        else:
            out.append(char)
            at += 1
    raise Unreadable(start)


def _triple(text: str, at: int, quotes: str) -> tuple[str, int]:
    end = text.find(quotes, at)
    if end < 0:
        raise Unreadable(at)
    return text[at:end], end + 3


def _escape(text: str, at: int) -> tuple[str, int]:
    """The character that an escape sequence stands for; an unknown one stands for itself, backslash and all."""
    if code := _CODE.match(text, at):
        number = int(code.group()[1:], 16)
        return chr(number) if number < 0x110000 else REPLACEMENT, code.end()
    char = text[at : at + 1]
    if char in _ESCAPES and char:
        return _ESCAPES[char], at + 1
    return (char if char in "\\/\"'`" else "\\" + char), at + 1
