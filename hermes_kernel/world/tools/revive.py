"""JSON values, already fitted to a schema, as what a function's hints promise: enums, dataclasses, sets, dates."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import pathlib
import types
import typing
import uuid
from collections import abc
from collections.abc import Callable
from typing import Any

from hermes_kernel.world.tools.schema import LISTS, MAPPINGS, fields_of, is_typed_dict, plain

MAKERS: dict[Any, Callable[[Any], Any]] = {
    dt.datetime: dt.datetime.fromisoformat,
    dt.date: dt.date.fromisoformat,
    dt.time: dt.time.fromisoformat,
    uuid.UUID: uuid.UUID,
    decimal.Decimal: lambda value: decimal.Decimal(str(value)),
    pathlib.Path: pathlib.Path,
    float: float,
}
COLLECTIONS: dict[Any, Callable[[Any], Any]] = {
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    abc.Set: set,
}


def revive(hint: Any, value: Any) -> Any:
    """`value` as `hint` promises it. A value of a hint that JSON carries as it is comes back unchanged.

    Raises:
        ValueError, TypeError: the value is of the right JSON type and still not possible, such as month 13.
    """
    hint = plain(hint)
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return revive(typing.get_args(hint)[0], value)
    if origin in (typing.Union, types.UnionType):
        return _first_of(typing.get_args(hint), value)
    kind = origin or hint
    if isinstance(kind, abc.Hashable) and kind in MAKERS:
        return MAKERS[kind](value)
    if kind in LISTS and isinstance(value, list):
        return COLLECTIONS.get(kind, list)(_members(kind, typing.get_args(hint), value))
    if kind in MAPPINGS and isinstance(value, dict) and len(typing.get_args(hint)) == 2:
        return {key: revive(typing.get_args(hint)[1], item) for key, item in value.items()}
    return _instance(kind, value) if isinstance(kind, type) else value


def _members(kind: Any, args: tuple[Any, ...], values: list[Any]) -> list[Any]:
    if not args:
        return values
    if kind is tuple and args[-1] is not Ellipsis:
        return [revive(hint, value) for hint, value in zip(args, values, strict=True)]
    return [revive(args[0], value) for value in values]


def _first_of(members: tuple[Any, ...], value: Any) -> Any:
    if value is None and type(None) in members:
        return None
    if isinstance(value, (str, int, float, bool)) and type(value) in members:
        return value
    for member in members:
        if plain(member) is type(None):
            continue
        try:
            return revive(member, value)
        except (ValueError, TypeError, KeyError):
            continue
    return value


def _instance(cls: Any, value: Any) -> Any:
    if issubclass(cls, enum.Enum):
        return cls(value)
    validate = getattr(cls, "model_validate", None)
    if callable(validate) and hasattr(cls, "model_json_schema"):
        return validate(value)
    fields = fields_of(cls) if isinstance(value, dict) else None
    if fields is None:
        return value
    revived = {name: revive(fields[name][0], item) for name, item in value.items() if name in fields}
    return revived if is_typed_dict(cls) else cls(**revived)
