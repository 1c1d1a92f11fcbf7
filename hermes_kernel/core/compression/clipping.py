"""Long texts become head and tail around a line that says how long the whole was and, where that is known, in which
file it is. What is clipped is never longer than its limit, so clipping again changes nothing."""

from __future__ import annotations

import json
import re
from typing import Any

from hermes_kernel.core.messages import Image
from hermes_kernel.core.text import scrub

HEAD = 0.65
PATH = 400
PLACE = 300
"""Characters set aside for the line in a gap that names a file, so that what is cut does not depend on how long a path
is: a conversation that is played again in another folder is the same. Where there are not twice as many, it names none.
"""
GAP = re.compile(
    r"\[… ([\d,]{1,20}) characters in all; the middle is left out"
    rf"(?:; all of it is in ([^\n]{{1,{PATH}}}?); read_file shows parts)?"
)
"""The line of a text that was bounded, here or when the tool's result was kept."""


def clip(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, of which the line in the gap takes about 80, and `PLACE` if it names a
    file."""
    if len(text) <= limit:
        return text
    found = GAP.search(text)
    whole, file = (found[1], found[2]) if found else (f"{len(text):,}", "")
    place = PLACE if file and limit >= 2 * PLACE else 0
    where = f"; all of it is in {file}; read_file shows parts" if place else ""
    gap = f"\n[… {whole} characters in all; the middle is left out{where} …]\n"
    room = max(limit - max(len(gap), place), 0)
    head = int(room * HEAD)
    tail = room - head
    return (text[:head] + gap + (text[-tail:] if tail else ""))[:limit]


def imageless(text: str, images: tuple[Image, ...]) -> str:
    """`text` with a line that counts the images that went with it."""
    count = f"[{len(images)} image{'s' * (len(images) > 1)} left out]"
    return f"{text}\n{count}".lstrip("\n") if images else text


def clipped(text: str) -> bool:
    """Whether the middle of `text` was left out before."""
    return GAP.search(text) is not None


def clip_arguments(arguments: str, limit: int) -> str:
    """A call's arguments with each string in them clipped to `limit`: the same JSON object otherwise, keys and all.

    What cannot be read, and written again as it was, is returned as it is.
    """
    if len(arguments) <= limit:
        return arguments
    try:
        plain = json.loads(arguments)
        shorter = _clip_strings(plain, limit)
        return arguments if shorter == plain else scrub(json.dumps(shorter, ensure_ascii=False, allow_nan=False))
    except (ValueError, RecursionError):
        return arguments


def flatten_arguments(arguments: str, limit: int) -> str:
    """Arguments that are long for all their clipped strings: each value as JSON text, clipped. Keys stay; of what
    cannot be read nothing does."""
    try:
        plain = json.loads(arguments)
        flat = {key: clip(json.dumps(value, ensure_ascii=False), limit) for key, value in plain.items()}
    except (ValueError, RecursionError, AttributeError):
        return "{}"
    return scrub(json.dumps(flat, ensure_ascii=False))


def _clip_strings(value: Any, limit: int) -> Any:
    match value:
        case str():
            return clip(value, limit)
        case list():
            return [_clip_strings(item, limit) for item in value]
        case dict():
            return {key: _clip_strings(item, limit) for key, item in value.items()}
    return value
