"""Tool schemas as picky servers take them: no ``pattern`` or ``format``, no ``$ref``, no boolean schemas.

llama-server turns a schema into a grammar: some patterns are refused with the whole request, and one kind ended the
process. What is dropped is checked again by the tool itself.
"""

from __future__ import annotations

from typing import Any

_DROPPED = frozenset({"pattern", "format", "$schema", "$id", "$defs", "definitions", "$comment", "$anchor"})
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_NAMED = frozenset({"properties"})
_DEEP = 12
"""Levels to which a schema that refers to itself is unrolled."""


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` with everything inlined that is referred to, and nothing a grammar cannot say."""
    cleaned = _clean(schema, schema, _DEEP)
    return cleaned if isinstance(cleaned, dict) else {}


def _clean(value: Any, root: dict[str, Any], depth: int) -> Any:
    if isinstance(value, list):
        return [_clean(item, root, depth) for item in value]
    if not isinstance(value, dict):
        return value
    if depth == 0:
        return {}
    if isinstance(value.get("$ref"), str):
        return _clean(_target(value["$ref"], root) | _without(value, "$ref"), root, depth - 1)
    return {key: _member(key, item, root, depth) for key, item in value.items() if _stays(key, item)}


def _member(key: str, item: Any, root: dict[str, Any], depth: int) -> Any:
    if key in _NAMED and isinstance(item, dict):
        return {name: _schema(inner, root, depth - 1) for name, inner in item.items()}
    if key in ("items", "not", "if", "then", "else") or (key == "additionalProperties" and isinstance(item, dict)):
        return _schema(item, root, depth - 1)
    if key in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(item, list):
        return [_schema(inner, root, depth - 1) for inner in item]
    return item


def _schema(value: Any, root: dict[str, Any], depth: int) -> Any:
    """A schema inside another; a boolean one is one that takes anything."""
    return {} if isinstance(value, bool) else _clean(value, root, max(depth, 0))


def _stays(key: str, item: Any) -> bool:
    return key not in _DROPPED and not (key == "type" and isinstance(item, str) and item not in _TYPES)


def _target(ref: str, root: dict[str, Any]) -> dict[str, Any]:
    found: Any = root
    for part in ref.removeprefix("#").strip("/").split("/"):
        found = found.get(part, {}) if isinstance(found, dict) else {}
    return found if isinstance(found, dict) and ref.startswith("#/") else {}


def _without(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key != name}
