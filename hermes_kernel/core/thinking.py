"""Thoughts told apart from the answer: reasoning fields of a delta, and ``<think>`` written into the text.

A tag counts only before the answer has begun, so that an answer may speak of tags; it may be cut anywhere.
"""

from __future__ import annotations

from typing import Any

_TAGS = ("<think>", "<thinking>", "<thought>", "<reasoning>")
_CLOSE = {tag: "</" + tag[1:] for tag in _TAGS}
_TOLD = ("text", "summary", "data", "signature")
"""Fields of a reasoning detail that say something; the others say what kind of detail it is."""


class ThinkTags:
    """Splits text into (answer, thoughts), holding back what may yet become a tag."""

    def __init__(self) -> None:
        self._held = ""
        self._tag = ""
        self._answering = False
        self._thought = False

    def feed(self, text: str) -> tuple[str, str]:
        """The answer and the thoughts in `text`, as far as can be told."""
        if self._answering:
            return text, ""
        held, self._held = self._held + text, ""
        answer, thoughts = "", ""
        while held and not self._answering:
            held, answer, more = self._inside(held) if self._tag else self._before(held)
            thoughts += more
        return answer, thoughts

    def close(self) -> tuple[str, str]:
        """What was held back when the text ended."""
        held, self._held = self._held, ""
        if self._tag:
            return "", held
        return ("" if self._thought and not held.strip() else held), ""

    def _before(self, held: str) -> tuple[str, str, str]:
        start = held.lstrip()
        tag = next((tag for tag in _TAGS if start.startswith(tag)), "")
        if tag:
            self._tag = tag
            return start[len(tag) :], "", ""
        if not start or any(tag.startswith(start) for tag in _TAGS):
            self._held = held
            return "", "", ""
        self._answering = True
        return "", start if self._thought else held, ""

    def _inside(self, held: str) -> tuple[str, str, str]:
        closing = _CLOSE[self._tag]
        thoughts, found, rest = held.partition(closing)
        if found:
            self._tag, self._thought = "", True
            return rest, "", thoughts
        keep = _overlap(held, closing)
        self._held = held[len(held) - keep :]
        return "", "", held[: len(held) - keep]


def _overlap(text: str, mark: str) -> int:
    """How many characters at the end of `text` may be the beginning of `mark`."""
    return next((n for n in range(min(len(mark) - 1, len(text)), 0, -1) if mark.startswith(text[-n:])), 0)


class Reasoning:
    """The reasoning fields of a reply, kept as a provider wants them back. ``taken`` is another number whenever there
    is more in them, be it nothing that a person can read."""

    def __init__(self) -> None:
        self.taken = 0
        self._fields: dict[str, list[str]] = {}
        self._details: list[dict[str, Any]] = []

    def feed(self, delta: dict[str, Any]) -> str:
        """The thoughts in `delta`, said once even where several fields say them."""
        told = [self._keep(name, delta[name]) for name in ("reasoning_content", "reasoning") if delta.get(name)]
        details = delta.get("reasoning_details")
        if isinstance(details, list):
            told.append("".join(self._detail(item) for item in details if isinstance(item, dict)))
        return next(filter(None, told), "")

    def extra(self) -> dict[str, Any]:
        """The fields to send back, verbatim; empty when there were none."""
        fields: dict[str, Any] = {name: "".join(pieces) for name, pieces in self._fields.items()}
        return fields | ({"reasoning_details": self._details} if self._details else {})

    def _keep(self, name: str, value: Any) -> str:
        if not isinstance(value, str):
            return ""
        self._fields.setdefault(name, []).append(value)
        self.taken += len(value)
        return value

    def _detail(self, item: dict[str, Any]) -> str:
        self.taken += sum(len(item[key]) for key in _TOLD if isinstance(item.get(key), str))
        last = self._details[-1] if self._details else {}
        words = next((key for key in ("text", "summary") if isinstance(item.get(key), str)), "")
        if words and isinstance(last.get(words), str) and _same(last, item):
            last.update({key: value for key, value in item.items() if value is not None and key != words})
            last[words] += item[words]
        else:
            self._details.append(dict(item))
        return item[words] if words else ""


def _same(last: dict[str, Any], item: dict[str, Any]) -> bool:
    return last.get("type") == item.get("type") and last.get("index") == item.get("index")


def content_parts(content: Any) -> tuple[str, str]:
    """(answer, thoughts) of a content that is text, a list of parts, or nothing."""
    if isinstance(content, str):
        return content, ""
    answer, thoughts = [], []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            answer.append(part)
        elif isinstance(part, dict) and part.get("type") in ("thinking", "reasoning"):
            inner = part.get("thinking", part.get("text"))
            thoughts.append(inner if isinstance(inner, str) else content_parts(inner)[0])
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            answer.append(part["text"])
    return "".join(answer), "".join(thoughts)
