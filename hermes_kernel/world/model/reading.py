"""What has come of one reply: bytes in, events to show out, and in the end a reply or the trouble there was.

Knows no connection and waits for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

from hermes_kernel.core.events import Event, Replied, TextDelta, ThoughtDelta
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.hold import Hold
from hermes_kernel.core.json_repair import is_object
from hermes_kernel.core.json_state import is_deep
from hermes_kernel.core.rescue import rescue
from hermes_kernel.core.seam import Seam
from hermes_kernel.core.stream import Delta, Stream, error_in
from hermes_kernel.core.tokens import estimate
from hermes_kernel.core.trouble import Cause, Trouble, read_trouble
from hermes_kernel.world.model.sse import EventStream

STOPPED_EARLY = frozenset({"error", "insufficient_system_resource", "malformed_function_call", "network_error"})
"""Finish reasons that are no end: the provider broke off."""

_CUT_OFF = "invalid diff"
"""llama-server of early 2026 says so when the output limit cuts what it parses: a call, or text in JSON."""
_OFF_GRAMMAR = "does not match the expected"
"""Later ones say so, perhaps after a whole call, when text does not fit the template of the model."""

_STRIDE = 16_384
"""Bytes, a record of TLS, by which a long line or a body that is no stream has gone on. Less than that in all the time
that keep-alives are borne is no answer on its way."""


class Reading:
    """One reply as it is read. ``shown`` is on the screen already; calls of ``offered`` tools are sought in text."""

    def __init__(self, shown: str, offered: Collection[str], new_id: Callable[[], str]) -> None:
        self.trouble: Trouble | None = None
        self._offered = frozenset(offered)
        self._new_id = new_id
        self._events = EventStream()
        self._unread = 0
        self._stream = Stream()
        self._hold = Hold(self._offered)
        self._seam = Seam(shown)
        self._said: list[str] = []

    @property
    def visible(self) -> str:
        """The text of this reply that a person sees now."""
        return self._seam.visible

    @property
    def is_complete(self) -> bool:
        """Whether the model has said that it is done."""
        return self._stream.finish is not None or self._events.done

    @property
    def is_hopeless(self) -> bool:
        """Whether an error came, or an event that cannot be read: then the rest is not waited for."""
        return self.trouble is not None or self._events.broken

    @property
    def is_done(self) -> bool:
        """Whether nothing more can come."""
        return self._events.done

    @property
    def output_tokens(self) -> int:
        """An estimate of what was written."""
        return estimate(self._stream.written)

    def feed(self, block: bytes) -> tuple[list[Event], bool]:
        """What `block` gives to show, and whether the reply has begun or grown by it. Whatever else a server sends
        only keeps the connection alive: comments, events that say nothing, a line that drips."""
        had, begun = self._stream.taken, self._events.events > 0
        values = self._events.feed(block)
        events = self._take(values)
        grown = self._stream.taken != had or (bool(values) and not begun)
        unread = self._events.unread
        if grown or unread >= self._unread + _STRIDE:
            self._unread = unread
            return events, True
        return events, False

    def conclude(self, trouble: Trouble | None, status: int = 200) -> tuple[list[Event], Replied | Trouble]:
        """The body has ended, perhaps with `trouble`: what is left to show, and the reply or what went wrong."""
        events = self._take(self._events.close())
        if self._events.events == 0 and not self.is_complete and self._events.stray:
            events += self._whole_body(self._events.stray, status)
        wrong = self._wrong(trouble)
        if wrong is None:
            more, reply = self._reply(None)
            return events + more, reply
        finish = self._usable_in_spite_of(wrong)
        if finish is None:
            return events, wrong
        more, reply = self._reply(finish)
        return events + more, reply

    def rescued(self, generation: str) -> Replied | None:
        """The reply in what a server refused to pass on, if there are calls in it."""
        calls, _ = rescue(generation, self._offered, self._new_id)
        return Replied("", calls, Finish.TOOL_CALLS) if calls else None

    def _take(self, values: Iterable[Any]) -> list[Event]:
        deltas: list[Delta] = []
        for value in values:
            chunk = value[0] if isinstance(value, list) and value else value
            if not isinstance(chunk, dict):
                continue
            if error_in(chunk):
                self.trouble = self.trouble or read_trouble(json.dumps(chunk))
                break
            deltas += self._stream.feed(chunk)
        return self._show(deltas)

    def _show(self, deltas: Iterable[Delta]) -> list[Event]:
        events: list[Event] = []
        for delta in _merged(deltas):
            if isinstance(delta, TextDelta):
                events += self._tell(self._hold.feed(delta.text))
            else:
                events.append(delta)
        return events

    def _tell(self, text: str) -> list[Event]:
        if text:
            self._said.append(text)
        return [*self._seam.feed(text)] if text else []

    def _whole_body(self, body: str, status: int) -> list[Event]:
        """The body was no event stream: a whole completion, an error under status 200, or a page for a browser."""
        try:
            value = None if is_deep(body) else json.loads(body)
        except (ValueError, RecursionError):
            value = None
        chunk = value[0] if isinstance(value, list) and value else value
        if isinstance(chunk, dict) and not error_in(chunk) and chunk.get("choices"):
            return self._show(self._stream.feed(chunk))
        said = read_trouble(body, cause=Cause.ANSWER if isinstance(chunk, dict) else Cause.NOT_A_STREAM)
        page = f"the server sent something else than an answer: {said.message}"
        self.trouble = said if isinstance(chunk, dict) else replace(said, status=status, message=page[:300])
        return []

    def _wrong(self, trouble: Trouble | None) -> Trouble | None:
        """What speaks against taking this for a whole reply."""
        if self._stream.reason in STOPPED_EARLY:
            return self.trouble or read_trouble(f"the provider stopped early: {self._stream.reason}")
        if self._stream.finish is not None:
            return None
        if self.trouble or trouble:
            return self.trouble or trouble
        if self._events.broken:
            return Trouble(Cause.DISCONNECT, message="the stream broke in the middle of an event")
        if self._stream.is_empty and (self.is_complete or not self._events.events):
            return Trouble(Cause.NOT_A_STREAM, message="the server sent a stream without an answer")
        return None if self.is_complete else Trouble(Cause.DISCONNECT, message="the stream ended before the reply did")

    def _usable_in_spite_of(self, wrong: Trouble) -> Finish | None:
        """The finish of a reply that can be used although the server ended it with an error."""
        drafts = self._stream.calls.drafts
        words = wrong.message.lower()
        if _CUT_OFF in words and not self._stream.is_empty:
            return Finish.LENGTH
        if _OFF_GRAMMAR in words and drafts and all(is_object(draft.written) for draft in drafts):
            return Finish.TOOL_CALLS
        return None

    def _reply(self, finish: Finish | None) -> tuple[list[Event], Replied]:
        events = self._show(self._stream.close())
        reply = self._stream.reply(self._new_id, finish=finish)
        if reply.calls:
            events += self._tell(self._hold.drop())
        else:
            rest, calls, cut = self._hold.close(self._new_id, limited=reply.finish is Finish.LENGTH)
            events += self._tell(rest)
            reply = replace(reply, calls=calls, cut=reply.cut or cut)
        events += self._seam.close()
        return events, replace(reply, text="".join(self._said))


def _merged(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """Neighbours of a kind as one: what arrived together is shown together."""
    for kind, group in groupby(deltas, type):
        run = list(group)
        if kind is TextDelta:
            yield TextDelta("".join(delta.text for delta in run if isinstance(delta, TextDelta)))
        elif kind is ThoughtDelta:
            yield ThoughtDelta("".join(delta.text for delta in run if isinstance(delta, ThoughtDelta)))
        else:
            yield run[-1]
