"""The marks of a prompt while it is written: what may complete ``$variable``, ``@file`` and ``/skill`` at its end.

The same in the kernel `hermes` and in any other. What is evaluated is what IPython would evaluate at Tab, no more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from magics.prompt import visible

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

VARIABLE = re.compile(r"(?<!\$)\$(?P<word>\w*)\Z")
ATTRIBUTE = re.compile(r"(?<!\$)\$(?P<of>[^\W\d]\w*(?:\.\w+|\[(?:-?\d+|'[^'\n]*'|\"[^\"\n]*\")\])*)\.(?P<word>\w*)\Z")
FILE = re.compile(r"(?<![\w@])@(?P<quote>[\"']?)(?P<word>[\w./~+ -]*)\Z")
BARE = re.compile(r"~?[\w./][\w./+-]*(?<!\.)")
"""A file that needs no quotes."""
QUOTES = ('"', "'")
SKILL = re.compile(r"\s*/(?P<word>(?:\w[\w.-]*)?)\Z")
MOST = 200  # completions
LONGEST = 2_000  # characters of what is completed


class Fitting(NamedTuple):
    """The end of what is written, and what may take its place."""

    begun: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """What there is to name. ``names`` are the notebook's variables, ``value`` is that of an expression: it raises
    where there is none that may be looked at. ``skills`` gives the names of the skills there are."""

    names: Mapping[str, Any]
    value: Callable[[str], Any]
    folder: Path
    skills: Callable[[], Iterable[str]]


def marked(prompt: str, there: Marks) -> Fitting:
    """What may complete the end of `prompt`."""
    end = prompt[-LONGEST:]
    if found := ATTRIBUTE.search(end):
        return fitting(found["word"], _attributes(found["of"], there))
    if found := VARIABLE.search(end):
        hidden = found["word"].startswith("_")
        return fitting(found["word"], sorted(there.names if hidden else visible(there.names)))
    if found := FILE.search(end):
        return files(found["word"], found["quote"], there.folder)
    if found := SKILL.match(prompt):
        return fitting(found["word"], sorted(name for name in there.skills() if SKILL.fullmatch("/" + name)))
    return Fitting("", ())


def fitting(begun: str, known: Iterable[str]) -> Fitting:
    """Those of `known` that begin so."""
    return Fitting(begun, tuple(name for name in known if name.startswith(begun))[:MOST])


def quoted(name: str, begun: str, plain: bool) -> str:  # noqa: FBT001 - the one thing that is said of the name
    """`name` as one word: in the quotes that are `begun`, in none where it is `plain`, else in those that it has not.
    Nothing where there is no way to write it."""
    if plain and not begun:
        return name
    around = next((each for each in ((begun,) if begun else QUOTES) if each not in name), "")
    return f"{around}{name}{around}" if around else ""


def looked_at(shell: InteractiveShell, expression: str) -> Any:
    """The value of a name with attributes and items, as far as IPython's own completion looks: what would run code of
    a person's is refused.

    Raises:
        Exception: whatever is in the way.
    """
    from IPython.core.guarded_eval import EvaluationContext, guarded_eval

    if expression.isidentifier():
        return shell.user_ns[expression]
    return guarded_eval(
        expression, EvaluationContext(globals=shell.user_global_ns, locals=shell.user_ns, evaluation="limited")
    )


def _attributes(expression: str, there: Marks) -> Iterable[str]:
    names: list[str] = []
    with suppress(Exception):
        names = [name for name in dir(there.value(expression)) if name.isidentifier()]
    return sorted(names, key=lambda name: (name.startswith("_"), name))


def files(word: str, quote: str, folder: Path, ending: str = "") -> Fitting:
    """Files of the folder that `word`, behind its `quote`, has come to, and folders; those with spaces in their names
    in quotes. With an `ending`, files whose names end so."""
    written, slash, begun = word.rpartition("/")
    try:
        there = sorted((folder / Path(written + slash).expanduser()).iterdir())
    except (OSError, RuntimeError):  # no such folder, or none that may be read; the home of nobody
        there = []
    named = [path for path in there if path.name.startswith(begun) and (begun or path.name[0] != ".")]
    fits = [path for path in named if path.name.endswith(ending) or path.is_dir()][:MOST]
    names = [written + slash + path.name + ("/" if path.is_dir() else "") for path in fits]
    words = (quoted(name, quote, BARE.fullmatch(name) is not None).removeprefix(quote) for name in names)
    return Fitting(word, tuple(each.removesuffix(quote) for each in words if each))
