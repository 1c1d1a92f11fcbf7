"""Values to plain data and back: what a log line holds. Field names are the format.

Reading is forgiving where time passes between writer and reader: unknown fields are dropped, missing ones take their
default, and an unknown kind of fact reads as None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hermes_kernel.core import events
from hermes_kernel.core.events import KEPT, Kept
from hermes_kernel.core.messages import Assistant, Observation, User
from hermes_kernel.core.schedule import job

Plain = dict[str, Any]

MESSAGES = {"user": User, "assistant": Assistant, "observation": Observation}
NAMES = {kind: name for name, kind in MESSAGES.items()}
NAMESPACE = {**vars(job), **vars(events)}
"""What the hints of facts name."""
KINDS = {kind.__name__: kind for kind in KEPT}


def dump(event: Kept) -> Plain:
    """A fact as JSON-ready data. ``fact`` names it (`Opened` has a field ``kind``); defaults are left out."""
    return {"fact": type(event).__name__, **_dump_fields(event)}


def load(plain: Plain) -> Kept | None:
    """The fact that `dump` wrote, or None when its kind is of a later version.

    Raises:
        ValueError: a field is missing that has no default, or has a value its type does not know.
    """
    kind = KINDS.get(str(plain.get("fact", "")))
    if kind is None:
        return None
    try:
        return _load_value(kind, plain)  # type: ignore[no-any-return]
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"not a {kind.__name__}: {error}") from error


def _dump_fields(value: Any) -> Plain:
    found = ((f.name, getattr(value, f.name), default) for f, default in _shape(type(value)))  # type: ignore[arg-type]
    return {name: _dump(item) for name, item, default in found if item != default}


def _dump(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case tuple():
            return [_dump(item) for item in value]
        case User() | Assistant() | Observation():
            return {"role": NAMES[type(value)], **_dump_fields(value)}
        case str() | int() | float() | None:
            return value
    return _dump_fields(value)


def _load_fields(kind: type, plain: Plain) -> Plain:
    readers = _readers(kind)
    return {name: readers[name](item) for name, item in plain.items() if name in readers}


@cache
def _shape(kind: Any) -> tuple[tuple[Field[Any], Any], ...]:
    return tuple((f, f.default) for f in fields(kind))


@cache
def _readers(kind: type) -> dict[str, Callable[[Any], Any]]:
    hints = get_type_hints(kind, NAMESPACE)
    return {f.name: _reader(hints[f.name]) for f in fields(kind)}


def _reader(hint: Any) -> Callable[[Any], Any]:
    """How a value of this type is read from plain data."""
    arguments = get_args(hint)
    if get_origin(hint) is tuple:
        item = _reader(arguments[0])
        return lambda plain: tuple(item(each) for each in plain)
    if get_origin(hint) in (Union, UnionType):
        return _message if User in arguments else _optional(arguments)
    if is_dataclass(hint):
        return lambda plain: _load_value(hint, plain)
    if issubclass(hint, Enum):
        return hint  # type: ignore[no-any-return]
    return lambda plain: plain


def _optional(arguments: tuple[Any, ...]) -> Callable[[Any], Any]:
    inner = _reader(next(each for each in arguments if each is not NoneType))
    return lambda plain: None if plain is None else inner(plain)


def _load_value(kind: Any, plain: Plain) -> Any:
    return kind(**_load_fields(kind, plain))


def _message(plain: Plain) -> Any:
    return _load_value(MESSAGES[plain["role"]], plain)
