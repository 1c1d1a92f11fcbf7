"""Traffic that is recorded with real agents and models, answered from again, and compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from hermes_kernel.core.events import Event, Failed, Observed, Replied, Retrying, Silence, Waiting
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.recording.cassette import Cassette
from hermes_kernel.core.recording.reading import read

KEY = "sk-very-secret-0123456789"
TIMES = ("seconds", "first_byte_seconds", "silences", "wait")


def timeless(events: Iterable[Event]) -> list[Event]:
    """`events` but for how long each took, and those that only tell that time goes by."""
    return [_timeless(event) for event in events if not isinstance(event, Silence | Waiting)]


def _timeless(event: Event) -> Event:
    if not isinstance(event, Replied | Failed | Observed | Retrying):
        return event
    if isinstance(event, Failed) and event.fault is Fault.PROACTIVE_RATE_LIMIT:
        event = replace(event, message=re.sub(r"[\d.]+ s", "a while", event.message))
    named = {field.name for field in fields(event)}
    return replace(event, **{name: () if name == "silences" else 0.0 for name in TIMES if name in named})  # type: ignore[arg-type]


def waits(events: Iterable[Event]) -> list[float | None]:
    """What servers asked for in each failure."""
    return [event.wait for event in events if isinstance(event, Failed)]


def held(path: Path) -> Cassette:
    """What a file holds."""
    return read(path.read_bytes())


def lines(path: Path) -> list[dict[str, Any]]:
    """Its lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
