"""What a recording answers to a request or a call, and what is different where it has no answer. Pure but for the
count of what was answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from hermes_kernel.core.recording.alike import ends_alike
from hermes_kernel.core.recording.cassette import Called, Cassette, Exchange, Request
from hermes_kernel.core.recording.differing import Passage, differences, marked
from hermes_kernel.core.safe import clean
from hermes_kernel.core.text import brief

Message = Mapping[str, Any]

_LONGEST = 290  # characters of a miss in one line, with the name of its file
_LONGEST_NAME = 60
_LONGEST_DIFF = 6_000
_LOOKED_AT = 4_000  # characters by which two messages are compared to find the closer one


@dataclass(frozen=True, slots=True)
class Difference:
    """A message that is another: which of the request, whose, and how."""

    number: int
    role: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Miss:
    """A request that nobody recorded. ``closest`` is the number of the recorded one that is most like it, from 1 on, 0
    where there is none; ``recorded`` is that one."""

    request: Request
    closest: int = 0
    recorded: Request | None = None

    def differences(self) -> Iterator[Difference]:
        """What is another than in the closest one, message by message."""
        old, new = self.recorded.messages if self.recorded else (), self.request.messages
        start, end = ends_alike(old, new)
        pairs = zip_longest(old[start : len(old) - end], new[start : len(new) - end])
        for number, (before, after) in enumerate(pairs, start + 1):
            if before != after:
                yield Difference(number, _roles(before, after), differences(_told(before), _told(after)))

    def words(self, file: str) -> str:
        """What differs, in one line."""
        where = brief(file, _LONGEST_NAME)
        if self.recorded is None:
            return f"nothing is recorded in {where} that could answer"
        told = _up_to(
            _LONGEST, (f"message {one.number} ({one.role}): “{marked(one.passages)}”" for one in self.differences())
        )
        if self.request.tools != self.recorded.tools:
            told.append(f"tools are {_offered(self.request)} and were {_offered(self.recorded)}")
        return brief(f"not in {where}, whose request {self.closest} is closest: {'; '.join(told)}", _LONGEST)

    def diff(self) -> str:
        """What differs, with more of what stands around it: a passage for each message."""
        if self.recorded is None:
            return "Nothing is recorded."
        told = [f"Closest is request {self.closest}. [-Recorded-] and {{+asked+}}:"]
        if self.request.tools != self.recorded.tools:
            told.append(f"tools: [-{_offered(self.recorded)}-]{{+{_offered(self.request)}+}}")
        each = (
            f"message {one.number} ({one.role}):\n  {marked(one.passages, 200, 1000)}" for one in self.differences()
        )
        text = "\n".join([*told, *_up_to(_LONGEST_DIFF, each)])
        return text if len(text) <= _LONGEST_DIFF else text[:_LONGEST_DIFF] + "…"


class Answers:
    """Those of a cassette. The same request again gets the next of its answers, after the last the first."""

    def __init__(self, cassette: Cassette) -> None:
        self._requests = [exchange.request for exchange in cassette.exchanges]
        self._answers: dict[str, list[Exchange]] = {}
        self._results: dict[tuple[str, ...], list[Called]] = {}
        self._given: dict[object, int] = {}
        for exchange in cassette.exchanges:
            self._answers.setdefault(exchange.request.key, []).append(exchange)
        for called in cassette.calls:
            for key in _keys(called):
                self._results.setdefault(key, []).append(called)

    def find(self, request: Request) -> Exchange | Miss:
        """The answer to `request`, which has no secrets any more, or what is different."""
        answers = self._answers.get(request.key)
        return answers[self._turn(request.key, len(answers))] if answers else self._miss(request)

    def call(self, asked: Called) -> Called | None:
        """The result of a call, as it is found by, without secrets: of those with the same words its own, as an agent
        and its subagents may make the same call; where no id tells which that is, the next."""
        key = next((key for key in _keys(asked) if key in self._results), None)
        if key is None:
            return None
        results = self._results[key]
        return results[self._turn(key, len(results))]

    def _turn(self, key: object, many: int) -> int:
        given = self._given.get(key, 0)
        self._given[key] = given + 1
        return given % many

    def _miss(self, request: Request) -> Miss:
        if not self._requests:
            return Miss(request)
        number, closest = max(enumerate(self._requests, 1), key=lambda one: _likeness(one[1], request))
        return Miss(request, number, closest)


def _keys(called: Called) -> list[tuple[str, ...]]:
    """What a call is found by, the closest first."""
    words = called.name, called.arguments
    return [(*words, called.id), words] if called.id else [words]


def _likeness(old: Request, new: Request) -> tuple[float, ...]:
    """How alike two requests are: messages that are the same, then words of the first one that is not."""
    start, end = ends_alike(old.messages, new.messages)
    before, after = (_told(one.messages[start]) if start < len(one.messages) else "" for one in (old, new))
    one, other = (set(text[:_LOOKED_AT].split()) for text in (before, after))
    words = len(one & other) / max(len(one | other), 1)
    messages, letters = abs(len(old.messages) - len(new.messages)), abs(len(before) - len(after))
    return (start + end, words, old.tools == new.tools, -messages, -letters)


def _told(message: Message | None) -> str:
    """All that a message says, as text."""
    if message is None:
        return ""
    calls = [f"call {call['id']}: {call['name']}({call['arguments']})" for call in message.get("calls", ())]
    result = [f"result of call {message['call']}:"] if "call" in message else []
    images = [f"[{image}]" for image in message.get("images", ())]
    return "\n".join(part for part in (*result, message["content"], *images, *calls) if part)


def _roles(before: Message | None, after: Message | None) -> str:
    roles = dict.fromkeys(message["role"] for message in (before, after) if message)
    return clean(", now ".join(roles))


def _up_to(most: int, texts: Iterator[str]) -> list[str]:
    """The first of `texts` that have together `most` characters, or a few more; the others are not even made."""
    told: list[str] = []
    while sum(map(len, told)) < most and (text := next(texts, "")):
        told.append(text)
    return told


def _offered(request: Request) -> str:
    return "offered" if request.tools else "not offered"
