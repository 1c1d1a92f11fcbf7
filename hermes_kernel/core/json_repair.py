"""Tool arguments made usable: a JSON object as text, or one line that says why they are not one.

Never `{}` for arguments that said something, and never a value the model did not write.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from hermes_kernel.core.json_state import State, is_deep, json_state
from hermes_kernel.core.lenient_json import Json, Unreadable, finite, read
from hermes_kernel.core.text import brief, scrub

CUT = "the arguments were cut off after {} characters; send the call again, whole, or split the work into smaller calls"
NOT_OBJECT = "the arguments must be one JSON object with the parameters by name, not {}"
NOT_JSON = "the arguments are not valid JSON ({}); send the call again with a JSON object, quotes and newlines escaped"

_FENCE = re.compile(r"\A```[\w-]*+[^\S\n]*+\n(.*)```\Z", re.DOTALL)
_HALF_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_MOST_ENCODED = 8
"""Times that arguments are encoded in one another; more is no mistake of a model, and each costs a reading."""
_UNREADABLE = (ValueError, RecursionError)
"""What `json.loads` raises: the second for nesting that is too deep."""


@dataclass(frozen=True, slots=True)
class Mended:
    """``arguments`` is a JSON object as text, or the model's own words when there is a ``flaw``. ``cut`` when they are
    the beginning of something."""

    arguments: str
    flaw: str = ""
    cut: bool = False


def mend(text: str) -> Mended:
    """`text` as arguments. Nothing at all means a call without arguments."""
    return _mended(scrub(text), _MOST_ENCODED)


def is_object(text: str) -> bool:
    """Whether `text` is a whole JSON object."""
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        return False
    try:
        json.loads(stripped, strict=False)
    except _UNREADABLE:
        return False
    return True


def dumped(value: object) -> str:
    """`value` as JSON text without lone surrogates."""
    return scrub(json.dumps(value, ensure_ascii=False))


def _mended(text: str, layers: int) -> Mended:
    """``layers``: how often it may be encoded in itself."""
    stripped = text.strip()
    if not stripped:
        return Mended("{}")
    try:
        value = json.loads(stripped, strict=False, parse_constant=_null, parse_float=finite)
    except _UNREADABLE as error:
        return _repaired(text, stripped, error, layers)
    if is_deep(stripped):
        return Mended(text, NOT_JSON.format(_complaint(RecursionError())))
    return _taken(text, value, layers)


def _repaired(text: str, stripped: str, error: Exception, layers: int) -> Mended:
    if json_state(stripped) is State.PREFIX:
        return Mended(text, CUT.format(len(text)), cut=True)
    fenced = _FENCE.match(stripped)
    try:
        value = read(fenced.group(1) if fenced else stripped)
    except (Unreadable, *_UNREADABLE):
        return Mended(text, NOT_JSON.format(_complaint(error)))
    return _taken(text, value, layers)


def _taken(text: str, value: Json, layers: int) -> Mended:
    if isinstance(value, dict):
        return Mended(_spelt(text, value))
    if layers and isinstance(value, str) and value.strip().startswith(("{", '"', "`")):
        inner = _mended(scrub(value), layers - 1)  # encoded twice
        return Mended(text, inner.flaw, inner.cut) if inner.flaw else inner
    return Mended(text, NOT_OBJECT.format(_kind(value)))


def _spelt(text: str, value: dict[str, Json]) -> str:
    """The model's own spelling where it is JSON that every parser takes; ours otherwise."""
    try:
        json.loads(text, parse_constant=_refuse)
    except _UNREADABLE:
        return dumped(value)
    return dumped(value) if _HALF_SURROGATE.search(text) else text.strip()


def _null(_: str) -> None:
    """NaN and the infinities are no JSON; most encoders write null for them."""


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _kind(value: Json) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "a string"
    return brief(json.dumps(value), 20)


def _complaint(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return "nested too deeply" if isinstance(error, RecursionError) else "a number is too long"
