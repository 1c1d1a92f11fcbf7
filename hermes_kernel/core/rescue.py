"""Tool calls that a model wrote into its text, found and taken out. Only names that were offered count.

The forms: ``<tool_call>{…}``, fenced and bare JSON, ``[TOOL_CALLS]``, ``<function=name>`` with JSON or parameter tags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from hermes_kernel.core.json_repair import CUT, dumped, mend
from hermes_kernel.core.lenient_json import Json, Unreadable, read_at
from hermes_kernel.core.messages import ToolCall

NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input")

_XML = re.compile(r"<function=([\w.-]+)\s*[=>]{0,2}\s*(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\n?(.*?)\n?(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
_MISTRAL = re.compile(r"\[TOOL_CALLS\]\s*+([\w.-]++)\s*+(?:\[CALL_ID\]\s*+\w++\s*+)?(?:\[ARGS\])?\s*+(?=\{)")
_OPENING = re.compile(r"[{\[]")
_LEFT_OVER = re.compile(
    r"</?(?:tool_calls?|function_calls?|function|tools)(?:=[^<>]*)?>|<\|[\w/]*\|?>|\[/?TOOL_CALLS\]"
    r"|```\w*|^[\s,;\[\]]+$",
    re.MULTILINE,
)
_BEGUN = re.compile(r'\{\s*["\'](?:' + "|".join(NAME_KEYS) + r')["\']\s*:\s*["\']([\w.-]+)["\'](.*)\Z', re.DOTALL)
_MOST_ATTEMPTS = 64
"""Places in a text at which JSON is looked for; hostile text may open thousands of braces."""


@dataclass(frozen=True, slots=True)
class Found:
    """A call found in text, without an id yet."""

    name: str
    arguments: str
    start: int
    end: int


def rescue(text: str, offered: Collection[str], new_id: Callable[[], str]) -> tuple[tuple[ToolCall, ...], str]:
    """The calls written in `text`, each once, and the text without them. Nothing found leaves the text as it is."""
    found = list(_find(text, offered))
    if not found:
        return (), text
    once = {(one.name, one.arguments): one for one in reversed(found)}
    calls = tuple(_call(one, new_id()) for one in reversed(once.values()))
    return calls, _LEFT_OVER.sub("", _without(text, found)).strip()


def begun(text: str, offered: Collection[str], new_id: Callable[[], str]) -> ToolCall | None:
    """A call that `text` begins and does not end: the output limit came first."""
    found = _BEGUN.search(text)
    if not found or found.group(1) not in offered:
        return None
    return ToolCall(new_id(), found.group(1), found.group(2), CUT.format(len(found.group(2))))


def _call(found: Found, call_id: str) -> ToolCall:
    mended = mend(found.arguments)
    return ToolCall(call_id, found.name, mended.arguments, mended.flaw)


def _without(text: str, found: list[Found]) -> str:
    at, kept = 0, []
    for one in sorted(found, key=lambda one: one.start):
        kept.append(text[at : one.start])
        at = max(at, one.end)
    return "".join([*kept, text[at:]])


def _find(text: str, offered: Collection[str]) -> Iterator[Found]:
    tags = list(_XML.finditer(text))
    if tags and not any(one.start < tags[0].start() < one.end for one in _find_json(text, 0, offered)):
        yield from (Found(tag[1], _body(tag[2]), *tag.span()) for tag in tags if tag[1] in offered)
        return
    at = 0
    for mark in islice(_MISTRAL.finditer(text), _MOST_ATTEMPTS):
        value, end = _json_at(text, mark.end())
        if mark.group(1) in offered and isinstance(value, dict):
            yield Found(mark.group(1), dumped(value), mark.start(), end)
            at = end
    yield from _find_json(text, at, offered)


def _find_json(text: str, at: int, offered: Collection[str]) -> Iterator[Found]:
    for _ in range(_MOST_ATTEMPTS):
        opening = _OPENING.search(text, at)
        if not opening:
            return
        value, at = _json_at(text, opening.start())
        for name, arguments in _calls_in(value, offered):
            yield Found(name, arguments, opening.start(), at)


def _json_at(text: str, at: int) -> tuple[Json, int]:
    """The value that begins here and where it ends; None and the next position if there is none."""
    try:
        return read_at(text, at)
    except (Unreadable, ValueError, RecursionError):
        return None, at + 1


def _body(body: str) -> str:
    """The arguments inside a ``<function=…>`` tag."""
    parameters = _PARAMETER.findall(body)
    if not parameters:
        return body.strip().removesuffix(">").strip()
    return dumped({name: _plain(value) for name, value in parameters})


def _plain(value: str) -> Json:
    """A parameter's value: JSON where it is JSON other than a string, else the words themselves."""
    try:
        read: Json = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return read


def _calls_in(value: Json, offered: Collection[str]) -> Iterator[tuple[str, str]]:
    """The calls a JSON value stands for: one, a list of them, or an OpenAI-style wrapper of either."""
    if isinstance(value, list):
        for item in value:
            yield from _calls_in(item, offered)
    if not isinstance(value, dict):
        return
    inner = next((value[key] for key in ("tool_calls", "function", "function_call") if key in value), None)
    if isinstance(inner, dict | list):
        yield from _calls_in(inner, offered)
        return
    name = next((value[key] for key in NAME_KEYS if key in value), None)
    arguments = next((value[key] for key in ARGUMENT_KEYS if key in value), None)
    if isinstance(name, str) and name in offered and arguments is not None:
        yield name, arguments if isinstance(arguments, str) else dumped(arguments)
