"""What the original says of one conversation, as values: cleaned, bounded, and with nothing of ours in it yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import Image, ToolCall, Usage
from hermes_kernel.core.redact import LEAST
from hermes_kernel.core.text import scrub


class Standing(Enum):
    """What became of a message: ``ARCHIVED`` ones were summed up by a compaction and can still be found, those
    ``TAKEN_BACK`` were rewound by the person."""

    LIVE = "live"
    ARCHIVED = "archived"
    TAKEN_BACK = "taken back"


@dataclass(frozen=True, slots=True)
class Told:
    """One message. ``key`` is the same whenever this message is read again, wherever from; ``t`` is seconds since
    1970-01-01 UTC, or None where the original has no time that can be read."""

    key: str
    t: float | None
    role: str
    text: str = ""
    images: tuple[Image, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    thoughts: str = ""
    extra: str = ""
    finish: Finish = Finish.STOP
    ok: bool = True
    standing: Standing = Standing.LIVE


@dataclass(frozen=True, slots=True)
class Story:
    """One conversation. ``spent`` is what all of it has cost by now; ``each`` is the model of every reply, ``""`` where
    there were several. Only a ``whole`` story says of a message it does not tell that it is gone."""

    session: str
    parent: str = ""
    kind: str = "chat"
    title: str = ""
    system: str = ""
    model: str = ""
    each: str = ""
    started: float | None = None
    spent: Usage = Usage()
    messages: tuple[Told, ...] = ()
    whole: bool = True


@dataclass(slots=True)
class Care:
    """What is done to foreign text before it is kept, and a count of what had to be done. ``redact`` takes secrets out
    of a text."""

    redact: Callable[[str], str]
    hidden: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def clean(self, text: str) -> str:
        """`text` that every file and provider takes, without the secrets in it."""
        whole = scrub(text)
        if len(whole) < LEAST:
            return whole
        safe = self.redact(whole)
        self.hidden += safe != whole
        return safe

    def skip(self, why: str, count: int = 1) -> None:
        """Something was left out, and this is why."""
        self.skipped[why] += count
