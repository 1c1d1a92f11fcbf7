"""How traffic is looked at where an agent stands: a request in its normal form, an answer with marks for folders, and
neither with secrets. `core/recording` has the rules; here is what they have to know of this machine at this moment."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hermes_kernel.core.events import Observed
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.recording.cassette import Block, Called, Exchange, Head, Request, in_each
from hermes_kernel.core.recording.folders import Marked
from hermes_kernel.core.recording.headers import by_seconds
from hermes_kernel.core.recording.normal import Places, arguments, placed, plainly
from hermes_kernel.core.recording.normal import request as normal_request
from hermes_kernel.core.recording.ours import HOME_IN_A_SPEC, anywhere, at_home, without_ids
from hermes_kernel.core.recording.repeatable import repeatable
from hermes_kernel.core.recording.secrets import hidden, hidden_address, hidden_call, hidden_head, hidden_request
from hermes_kernel.world.model.routes import Route
from hermes_kernel.world.ports import Clock


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What of an agent's machine is in what it says and hears: its home, its working folder, secrets, the time."""

    home: Path
    folder: Callable[[], Path]
    secrets: Callable[[], frozenset[str]]
    clock: Clock


class Form:
    """That of an agent in these surroundings. ``theirs`` are secrets that it has, but does not use."""

    def __init__(self, around: Surroundings) -> None:
        self.theirs: frozenset[str] = frozenset()
        self._around = around

    def asked(self, body: bytes) -> Request:
        """What `body` is found by."""
        return hidden_request(self.request(body), self._secrets())

    def request(self, body: bytes) -> Request:
        """The same, in which secrets may be."""
        places = self._places()
        return without_ids(normal_request(json.loads(body), places), self._home(places))

    def kept(self, exchange: Exchange) -> Exchange:
        """`exchange` as it is recorded."""
        told = replace(exchange, headers=by_seconds(exchange.headers, self._around.clock.now()))
        return repeatable(hidden(told, self._secrets(), self._marked().hide))

    def blocks(self, exchange: Exchange) -> tuple[Block, ...]:
        """What came of an exchange that was recorded, in the folders of this place."""
        return self._marked().fill(exchange)

    def called(self, call: ToolCall) -> Called:
        """What a call is found by."""
        return hidden_call(
            Called(call.name, arguments(call.arguments, self._places()), "", id=call.id), self._secrets()
        )

    def result(self, called: Called, seen: Observed) -> Called:
        """A call with its result, as it is recorded."""
        text = self._plain(seen.text)
        return hidden_call(replace(called, text=text, ok=seen.ok, images=seen.images), self._secrets())

    def told(self, called: Called, *, spec: bool) -> str:
        """The result of a call that was recorded, in the folders of this place: what it says is found by the same
        words, and is as long as it was. In a ``spec`` a home is called the same wherever it is."""
        home = HOME_IN_A_SPEC if spec else str(self._around.home)
        told = at_home(placed(called.text, self._places()), home)
        return told if self._plain(told) == called.text else called.text

    def head(self, head: Head) -> Head:
        """`head` as it is recorded."""
        return hidden_head(head, self._secrets(), self._marked().hide)

    def settings(self, recorded: Mapping[str, Any]) -> dict[str, Any]:
        """Those of a head that was recorded, in the folders of this place: a model may be named by its file."""
        here = self._marked().here
        return {name: in_each(value, here) for name, value in recorded.items()}

    def named(self, route: Route) -> str:
        """`route` as a recording calls it: without its key, also where that is a part of the address."""
        return self._marked().hide(hidden_address(route.whole, self._secrets()))

    def _secrets(self) -> frozenset[str]:
        return self._around.secrets() | self.theirs

    def _places(self) -> Places:
        made = tempfile.gettempdir()
        tmp = dict.fromkeys((made, os.path.realpath(made), "/tmp", "/var/tmp"))  # noqa: S108 - names, not files
        return Places(os.path.expanduser("~"), str(self._around.folder()), tuple(tmp))  # noqa: PTH111 - cannot fail

    def _plain(self, text: str) -> str:
        places = self._places()
        return anywhere(plainly(text, places), self._home(places))

    def _home(self, places: Places) -> str:
        return plainly(str(self._around.home), places)

    def _marked(self) -> Marked:
        places = self._places()
        folders = {"tmp": places.tmp[0], "home": places.home, "here": places.here}
        return Marked({**folders, "hermes": str(self._around.home)})
