"""The body of an answer without its secrets, also where a stream cut one in two: what its events say is looked at
joined, delta by delta and call by call. A body in which there is none stays as it is, byte for byte. Pure; linear.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

from hermes_kernel.core.recording.alike import alike
from hermes_kernel.core.recording.cassette import Block
from hermes_kernel.core.redact import NAMES, redact, redact_plain
from hermes_kernel.core.text import as_json

_SPOKEN = "choices"
"""What stands in here goes on from event to event."""
_REPEATED = 64  # texts that stand in each event of a stream, and are looked at once
_TIGHT = (",", ":")  # as servers write JSON
_DEEPEST = 64
"""Of JSON that is looked into; what is deeper is text."""

Path = tuple[object, ...]
Change = Callable[[str], str]


@dataclass(slots=True)
class _Event:
    """A line, or a whole body, with a value of JSON in it."""

    before: str
    value: Any
    behind: str
    changed: bool = False

    @property
    def line(self) -> str:
        return f"{self.before}{as_json(self.value, _TIGHT)}{self.behind}"


@dataclass(slots=True)
class _Leaf:
    """A place in an event: how one comes there, and where what stands there can be replaced."""

    event: _Event
    path: Path
    holder: Any
    name: str | int

    @property
    def value(self) -> Any:
        return self.holder[self.name]

    def put(self, text: str) -> None:
        """Say `text` instead."""
        if text != self.value:
            self.holder[self.name] = text
            self.event.changed = True


@dataclass(slots=True)
class _Rows:
    """Which texts of the events go on from one another: those at the same place, and of the same call."""

    rows: dict[Path, list[_Leaf]] = field(default_factory=dict)
    calls: dict[Path, str] = field(default_factory=dict)

    def add(self, number: int, event: _Event) -> None:
        """The texts of one more event."""
        for leaf in self._leaves(event):
            row = leaf.path if _SPOKEN in leaf.path else (number, *leaf.path)
            self.rows.setdefault(row, []).append(leaf)

    def _leaves(self, event: _Event) -> Iterator[_Leaf]:
        places = [_Leaf(event, (), [event.value], 0)]
        while places:
            place = places.pop()
            if isinstance(place.value, str):
                yield place
            elif len(place.path) < _DEEPEST:
                places += self._inside(place)[::-1]

    def _inside(self, at: _Leaf) -> list[_Leaf]:
        match at.value:
            case list() as items:
                return [_Leaf(at.event, self._item(at.path, n, item), items, n) for n, item in enumerate(items)]
            case dict() as fields:
                return [_Leaf(at.event, (*at.path, name), fields, name) for name in fields if name not in NAMES]
        return []

    def _item(self, path: Path, place: int, item: Any) -> Path:
        """Where an item of a list belongs: to its index, where it says one; to its call, once that has an id."""
        fields: Mapping[str, Any] = item if isinstance(item, dict) else {}
        index = (*path, str(fields.get("index", place)))
        if path[-1:] == ("tool_calls",) and (call_id := fields.get("id")):
            self.calls[index] = str(call_id)
        return (*path, self.calls[index]) if index in self.calls else index


def hidden_blocks(blocks: Sequence[Block], secrets: frozenset[str], also: Change = str) -> tuple[Block, ...]:
    """`blocks` without secrets, and with what `also` replaces in a text. A line in which something was replaced comes
    when its end came."""
    body = b"".join(block.data for block in blocks).decode("utf-8", "surrogateescape")
    old = lines_of(body)
    heard = _heard(old, lru_cache(_REPEATED)(lambda text: also(redact_plain(text, secrets))))
    safe = also(redact("".join(heard), secrets))
    new = lines_of(safe)
    if new == old:
        return tuple(blocks)
    return cut_again(blocks, old, new) if len(old) == len(new) else cut_again(blocks, [body], [safe])


def lines_of(text: str) -> list[str]:
    """Each with its end."""
    *lines, last = text.split("\n")
    return [*(f"{line}\n" for line in lines), last]


def _heard(lines: list[str], change: Change) -> list[str]:
    """`lines` with what is changed in what only whoever listens to the events would hear."""
    events = {n: event for n, line in enumerate(lines) if line.startswith("data:") and (event := _event(line, 5))}
    if not events and (whole := _event("".join(lines), 0)):
        lines, events = ["".join(lines)], {0: whole}
    rows = _Rows()
    for number, event in events.items():
        rows.add(number, event)
    for row in rows.rows.values():
        _put(row, change)
    return [events[n].line if n in events and events[n].changed else line for n, line in enumerate(lines)]


def _event(line: str, at: int) -> _Event | None:
    said = line[at:].strip()
    try:
        value = json.loads(said) if said[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None
    start = line.index(said, at)
    return _Event(line[:start], value, line[start + len(said) :]) if value else None


def _put(row: list[_Leaf], change: Change) -> None:
    """Change texts that go on from one another; each of them also by itself, as JSON is read."""
    whole = "".join(leaf.value for leaf in row)
    safe = change(whole)
    if safe != whole:
        _spread(row, whole, safe)
    for leaf in row if len(row) > 1 else ():
        if leaf.value.startswith(("{", "[")):
            leaf.put(change(leaf.value))


def _spread(row: list[_Leaf], whole: str, safe: str) -> None:
    """Say `safe` instead of `whole`: what became another is said where it began, the rest where it was."""
    begin = min(alike(whole, safe), len(whole) - 1)
    most = min(len(whole), len(safe)) - begin
    end = len(whole) - min(alike(whole[: -most - 1 : -1], safe[: -most - 1 : -1]), most)
    middle = safe[begin : len(safe) - (len(whole) - end)]
    at = 0
    for leaf in row:
        text, start = leaf.value, at
        at += len(text)
        head, tail = text[: max(begin - start, 0)], text[max(end - start, 0) :]
        new = middle if start <= begin < at else ""
        if start < end or new:
            leaf.put(head + new + tail)


def cut_again(blocks: Sequence[Block], old: list[str], new: list[str]) -> tuple[Block, ...]:
    """The new body in as many blocks as the old one had, cut where that was cut, but in no part that is another."""
    before, after = ([part.encode("utf-8", "surrogateescape") for part in parts] for parts in (old, new))
    starts = [0, *accumulate(map(len, before))]
    news = [0, *accumulate(map(len, after))]

    def moved(at: int) -> int:
        part = min(bisect_right(starts, at), len(before)) - 1
        if before[part] == after[part]:
            return news[part] + at - starts[part]
        return news[part + (at == starts[part + 1])]

    body = b"".join(after)
    cuts = [0, *(moved(at) for at in accumulate(len(block.data) for block in blocks))]
    return tuple(Block(body[a:b], block.gap) for block, (a, b) in zip(blocks, pairwise(cuts), strict=True))
