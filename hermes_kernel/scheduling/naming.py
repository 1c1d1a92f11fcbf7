"""Names of jobs: given, or made from what they do, and never twice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from hermes_kernel.errors import HermesError

CHARS, WORDS = 40, 5
UNNAMED = "job"


def free_name(fields: Mapping[str, Any], taken: Collection[str]) -> str:
    """The ``name`` in `fields`; else one made of the first words of the prompt or of the notebook's name, with a number
    where it is taken.

    Raises:
        HermesError: the name that was given is taken.
    """
    given = str(fields.get("name", ""))
    if given in taken:
        raise HermesError(f"There is a job {given} already. Choose another name, or change that one.")
    return given or _numbered(_made(fields), taken)


def _made(fields: Mapping[str, Any]) -> str:
    text = fields.get("prompt", "") or Path(fields.get("notebook", "")).stem
    plain = unicodedata.normalize("NFKD", text[:400]).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)[:WORDS]
    name = ""
    for word in words:
        if len(name) + len(word) >= CHARS:
            break
        name = f"{name}-{word}" if name else word
    return name or (words[0][:CHARS] if words else UNNAMED)


def _numbered(name: str, taken: Collection[str]) -> str:
    if name not in taken:
        return name
    tries = (f"{name[: CHARS - len(str(number)) - 1]}-{number}" for number in count(2))
    return next(each for each in tries if each not in taken)
