"""A cell as the kernel `hermes` reads it: prompt or Python, and what may complete the word that is being written."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

PYTHON = re.compile(r"\s*%%py(?:[ \t]*\n|[ \t]+|\Z)")
ASKED = re.compile(r"(?P<root>[^\W\d]\w*)(?:\.\w+)*\?{1,2}")
NAME = 200  # characters of the longest name that is looked up
VARIABLE = re.compile(r"\$(?P<word>[\w.]*)\Z")
FILE = re.compile(r"(?<![\w@])@(?P<quote>[\"']?)(?P<word>[\w./~+ -]*)\Z")
SKILL = re.compile(r"\s*(?:%%hermes[^\n]*\n\s*)?/(?P<word>[\w.-]*)\Z")
MOST = 200  # completions
FENCED = re.compile(r"(^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z))", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"\$\$|\$(?P<name>[^\W\d]\w*)")


class Completion(NamedTuple):
    """What may stand from `start` on, counted in characters."""

    start: int
    words: tuple[str, ...]


def is_prompt(code: str, names: Mapping[str, Any]) -> bool:
    """Whether `code` is for the agent. Not what IPython takes by its first mark, nor ``name?`` of a name that there is:
    prompts like to end in a question mark."""
    text = code.strip()
    if not text or text[0] in "%!?":
        return False
    asked = ASKED.fullmatch(text) if len(text) <= NAME else None
    return asked is None or not (asked["root"] in names or hasattr(builtins, asked["root"]))


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


def complete(before: str, names: Mapping[str, Any], folder: Path, skills: Callable[[], Iterable[str]]) -> Completion:
    """What may complete the end of `before`: the name of a variable, a file or a skill, of which `skills` gives those
    there are. Attributes are for IPython."""
    if found := VARIABLE.search(before):
        words = (name for name in names if not name.startswith("_") or found["word"].startswith("_"))
        return _those(found, words)
    if found := FILE.search(before):
        return _files(found, folder)
    if found := SKILL.match(before):
        return _those(found, skills())
    return Completion(len(before), ())


def _those(found: re.Match[str], words: Any) -> Completion:
    fitting = sorted(word for word in words if word.startswith(found["word"]))
    return Completion(found.start("word"), tuple(fitting[:MOST]))


def _files(found: re.Match[str], folder: Path) -> Completion:
    """Files of the folder that the word has come to; those with spaces in their names in quotes."""
    written, slash, begun = found["word"].rpartition("/")
    place = folder / Path(written + slash).expanduser()
    try:
        there = sorted(place.iterdir())
    except OSError:  # no such folder, or none that may be read
        there = []
    fitting = [path for path in there if path.name.startswith(begun) and (begun or path.name[0] != ".")]
    names = [written + slash + path.name + ("/" if path.is_dir() else "") for path in fitting]
    quote = found["quote"]
    words = tuple(name if quote or " " not in name else f'"{name}"' for name in names[:MOST])
    return Completion(found.start("word"), words)
