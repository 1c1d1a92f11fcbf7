"""A cell as the kernel `hermes` reads it: prompt or Python."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping
from typing import Any

from hermes_kernel.core.text import FENCED

PYTHON = re.compile(r"\s*%%py(?:[ \t]*\n|[ \t]+|\Z)")
ASKED = re.compile(r"(?P<root>[^\W\d]\w*)(?:\.\w+)*\?{1,2}")
NAME = 200  # characters of the longest name that is looked up
PARAMETERS = "# Parameters\n"  # what papermill writes above the values that it sets
NAMED = re.compile(r"\$\$|\$(?P<name>[^\W\d]\w*)")


def is_prompt(code: str, names: Mapping[str, Any]) -> bool:
    """Whether `code` is for the agent. Not what IPython takes by its first mark, nor ``name?`` of a name that there is:
    prompts like to end in a question mark. Nor what papermill puts into a notebook."""
    text = code.strip()
    if not text or text[0] in "%!?" or _sets_parameters(text):
        return False
    asked = ASKED.fullmatch(text) if len(text) <= NAME else None
    return asked is None or not (asked["root"] in names or hasattr(builtins, asked["root"]))


def _sets_parameters(text: str) -> bool:
    """A title, and below it assignments and nothing else: whoever writes prose under such a title asks."""
    if not text.startswith(PARAMETERS):
        return False
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(body) and all(isinstance(each, ast.Assign) for each in body)


def as_ipython(code: str, names: Mapping[str, Any]) -> str:
    """`code` as IPython runs it: prompts as ``%%hermes`` cells, ``%%py`` cells as the Python in them."""
    if is_prompt(code, names):
        return "%%hermes\n" + code
    python = PYTHON.match(code)
    return code[python.end() :] if python else code


def variables(prompt: str) -> tuple[str, ...]:
    """The variables that `prompt` asks for with ``$name``: where one is not there, it is not asked at all."""
    names = (found["name"] for part in FENCED.split(prompt)[::2] for found in NAMED.finditer(part))
    return tuple(dict.fromkeys(filter(None, names)))
