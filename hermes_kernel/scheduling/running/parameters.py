"""Parameters of a job as Python: one assignment a line, whatever their values are."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from hermes_kernel.core.schedule.job import Parameter
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.values import is_variable


def assignments(parameters: Sequence[Parameter]) -> str:
    """One line for each.

    Raises:
        HermesError: a name is no variable's, or a value is not JSON.
    """
    return "\n".join(f"{_name(each.name)} = {_literal(each)}" for each in parameters)


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


def _python(value: Any) -> str:
    """`value` as an expression; `repr`, but for the numbers that Python has no literal of."""
    match value:
        case dict():
            return "{" + ", ".join(f"{key!r}: {_python(each)}" for key, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_python, value)) + "]"
        case float() if not math.isfinite(value):
            return f'float("{value}")'
    return repr(value)
