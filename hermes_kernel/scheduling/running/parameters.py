"""Parameters of a notebook as Python: one assignment a line, whatever their values are. Each value is written anew as a
literal, so that no text which somebody gave becomes code."""

from __future__ import annotations

import ast
import json
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_kernel.core.schedule.job import Parameter
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.values import is_variable

UNREAD = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)  # what is no literal


def assignments(parameters: Sequence[Parameter]) -> str:
    """One line for each parameter of a job.

    Raises:
        HermesError: a name is no variable's, or a value is not JSON.
    """
    return "\n".join(f"{_name(each.name)} = {_literal(each)}" for each in parameters)


def assigned(values: Mapping[str, Any]) -> str:
    """One line for each of these names and values, which `typed` has read.

    Raises:
        HermesError: a name is no variable's.
    """
    return "\n".join(f"{_name(name)} = {_python(value)}" for name, value in values.items())


def typed(text: str) -> Any:
    """What a person wrote for a value: a literal of Python such as ``48``, ``None`` or ``[1, 2]``; else just this text,
    which is never run."""
    try:
        with warnings.catch_warnings(action="ignore"):  # of spellings that will be errors one day
            value = ast.literal_eval(text)
        _python(value)  # there are numbers of which Python says the digits to nobody
    except UNREAD:
        return text
    return value if _is_plain(value) else text


def _name(name: str) -> str:
    if not is_variable(name):
        raise HermesError(
            f"{brief(name, 60)!r} cannot be the name of a parameter: it must be one of a Python variable."
        )
    return name


def _literal(parameter: Parameter) -> str:
    try:
        return _python(json.loads(parameter.value))
    except (ValueError, RecursionError):
        raise HermesError(
            f"The parameter {parameter.name} is not JSON: {brief(parameter.value, 60)!r}. Texts stand in double quotes."
        ) from None


def _is_plain(value: Any) -> bool:
    """It is of the kinds that everybody means by a value: no ellipsis, no imaginary number."""
    match value:
        case dict():
            return all(_is_plain(part) for item in value.items() for part in item)
        case list() | tuple() | set():
            return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str | bytes)


def _python(value: Any) -> str:
    """`value` as an expression; `repr`, but for the numbers that Python has no literal of, and the same each time."""
    match value:
        case dict():
            return "{" + ", ".join(f"{_python(key)}: {_python(each)}" for key, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_python, value)) + "]"
        case tuple():
            return "(" + "".join(f"{_python(each)}, " for each in value).rstrip() + ")"
        case set() if value:
            return "{" + ", ".join(sorted(map(_python, value))) + "}"
        case float() if not math.isfinite(value):
            return f'float("{value}")'
    return repr(value)
