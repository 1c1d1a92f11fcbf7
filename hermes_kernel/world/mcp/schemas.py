"""A stranger's JSON Schema as one that can be trusted to be small and well formed: references are written out, what is
of the wrong kind is left out, and what has no end or no sense is refused. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any

from hermes_kernel.core.text import scrub
from hermes_kernel.world.mcp.naming import seen

Schema = dict[str, Any]

NODES = 2_000  # schemas and values in one tool's schema; large ones in use have some hundreds
DEPTH = 24
CHARACTERS = 40_000  # about 10,000 tokens, which every call of the model pays
WORDS = 1_000  # characters of one description
NAME = 64  # characters of a parameter's name, with every provider
TYPES = frozenset({"string", "boolean", "integer", "number", "array", "object", "null"})
AT_TOP = ("anyOf", "oneOf", "allOf", "enum", "not", "const")  # which providers refuse there
MANY = ("anyOf", "oneOf", "allOf", "prefixItems")


class Unusable(ValueError):
    """A schema that no call can be made with. The text says why, after the tool's name."""


def usable(schema: Any, safe: Callable[[str], str] = str) -> str:
    """The schema of a tool's arguments, as JSON text, with no reference in it and nothing that `safe` takes out.

    Raises:
        Unusable: it is no schema of an object, too large, or tells a secret in the name of a parameter.
    """
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise Unusable("its arguments are no object")
    wide = _Cleaning(schema, safe).schema({key: value for key, value in schema.items() if key not in AT_TOP}, 0, ())
    made = {key: value for key, value in wide.items() if key not in AT_TOP}  # a reference brings them in again
    if made.setdefault("type", "object") != "object":
        raise Unusable("its arguments are no object")
    made.setdefault("properties", {})
    if any(key in schema or key in wide for key in AT_TOP):
        made["additionalProperties"] = True
    try:
        text = json.dumps(made, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise Unusable("the schema of its arguments holds a number that JSON does not know") from None
    if len(text) > CHARACTERS:
        raise Unusable(f"the schema of its arguments has {len(text):,} characters, and {CHARACTERS:,} are taken")
    return text


class _Cleaning:
    """One walk through a schema. ``within`` are the references being written out: one that holds itself ends there."""

    def __init__(self, root: Schema, safe: Callable[[str], str]) -> None:
        self._root = root
        self._safe = safe
        self._left = NODES

    def schema(self, schema: Any, depth: int, within: tuple[str, ...]) -> Schema:
        """`schema` as it is taken over; one that is no object takes anything."""
        self._count(depth)
        if not isinstance(schema, dict):
            return {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self._referred(reference, schema, depth, within)
        made: Schema = {}
        for key, value in schema.items():
            if key in KEPT and KEPT[key](value):
                made[key] = self._plain(value, depth + 1)
        return made | self._inner(schema, depth, within)

    def _inner(self, schema: Schema, depth: int, within: tuple[str, ...]) -> Schema:
        made: Schema = {}
        properties = schema.get("properties")
        if isinstance(properties, dict):
            made["properties"] = {
                self._name(name): self.schema(inner, depth + 1, within) for name, inner in properties.items()
            }
        required = schema.get("required")
        if isinstance(required, list):
            made["required"] = [
                name for name in required if isinstance(name, str) and name in made.get("properties", ())
            ]
        for key in MANY:
            if isinstance(schema.get(key), list) and schema[key]:
                made[key] = [self.schema(inner, depth + 1, within) for inner in schema[key]]
        for key in ("items", "additionalProperties", "not"):
            if isinstance(schema.get(key), dict):
                made[key] = self.schema(schema[key], depth + 1, within)
        return made

    def _referred(self, reference: str, schema: Schema, depth: int, within: tuple[str, ...]) -> Schema:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        if reference in within or not reference.startswith("#/"):
            return self.schema(beside, depth + 1, within)
        target: Any = self._root
        for part in reference[2:].split("/"):
            found = part.replace("~1", "/").replace("~0", "~")
            target = target.get(found) if isinstance(target, dict) else None
        merged = {**target, **beside} if isinstance(target, dict) else beside
        return self.schema(merged, depth + 1, (*within, reference))

    def _plain(self, value: Any, depth: int) -> Any:
        self._count(depth)
        match value:
            case str():
                return seen(value, WORDS, self._safe)
            case list():
                return [self._plain(item, depth + 1) for item in value]
            case dict():
                return {self._safe(scrub(str(key))): self._plain(item, depth + 1) for key, item in value.items()}
        return value

    def _name(self, name: Any) -> str:
        if not isinstance(name, str) or not name or name != seen(name, NAME):
            raise Unusable("a parameter has a name that cannot be written")
        if name != self._safe(name):
            raise Unusable("a parameter has a name with a secret in it")
        return name

    def _count(self, depth: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise Unusable(f"the schema of its arguments has more than {NODES:,} parts when it is written out")
        if depth > DEPTH:
            raise Unusable(f"the schema of its arguments is nested deeper than {DEPTH} levels")


def _is_type(value: Any) -> bool:
    kinds: Iterable[Any] = value if isinstance(value, list) and value else [value]
    return all(isinstance(kind, str) and kind in TYPES for kind in kinds)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_json(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= WORDS


KEPT: dict[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "description": lambda value: isinstance(value, str),
    "enum": lambda value: isinstance(value, list) and bool(value),
    "const": _is_json,
    "default": _is_json,
    "format": _is_text,
    "pattern": _is_text,
    "minimum": _is_number,
    "maximum": _is_number,
    "exclusiveMinimum": _is_number,
    "exclusiveMaximum": _is_number,
    "multipleOf": _is_number,
    "minLength": _is_count,
    "maxLength": _is_count,
    "minItems": _is_count,
    "maxItems": _is_count,
    "uniqueItems": lambda value: isinstance(value, bool),
    "additionalProperties": lambda value: isinstance(value, bool),
}
"""Which keywords are taken over as they stand, and what each must hold."""
