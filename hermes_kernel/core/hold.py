"""Keeps streamed text back where it is plainly becoming a tool call, so that nobody sees raw JSON flash by.

What turns out to be no call is let go. What was let through plus what is left at the end is the text of the reply.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from enum import Enum

from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.rescue import ARGUMENT_KEYS, NAME_KEYS, begun, rescue

_FAR = 400  # characters in which a call has shown itself; hostile text opens a million braces
_SUSPECT = re.compile(r"[<\[{`]")
_MARKS = ("<tool_call", "<function_call", "<function=", "<tools>", "<|tool_call", "<|python_tag|>", "[TOOL_CALLS]")
_FENCES = ("json", "tool_call", "tool_code", "tool", "")
_FENCE = re.compile(r"```(\w*)[ \t]*(\r?\n\s*)?")
_HEAD = re.compile(r"""(?:\[\s*)?\{\s*["'](\w+)["']\s*:\s*""")
_PART_OF_HEAD = re.compile(r"""(?:\[\s*)?(?:\{\s*(?:["']\w*(?:["']\s*)?)?)?\Z""")
_NAME = re.compile(r"""["']([\w.-]*)(["'])?""")


class _Is(Enum):
    """What some text is."""

    CALL = "a call"
    UNCLEAR = "too short to tell"
    TEXT = "no call"


class Hold:
    """Lets text through until it may be becoming a call of one of the ``offered`` tools."""

    def __init__(self, offered: Collection[str]) -> None:
        self._offered = frozenset(offered)
        self._held: list[str] = []
        self._caught = False
        self._line_is_blank = True

    def feed(self, text: str) -> str:
        """What may be shown now."""
        if self._caught:
            self._held.append(text)
            return ""
        if not self._offered or not (self._held or _SUSPECT.search(text)):
            return self._let(text)
        text = self.release() + text
        at = self._where(text)
        self._held = [text[at:]] if at < len(text) else []
        return self._let(text[:at])

    def close(self, new_id: Callable[[], str], *, limited: bool) -> tuple[str, tuple[ToolCall, ...], bool]:
        """What is left to show, the calls that were in what was held back, and whether one of them was cut off:
        ``limited`` when the reply ended at the output limit."""
        held = self.release()
        calls, rest = rescue(held, self._offered, new_id)
        if calls or not (limited and self._caught):
            return rest, calls, False
        cut = begun(held, self._offered, new_id)
        return ("", (cut,), True) if cut else (held, (), False)

    def drop(self) -> str:
        """What is left to show of a reply that called its tools properly: not a call that was written out as well."""
        held = self.release()
        return "" if self._caught else held

    def release(self) -> str:
        """Everything held back, as text."""
        held, self._held = "".join(self._held), []
        return held

    def _let(self, text: str) -> str:
        last = text.rpartition("\n")
        self._line_is_blank = not last[2].strip() and (self._line_is_blank or bool(last[1]))
        return text

    def _where(self, text: str) -> int:
        """Where text that is or may be a call begins; the length of `text` if nowhere."""
        blank, seen = self._line_is_blank, 0
        for found in _SUSPECT.finditer(text):
            at = found.start()
            before = text[seen:at].rpartition("\n")
            blank, seen = not before[2].strip() and (blank or bool(before[1])), at
            verdict = self._judge(text[at : at + _FAR], first_of_line=blank)
            if verdict is _Is.UNCLEAR and at + _FAR < len(text):
                verdict = _Is.TEXT
            self._caught = verdict is _Is.CALL
            if verdict is not _Is.TEXT:
                return at
        return len(text)

    def _judge(self, text: str, *, first_of_line: bool) -> _Is:
        if text.startswith(_MARKS):
            return _Is.CALL
        if any(mark.startswith(text) for mark in _MARKS):
            return _Is.UNCLEAR
        if not first_of_line:
            return _Is.TEXT
        return self._fence(text) if text[0] == "`" else self._json(text)

    def _fence(self, text: str) -> _Is:
        opened = _FENCE.match(text)
        if not opened:
            return _Is.UNCLEAR if "```".startswith(text) else _Is.TEXT
        language, broken = opened.groups()
        if not broken:
            likely = any(name.startswith(language) for name in _FENCES) and opened.end() >= len(text.rstrip("\r"))
            return _Is.UNCLEAR if likely else _Is.TEXT
        if language not in _FENCES:
            return _Is.TEXT
        return self._json(text[opened.end() :])

    def _json(self, text: str) -> _Is:
        head = _HEAD.match(text)
        if not head:
            return _Is.UNCLEAR if _PART_OF_HEAD.match(text) else _Is.TEXT
        key, rest = head.group(1), text[head.end() :]
        if key in ARGUMENT_KEYS:
            return _Is.CALL
        if key == "type":
            return self._names(rest, ("function",))
        if key not in NAME_KEYS:
            return _Is.TEXT
        return self._json(rest) if rest.startswith("{") else self._names(rest, self._offered)

    def _names(self, text: str, names: Collection[str]) -> _Is:
        """Whether a JSON string that begins here is one of `names`."""
        found = _NAME.match(text)
        if not found:
            return _Is.TEXT if text else _Is.UNCLEAR
        name, closed = found.groups()
        if closed:
            return _Is.CALL if name in names else _Is.TEXT
        return _Is.UNCLEAR if found.end() == len(text) and any(n.startswith(name) for n in names) else _Is.TEXT
