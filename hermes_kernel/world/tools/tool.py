"""A function as a tool: `@tool` reads its hints and docstring once, and leaves it the ordinary callable it was."""

from __future__ import annotations

import functools
import inspect
import json
import re
import typing
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any, TypeVar, overload

from hermes_kernel.core.messages import ToolSpec
from hermes_kernel.core.text import scrub
from hermes_kernel.world.tools.docs import read_docs
from hermes_kernel.world.tools.results import collected
from hermes_kernel.world.tools.revive import revive
from hermes_kernel.world.tools.risk import Risk
from hermes_kernel.world.tools.schema import HintError, Schema, schema_of
from hermes_kernel.world.tools.usercode import await_user, call_user

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what every provider takes
MARK = "__hermes_tool__"
DESCRIPTION_CHARS = 4_000

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may call. ``run`` takes the fitted arguments by name, plain or async. ``exclusive`` tools of a reply
    run one at a time, in call order; ``repeatable`` ones may be run again after a crash. ``seconds`` is the deadline
    (None: the setting's). ``dangerous`` looks at the arguments and returns the `Risk` a person is asked about. One that
    ``closes`` ends by itself when `Speaker.stop` is pressed, and is given 0.16 s to say what came of its work."""

    name: str
    description: str
    parameters: str
    run: Callable[..., Any]
    exclusive: bool = False
    repeatable: bool = False
    seconds: float | None = None
    dangerous: Callable[[Mapping[str, Any]], Risk | None] | None = None
    closes: bool = False

    @property
    def spec(self) -> ToolSpec:
        """The tool as a model is shown it."""
        return ToolSpec(self.name, self.description, self.parameters)


@overload
def tool(fn: Function, /) -> Function: ...
@overload
def tool(
    *,
    name: str = "",
    seconds: float | None = None,
    exclusive: bool = False,
    repeatable: bool = False,
    dangerous: bool | Callable[[Mapping[str, Any]], Risk | str | None] = False,
) -> Callable[[Function], Function]: ...
def tool(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Offer a function to the model. The function itself is returned, marked, and is called as before.

    ``seconds`` is its deadline, ``exclusive`` keeps it from running beside other exclusive tools, ``repeatable`` says
    that running it twice does no harm, ``dangerous`` (True, or a function of the arguments that returns why) asks a
    person first. A plain function runs in a thread, an ``async def`` on the event loop.

    Raises:
        TypeError: it has no usable name, takes ``*args`` or ``**kwargs``, has a hint with no JSON form, or can bear no
            mark, as a method of an object.
    """

    def mark(function: Function) -> Function:
        made = options if _is_method(function) else tool_of(function, **options)
        try:
            setattr(function, MARK, made)
        except AttributeError:
            bare = getattr(function, "__name__", type(function).__name__)
            raise TypeError(
                f"{bare} can bear no mark: put @tool where it is defined, or hand it to Agent(tools=[...]) as it is."
            ) from None
        return function

    return mark if fn is None else mark(fn)


def tool_of(fn: Callable[..., Any] | Tool, **options: Any) -> Tool:
    """The `Tool` of any callable, decorated or not.

    Raises:
        TypeError: as `tool`.
    """
    if isinstance(fn, Tool):
        return fn
    marked = getattr(fn, MARK, None)
    if isinstance(marked, Tool) and not options:
        return marked
    options = {**marked, **options} if isinstance(marked, dict) else options
    name = options.pop("name", "") or getattr(fn, "__name__", type(fn).__name__)
    if not NAME.fullmatch(name):
        raise TypeError(
            f"{name!r} is no name for a tool; use @tool(name=...) with at most 64 letters, digits, _ and -."
        )
    signature, hints = _signature(fn, name)
    described, words = read_docs(_docstring(fn))
    parameters = _parameters(name, signature, hints, words)
    options["dangerous"] = _risk_of(name, options.get("dangerous"))
    description = brief_description(described or f"Call {name}.")
    return Tool(name, description, json.dumps(parameters, ensure_ascii=False), _runner(fn, signature, hints), **options)


def built_in(fn: Callable[..., Any], **options: Any) -> Tool:
    """The `Tool` of a function of ours. It takes what JSON carries, and no signal may interrupt its frames: it may have
    begun something that it must end."""
    return replace(tool_of(fn, **options), run=fn)


def tools_in(namespace: Mapping[str, Any]) -> tuple[Tool, ...]:
    """The tools that `@tool` marked among the values of a namespace, such as a notebook's, in its order. The others are
    not touched: asked for its class, a proxy may run anything and raise."""
    return tuple(
        value.__dict__[MARK]
        for key, value in tuple(namespace.items())
        if type(value) is FunctionType and isinstance(value.__dict__.get(MARK), Tool) and not key.startswith("_")
    )


def brief_description(text: str) -> str:
    """`text` without lone surrogates and no longer than a provider takes."""
    text = scrub(text)
    return text if len(text) <= DESCRIPTION_CHARS else text[: DESCRIPTION_CHARS - 1] + "…"


def _docstring(fn: Callable[..., Any]) -> str | None:
    named = inspect.isroutine(fn) or inspect.isclass(fn)
    return fn.__doc__ if named else getattr(type(fn).__call__, "__doc__", None) or fn.__doc__


def _is_method(fn: Callable[..., Any]) -> bool:
    first = next(iter(inspect.signature(fn).parameters), "")
    return first in ("self", "cls") and not inspect.ismethod(fn)


def _signature(fn: Callable[..., Any], name: str) -> tuple[inspect.Signature, dict[str, Any]]:
    try:
        signature = inspect.signature(fn)
    except ValueError as error:
        raise TypeError(f"{name}: Python does not know this callable's parameters; wrap it in a function.") from error
    target = fn if inspect.isroutine(fn) else getattr(fn, "func", type(fn).__call__)
    try:
        hints = typing.get_type_hints(target, include_extras=True)
    except NameError as error:
        raise TypeError(f"{name}: the hint {error.name!r} is not defined where the function is.") from error
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"{name}: a model cannot be asked for {parameter}; name each, or take a list or a dict.")
    return signature, hints


def _parameters(name: str, signature: inspect.Signature, hints: Mapping[str, Any], words: Mapping[str, str]) -> Schema:
    properties: Schema = {}
    shared: Schema = {}
    for parameter in signature.parameters.values():
        try:
            schema = schema_of(hints.get(parameter.name, _hint_of_default(parameter.default)))
        except HintError as error:
            raise HintError(f"{name}: {parameter.name}: {error}.") from error
        shared.update(schema.pop("$defs", {}))
        if parameter.name in words:
            schema.setdefault("description", words[parameter.name])
        if parameter.default is not parameter.empty and _is_json(parameter.default):
            schema["default"] = parameter.default
        properties[parameter.name] = schema
    required = [p.name for p in signature.parameters.values() if p.default is p.empty]
    whole: Schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {**whole, "$defs": shared} if shared else whole


def _hint_of_default(default: Any) -> Any:
    return type(default) if type(default) in (str, int, float, bool, list, dict) else Any


def _is_json(value: Any) -> bool:
    if value is None:
        return False
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return isinstance(value, (str, int, float, bool, list, dict))


def _risk_of(name: str, dangerous: Any) -> Callable[[Mapping[str, Any]], Risk | None] | None:
    if not dangerous:
        return None

    def risk(arguments: Mapping[str, Any]) -> Risk | None:
        why = dangerous if isinstance(dangerous, bool) else dangerous(arguments)
        if not why or isinstance(why, Risk):
            return why or None
        return Risk(f"tool:{name}", why if isinstance(why, str) else f"{name} is marked as dangerous")

    return risk


def _runner(fn: Callable[..., Any], signature: inspect.Signature, hints: Mapping[str, Any]) -> Callable[..., Any]:
    def bound(arguments: Mapping[str, Any]) -> functools.partial[Any]:
        revived = {name: revive(hints.get(name, Any), value) for name, value in arguments.items()}
        given = OrderedDict((name, revived[name]) for name in signature.parameters if name in revived)
        full = inspect.BoundArguments(signature, given)
        full.apply_defaults()
        return functools.partial(fn, *full.args, **full.kwargs)

    async def await_it(**arguments: Any) -> Any:
        return await await_user(bound(arguments)())

    async def collect_it(**arguments: Any) -> Any:
        return await await_user(collected(bound(arguments)()))

    def call_it(**arguments: Any) -> Any:
        return call_user(bound(arguments))

    called = fn if inspect.isroutine(fn) or isinstance(fn, functools.partial) else type(fn).__call__
    if inspect.iscoroutinefunction(called):
        return await_it
    return collect_it if inspect.isasyncgenfunction(called) else call_it
