"""Is this text a whole JSON value, the beginning of one, or neither? Linear, and strict but for raw control characters.

What is cut off must never be run and what is broken may be repaired, so the two are never confused.
"""

from __future__ import annotations

import re
from enum import StrEnum


class State(StrEnum):
    """What a piece of text is, as JSON."""

    WHOLE = "whole"
    PREFIX = "prefix"
    BROKEN = "broken"


_STRING = re.compile(r'"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_OPEN_STRING = re.compile(r'"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z')
_SCALAR = re.compile(r"(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])")
_OPEN_SCALAR = re.compile(
    r"(?:-|-?(?:0|[1-9]\d*)\.|-?(?:0|[1-9]\d*)(?:\.\d+)?[eE][+-]?|t|tr|tru|f|fa|fal|fals|n|nu|nul)\Z"
)
_SPACE = re.compile(r"[ \t\n\r]*")
_MARK = re.compile(r'\\.?|["{}\[\]]', re.DOTALL)

DEEPEST = 200
"""Levels of a value. No answer and no call has more, and whoever walks through one that has runs out of stack."""

_AFTER_VALUE = {"{": (",", "}"), "[": (",", "]")}


class Nesting:
    """How deep JSON is nested where it ends by now. Looks at each character once, however it was cut."""

    def __init__(self) -> None:
        self.depth = self.deepest = 0
        self._quoted = self._escaped = False

    def feed(self, text: str) -> None:
        """Go on with `text`."""
        if self._escaped and text:
            text, self._escaped = text[1:], False
        for mark in _MARK.findall(text):
            if mark == '"':
                self._quoted = not self._quoted
            elif mark[0] == "\\":
                self._escaped = len(mark) == 1
            elif not self._quoted:
                self.depth += 1 if mark in "{[" else -1
                self.deepest = max(self.deepest, self.depth)


def is_deep(text: str) -> bool:
    """Whether the JSON `text` is nested deeper than `DEEPEST`."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    nesting = Nesting()
    nesting.feed(text)
    return nesting.deepest > DEEPEST


def json_state(text: str) -> State:
    """The state of `text`. Nothing, or only white space, is the beginning of something.

    A top-level number counts as whole, though more digits might have followed.
    """
    stack: list[str] = []
    at, wants = 0, "value"
    while True:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]  # matches the empty string too
        if at == len(text):
            return State.WHOLE if wants == "end" else State.PREFIX
        step = _step(text, at, wants, stack)
        if isinstance(step, State):
            return step
        at, wants = step


def _step(text: str, at: int, wants: str, stack: list[str]) -> tuple[int, str] | State:
    """Past one token: where the next begins and what it has to be; or the verdict."""
    char = text[at]
    if wants == "end":
        return State.BROKEN
    if wants == "colon":
        return (at + 1, "value") if char == ":" else State.BROKEN
    if wants == "more":
        return _more(char, at, stack)
    if char in "}]" and wants in ("first key", "first item"):
        return _close(char, at, stack)
    if wants in ("key", "first key"):
        return _string(text, at, "colon")
    if char in "{[":
        stack.append(char)
        return at + 1, "first key" if char == "{" else "first item"
    after = "more" if stack else "end"
    return _string(text, at, after) if char == '"' else _scalar(text, at, after)


def _more(char: str, at: int, stack: list[str]) -> tuple[int, str] | State:
    if char == ",":
        return at + 1, "key" if stack[-1] == "{" else "value"
    return _close(char, at, stack)


def _close(char: str, at: int, stack: list[str]) -> tuple[int, str] | State:
    if char != _AFTER_VALUE[stack[-1]][1]:
        return State.BROKEN
    stack.pop()
    return at + 1, "more" if stack else "end"


def _string(text: str, at: int, after: str) -> tuple[int, str] | State:
    if found := _STRING.match(text, at):
        return found.end(), after
    return State.PREFIX if _OPEN_STRING.match(text, at) else State.BROKEN


def _scalar(text: str, at: int, after: str) -> tuple[int, str] | State:
    if found := _SCALAR.match(text, at):
        return found.end(), after
    return State.PREFIX if _OPEN_SCALAR.match(text, at) else State.BROKEN
