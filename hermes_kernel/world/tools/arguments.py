"""A model's arguments held against a JSON Schema: gently mended where only one meaning is possible, else refused in
words the model can act on. Pure; knows no tool and no Python type beyond JSON's."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable
from typing import Any

from hermes_kernel.core.text import brief
from hermes_kernel.world.tools.schema import Schema

DEPTH = 64
SHOWN = 120
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
BOUNDS: dict[str, Callable[[Any, Any], bool]] = {
    "minimum": operator.lt,
    "exclusiveMinimum": operator.le,
    "maximum": operator.gt,
    "exclusiveMaximum": operator.ge,
}
NOTHING = ("null", "none", "")
WORDS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


class Misfit(ValueError):
    """An argument that is not what the schema asks for. The message is for the model."""


def fit_arguments(arguments: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """`arguments` as `schema` (a tool's whole ``parameters`` object) wants them.

    Raises:
        Misfit: names the parameter, what was expected, what was given and the allowed names.
    """
    properties: Schema = schema.get("properties", {})
    required = schema.get("required", [])
    fitted: dict[str, Any] = {}
    for given, value in arguments.items():
        name = _named(given, properties, schema)
        if value is None and name not in required and not _takes_null(properties.get(name, {}), schema):
            continue
        fitted[name] = fit(value, properties.get(name, {}), name, schema)
    missing = [name for name in required if name not in fitted]
    if missing:
        raise Misfit(f"missing {_listed(missing)}. {_allowed(properties, required)}")
    return fitted


def fit(value: Any, schema: Schema, name: str, root: Schema, depth: int = 0) -> Any:
    """`value` as `schema` wants it. ``name`` is the path shown in a complaint, ``root`` is where ``$ref`` looks."""
    if depth > DEPTH:
        raise Misfit(f"{name}: nested deeper than {DEPTH} levels")
    schema = _resolved(schema, root)
    if "anyOf" in schema or "oneOf" in schema:
        return _fit_any(value, schema, name, root, depth)
    kind = schema.get("type")
    if isinstance(kind, list):
        return _fit_any(value, {"anyOf": [{**schema, "type": one} for one in kind]}, name, root, depth)
    if kind in TYPES:
        value = _coerced(value, kind, name)
    if "enum" in schema:
        return _chosen(value, schema["enum"], name)
    _within(value, schema, name)
    if kind == "array":
        return [fit(item, schema.get("items", {}), f"{name}[{i}]", root, depth + 1) for i, item in enumerate(value)]
    if kind == "object":
        return _fit_object(value, schema, name, root, depth)
    return value


def _fit_object(value: dict[str, Any], schema: Schema, name: str, root: Schema, depth: int) -> dict[str, Any]:
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    missing = [key for key in schema.get("required", []) if key not in value]
    if missing:
        raise Misfit(f"{name}: missing {_listed(missing)}")
    extra = [key for key in value if key not in properties]
    if extra and others is False:
        raise Misfit(f"{name}: does not know {_listed(extra)}; it has {_listed(list(properties))}")
    rest = others if isinstance(others, dict) else {}
    return {key: fit(item, properties.get(key, rest), f"{name}.{key}", root, depth + 1) for key, item in value.items()}


def _fit_any(value: Any, schema: Schema, name: str, root: Schema, depth: int) -> Any:
    choices = [_resolved(choice, root) for choice in schema.get("anyOf") or schema["oneOf"]]
    exact = [choice for choice in choices if _is(value, choice.get("type"))]
    complaints = []
    for choice in exact or choices:
        try:
            return fit(value, choice, name, root, depth + 1)
        except Misfit as complaint:
            complaints.append(str(complaint))
    if len(complaints) == 1:
        raise Misfit(complaints[0])
    raise Misfit(f"{name}: expected {' or '.join(_kind(choice) for choice in choices)}, got {_shown(value)}")


def _coerced(value: Any, kind: str, name: str) -> Any:
    if _is(value, kind):
        return value
    try:
        return _mended(value, kind)
    except (ValueError, RecursionError):
        raise Misfit(f"{name}: expected {kind}, got {_shown(value)}") from None


def _mended(value: Any, kind: str) -> Any:
    """`value` as the `kind` it can only have meant.

    Raises:
        ValueError: it can mean nothing of that kind, or too much.
    """
    match kind, value:
        case "integer", str() | float() if not isinstance(value, float) or value.is_integer():
            return int(value)
        case "number", str() if math.isfinite(float(value)):
            return float(value)
        case "boolean", str() | int() if str(value).strip().lower() in WORDS:
            return WORDS[str(value).strip().lower()]
        case "string", bool() | int() | float():
            return json.dumps(value)
        case "null", str() if value.strip().lower() in NOTHING:
            return None
        case "array" | "object", str():
            return _unwrapped(value, kind)
        case "array", int() | float() | dict():
            return [value]
    raise ValueError(kind)


def _unwrapped(text: str, kind: str) -> Any:
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(kind) from None
    except ValueError:
        if kind == "array" and text and not text.lstrip().startswith(("[", "{")):
            return [text]
        raise
    if kind == "array" and not isinstance(value, list):
        return [text if not isinstance(value, dict) else value]
    if not _is(value, kind):
        raise ValueError(kind)
    return value


def _chosen(value: Any, choices: list[Any], name: str) -> Any:
    for choice in choices:
        if value == choice and isinstance(value, bool) == isinstance(choice, bool):
            return choice
    alike = [choice for choice in choices if str(choice).strip().lower() == str(value).strip().lower()]
    if len(alike) == 1:
        return alike[0]
    raise Misfit(f"{name}: expected one of {', '.join(json.dumps(choice) for choice in choices)}, got {_shown(value)}")


def _within(value: Any, schema: Schema, name: str) -> None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        for key, breaks in BOUNDS.items():
            if key in schema and breaks(value, schema[key]):
                raise Misfit(f"{name}: {key} is {schema[key]}, got {_shown(value)}")
    if isinstance(value, list):
        low, high = schema.get("minItems", 0), schema.get("maxItems", len(value))
        if not low <= len(value) <= high:
            raise Misfit(f"{name}: expected {low if low == high else f'{low} to {high}'} items, got {len(value)}")


def _resolved(schema: Schema, root: Schema) -> Schema:
    for _ in range(DEPTH):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        target: Any = root
        for part in reference[2:].split("/"):
            target = target.get(part, {}) if isinstance(target, dict) else {}
        schema = target
    return {}


def _takes_null(schema: Schema, root: Schema) -> bool:
    schema = _resolved(schema, root)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return any(_takes_null(choice, root) for choice in choices)
    kinds = schema.get("type")
    if "enum" in schema:
        return None in schema["enum"]
    return kinds is None or "null" in (kinds if isinstance(kinds, list) else [kinds])


def _named(given: str, properties: Schema, schema: Schema) -> str:
    if given in properties or (not properties and schema.get("additionalProperties", True) is not False):
        return given
    alike = [name for name in properties if folded(name) == folded(given)]
    if len(alike) == 1:
        return alike[0]
    if isinstance(schema.get("additionalProperties"), dict) or schema.get("additionalProperties") is True:
        return given
    raise Misfit(f"there is no parameter {brief(given, SHOWN)!r}. {_allowed(properties, schema.get('required', []))}")


def _allowed(properties: Schema, required: list[str]) -> str:
    if not properties:
        return "This tool takes no parameters."
    names = [f"{name} ({_kind(spec)}{', required' if name in required else ''})" for name, spec in properties.items()]
    return f"Its parameters are: {', '.join(names)}."


def folded(name: str) -> str:
    """What is left of a name when case, dashes and underscores do not count."""
    return "".join(character for character in name.lower() if character.isalnum())


def _is(value: Any, kind: Any) -> bool:
    if kind not in TYPES:
        return kind is None
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _kind(schema: Schema) -> str:
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " or ".join(_kind(choice) for choice in choices)
    if "enum" in schema:
        return "one of " + ", ".join(json.dumps(choice) for choice in schema["enum"][:12])
    kind = schema.get("type", "object" if "$ref" in schema else "anything")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _listed(names: list[str]) -> str:
    return ", ".join(repr(brief(str(name), SHOWN)) for name in names[:12])


def _shown(value: Any) -> str:
    return brief(json.dumps(value, ensure_ascii=False, default=repr)[: 4 * SHOWN], SHOWN)
