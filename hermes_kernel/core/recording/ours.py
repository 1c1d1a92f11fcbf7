"""What we ourselves put into requests that is another one each time: ids of sessions, where long results lie, and what
subagents were lent of a budget that others used meanwhile. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes_kernel.core.recording.cassette import Request

HOME_IN_A_SPEC = "$HERMES_HOME"
"""What a home is called there, in what a model reads and asks for."""

_RESULTS = "<results>/"
_ID = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{32}(?![0-9A-Za-z])")
_LENT = re.compile(r"(?<=\d of )\d+(?= calls, session )")


def without_ids(request: Request, home: str) -> Request:
    """`request` with ids numbered as they appear; ``home`` is called the same wherever it is."""
    told = _Told(home)
    messages = tuple(told.message(message) for message in request.messages)
    return request if messages == request.messages else Request(messages, request.tools)


def anywhere(text: str, home: str) -> str:
    """`text` in which long results lie in the same place, whichever ``home`` it is."""
    for called in (home, HOME_IN_A_SPEC):
        text = text.replace(f"{called}/results/", _RESULTS)
    return text


def at_home(text: str, home: str) -> str:
    """`text` in which long results lie in ``home``: `anywhere`, the other way round."""
    return text.replace(_RESULTS, f"{home}/results/")


@dataclass(slots=True)
class _Told:
    home: str
    ids: dict[str, str] = field(default_factory=dict)

    def message(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        changed = {**message, "content": self.text(message["content"])}
        if "calls" in message:
            changed["calls"] = [{**call, "arguments": self.text(call["arguments"])} for call in message["calls"]]
        return changed

    def text(self, text: str) -> str:
        text = _LENT.sub("…", anywhere(text, self.home))
        return _ID.sub(lambda found: self.ids.setdefault(found[0], f"<id {len(self.ids) + 1}>"), text)
