"""Type hints as JSON Schema. Knows hints, never calls or values; a hint that JSON cannot carry is refused by name."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import pathlib
import types
import typing
import uuid
from collections import abc
from typing import Any

Schema = dict[str, Any]

SCALARS: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    dt.datetime: {"type": "string", "format": "date-time"},
    dt.date: {"type": "string", "format": "date"},
    dt.time: {"type": "string", "format": "time"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    decimal.Decimal: {"type": "number"},
    pathlib.Path: {"type": "string"},
    Any: {},
    object: {},
}
LISTS = (list, tuple, set, frozenset, abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection, abc.Set)
MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)
LIMITS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}


class HintError(TypeError):
    """A parameter that a model cannot be asked for; the message names it and what to write instead."""


def schema_of(hint: Any, inside: tuple[Any, ...] = ()) -> Schema:
    """The JSON Schema of `hint`. ``inside`` are the classes being described, so that a type that contains itself ends.

    Raises:
        HintError: JSON has no form for it.
    """
    hint = plain(hint)
    if isinstance(hint, (typing.TypeVar, str, typing.ForwardRef)):
        return {}
    if isinstance(hint, abc.Hashable) and hint in SCALARS:
        return dict(SCALARS[hint])
    if typing.get_origin(hint) is typing.Annotated:
        return _annotated(hint, inside)
    return _composed(hint, typing.get_origin(hint) or hint, typing.get_args(hint), inside)


def _composed(hint: Any, origin: Any, args: tuple[Any, ...], inside: tuple[Any, ...]) -> Schema:
    if origin in (typing.Union, types.UnionType):
        return _union(args, inside)
    if origin is typing.Literal:
        return _enum(args)
    if origin in LISTS:
        return _array(origin, args, inside)
    if origin in MAPPINGS:
        return _mapping(args, inside)
    return _class(hint, inside)


def plain(hint: Any) -> Any:
    """`hint` without the wrappers that mean nothing to JSON: ``NewType``, ``type X = …``, ``Required``, ``Final``."""
    while True:
        if typing.get_origin(hint) in (typing.Required, typing.NotRequired, typing.Final, typing.ClassVar):
            hint = typing.get_args(hint)[0]
        elif hasattr(hint, "__supertype__"):
            hint = hint.__supertype__
        elif hasattr(hint, "__value__"):
            hint = hint.__value__
        else:
            return type(None) if hint is None else hint


def fields_of(cls: Any) -> dict[str, tuple[Any, bool]] | None:
    """Name to (hint, required) of a TypedDict, dataclass or NamedTuple; None for any other class."""
    if is_typed_dict(cls):
        return {name: (hint, name in cls.__required_keys__) for name, hint in _hints(cls).items()}
    if dataclasses.is_dataclass(cls):
        hints = _hints(cls)
        missing = dataclasses.MISSING
        return {
            f.name: (hints[f.name], f.default is missing and f.default_factory is missing)
            for f in dataclasses.fields(cls)
            if f.init
        }
    if isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields"):
        named: Any = cls
        hints = _hints(cls)
        return {name: (hints.get(name, Any), name not in named._field_defaults) for name in named._fields}
    return None


def is_typed_dict(cls: Any) -> bool:
    """Whether `cls` is a TypedDict, of `typing` or of a backport that `typing.is_typeddict` does not know."""
    return isinstance(cls, type) and issubclass(cls, dict) and hasattr(cls, "__required_keys__")


def _hints(cls: Any) -> dict[str, Any]:
    return typing.get_type_hints(cls, include_extras=True)


def _annotated(hint: Any, inside: tuple[Any, ...]) -> Schema:
    base, *notes = typing.get_args(hint)
    schema = schema_of(base, inside)
    for note in notes:
        text = (
            note
            if isinstance(note, str)
            else getattr(note, "description", None) or getattr(note, "documentation", None)
        )
        if isinstance(text, str):
            schema["description"] = text
        for part in (note, *getattr(note, "metadata", ())):
            limits = {
                LIMITS[name]: getattr(part, name)
                for name in LIMITS
                if isinstance(getattr(part, name, None), (int, float))
            }
            schema.update(limits)
    return schema


def _union(members: tuple[Any, ...], inside: tuple[Any, ...]) -> Schema:
    choices = [schema_of(member, inside) for member in members]
    if {} in choices:
        return {}
    return {"anyOf": choices}


def _enum(values: tuple[Any, ...]) -> Schema:
    try:
        json.dumps(values)
    except TypeError as error:
        raise HintError(f"its choices {values!r} are not all JSON values") from error
    names = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    kinds = {names[type(value)] for value in values if type(value) in names}
    schema: Schema = {"enum": list(values)}
    return {"type": kinds.pop(), **schema} if len(kinds) == 1 else schema


def _array(kind: Any, args: tuple[Any, ...], inside: tuple[Any, ...]) -> Schema:
    if kind is tuple and args and args[-1] is not Ellipsis:
        items = [schema_of(arg, inside) for arg in args]
        same = all(item == items[0] for item in items)
        return {
            "type": "array",
            "items": items[0] if same else {"anyOf": items},
            "minItems": len(args),
            "maxItems": len(args),
        }
    schema: Schema = {"type": "array", "items": schema_of(args[0], inside) if args else {}}
    return {**schema, "uniqueItems": True} if kind in (set, frozenset, abc.Set) else schema


def _mapping(args: tuple[Any, ...], inside: tuple[Any, ...]) -> Schema:
    values = schema_of(args[1], inside) if len(args) == 2 else {}
    return {"type": "object", "additionalProperties": values} if values else {"type": "object"}


def _class(cls: Any, inside: tuple[Any, ...]) -> Schema:
    if cls in inside:
        return {"type": "object"}
    if isinstance(cls, type) and issubclass(cls, enum.Enum):
        return _enum(tuple(member.value for member in cls))
    describe = getattr(cls, "model_json_schema", None)
    if isinstance(cls, type) and callable(describe):
        return typing.cast("Schema", describe())
    fields = fields_of(typing.get_origin(cls) or cls)
    if fields is None:
        name = getattr(cls, "__name__", str(cls))
        raise HintError(f"{name} has no JSON form; use str, int, float, bool, list, dict, a dataclass or Any")
    properties = {name: schema_of(hint, (*inside, cls)) for name, (hint, _) in fields.items()}
    required = [name for name, (_, needed) in fields.items() if needed]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
