"""What a person calls a run: a part of its id that is short enough to be typed, and means it all the same. Pure."""

from __future__ import annotations

import re

LEAST = 4  # characters of an id's beginning
WHOLE = re.compile(r"([^\W_]{4})[^\W_]*-\d{4}(\d{4}T\d{4})(\d\d)Z(?:-asked-(\w{4}))?", re.ASCII)


def short(run: str) -> str:
    """``abcd-1207T0800`` of what is due on 7 December at 08:00 UTC, with four more characters of one that was asked
    for; an id of another make as it is."""
    found = WHOLE.fullmatch(run)
    if found is None:
        return run
    job, minute, second, chance = found.groups()
    return f"{job}-{minute}-{chance}" if chance else f"{job}-{minute}{second if second != '00' else ''}"


def means(which: str, run: str) -> bool:
    """`which` is the beginning of the run's id, or of its short name."""
    return len(which) >= LEAST and (run.startswith(which) or short(run).startswith(which))
