"""What a picture says in words: a call's row, what is going on, who allowed what. Each is a value or a short text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hermes_kernel.core.events import Approved, Compressed, Retrying, Silence
from hermes_kernel.core.messages import Image, ToolCall
from hermes_kernel.core.text import brief
from hermes_kernel.view.turn.detail import NOTHING, Extract, as_json, given

ARGUMENTS = 88  # characters of a call's arguments in its row
ENTRIES = 24  # members of a list that are looked at for that
HEARD = 2.0  # seconds of silence within a stream that are nothing to speak of
PATIENT = 20.0  # seconds of thinking after which the limit is worth knowing
QUEUED = "queued by the provider"
REFUSED = {"headless": "nobody is there to ask", "silence": "nobody answered"}
SUMMARISING = "summarising "  # how a line begins that tells of a summary for which the turn waits
WITHDRAWN = "withdrawn; once more:"  # below an answer where it cannot be taken back, above the other one


@dataclass(frozen=True, slots=True)
class Row:
    """One tool call. ``state`` is ``asked``, ``running``, ``ok``, ``failed`` or ``not run``; ``note`` says who allowed
    or refused it. ``arguments`` are told on one line, ``given`` and ``result`` can be looked at; ``unseen`` of its
    images are left out. Seconds are of elapsed time, known once it has ended."""

    call_id: str
    name: str
    arguments: str
    state: str = "asked"
    seconds: float = 0.0
    note: str = ""
    given: Extract = NOTHING
    result: Extract = NOTHING
    images: tuple[Image, ...] = ()
    unseen: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """What is going on; names in it stand between backticks. ``ticks``: the seconds since it began belong behind it.
    ``tone`` is ``busy``, ``slow`` (something is in the way) or ``person`` (it is your turn). ``spoken`` is the same
    without what changes each second, where that is not ``words``."""

    words: str
    ticks: bool = False
    tone: str = "busy"
    spoken: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know of. ``figures`` say how much; they differ from run to run."""

    words: str
    figures: str = ""

    @property
    def said(self) -> str:
        """With its figures."""
        return f"{self.words}: {self.figures}" if self.figures else self.words


THINKING = Status("thinking", ticks=True)
WRITING = Status("writing")
WORKING = Status("working", ticks=True)
COMPRESSING = Status("compressing", ticks=True)
WAITING = Status("waiting for you", tone="person")


def asked(call: ToolCall) -> Row:
    """The row of a call that the model has just made."""
    return Row(call.id, call.name, in_brief(call.arguments), given=given(call.name, call.arguments))


def in_brief(arguments: str) -> str:
    """A call's arguments on one line: the value alone where there is but one."""
    try:
        values = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return brief(arguments, ARGUMENTS)
    if not isinstance(values, dict):
        return brief(arguments, ARGUMENTS)
    if len(values) == 1:
        return brief(_value(next(iter(values.values()))), ARGUMENTS)
    return brief(", ".join(f"{name}={_value(value)}" for name, value in values.items()), ARGUMENTS)


def _value(value: Any) -> str:
    match value:
        case str():
            return value
        case [dict() | str() as first, *_] if first:
            return " · ".join(_entry(each) for each in value[:ENTRIES])
    return as_json(value)


def _entry(value: Any) -> str:
    """One of several things of a kind: its name, else what is said of it first."""
    said = (value.get("name") or next(iter(value.values()))) if isinstance(value, dict) and value else value
    return said if isinstance(said, str) else as_json(said)


def running(rows: tuple[Row, ...]) -> Status:
    """The tools that run, by name."""
    names = [row.name for row in rows if row.state == "running"]
    if not names:
        return WORKING
    if len(names) > 1:
        return Status(f"{len(names)} tools: {brief(', '.join(names), 60)}", ticks=True)
    return Status(f"tool {as_code(names[0])}", ticks=True)


def calling(name: str, characters: int) -> Status:
    """The model is writing a call."""
    words = f"writing a call of {as_code(name)}"
    return Status(f"{words}, {characters:,} characters", spoken=words)


def as_code(name: str) -> str:
    """A name between the backticks that make it code, whatever is in it."""
    return f"`{brief(name.replace('`', ''), 60)}`"


def lasting(status: Status, seconds: float) -> str:
    """A status with the seconds since it began, where they matter."""
    return f"{status.words} {int(seconds)} s" if status.ticks and seconds >= 1 else status.words


def said_by(approved: Approved) -> str:
    """Who allowed or refused a call, and for how long."""
    if not approved.allowed:
        return f"refused: {REFUSED[approved.by]}" if approved.by in REFUSED else f"refused by {approved.by}"
    return f"allowed by {approved.by} ({approved.scope})"


def silent(silence: Silence, before: Status) -> Status:
    """What a silence means, or `before` where it is nothing to speak of."""
    seconds, limit = int(silence.seconds), int(silence.limit)
    match silence.kind:
        case "queued":
            return Status(f"{QUEUED} {seconds} s", tone="slow", spoken=QUEUED)
        case "stream" if silence.seconds >= HEARD:
            return Status(f"silent {seconds} of {limit} s", tone="slow", spoken="silent")
        case "first_byte" if silence.seconds >= PATIENT:
            return Status(f"no answer yet {seconds} of {limit} s", tone="slow", spoken="no answer yet")
    return THINKING if before.tone == "slow" else before


def waiting(retry: Retrying | None, seconds: float) -> Status:
    """How long it is until the next try."""
    if retry is None:
        return Status(f"waiting {seconds:.0f} s", tone="slow", spoken="waiting")
    which, why = f"retry {retry.attempt} of {retry.of}", f"({plainly(retry.fault)})"
    return Status(f"{which} in {seconds:.0f} s {why}", tone="slow", spoken=f"{which} {why}")


def shortened(event: Compressed) -> tuple[str, str]:
    """What a compression did, and how much."""
    match event.how:
        case "summary":
            words = "earlier messages were summarised"
        case "pruned":
            words = "long results of earlier tools were shortened"
        case _:
            words = "earlier messages were left out, with a list of what was done in their place"
    if event.note:
        words = f"{words} ({brief(event.note, 160)})"
    return words, f"{event.before:,} → {event.after:,} tokens"


def plainly(fault: str) -> str:
    """A fault's name as a person would write it."""
    return str(fault).replace("_", " ")
