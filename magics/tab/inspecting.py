"""Shift-Tab: what stands at the cursor of a prompt or after ``%hermes``, told without asking, running or changing
anything. A variable is shown as a model would be shown it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hermes_kernel.settings import RANGES
from hermes_kernel.view import clean
from magics.commands.every import COMMANDS
from magics.options import OPTIONS
from magics.prompt import unended
from magics.tab.completing import CELL, Known
from magics.tab.known import known_to
from magics.values import kind, view

if TYPE_CHECKING:
    from magics.desk import Desk

WORD = re.compile(
    r"\$(?P<variable>[^\W\d]\w*(?:\.[^\W\d]\w*|\[(?:-?\d+|'[^'\n]*'|\"[^\"\n]*\")\])*)"
    r"|(?<![\w@])@(?:\"(?P<quoted>[^\"\n]+)\"|(?P<file>~?[\w./][\w./+-]*))"
)
SLASHED = re.compile(r"\s*/(?P<skill>[\w.-]+)")
OPTION = re.compile(r"(?P<option>--[\w-]+)(?:[ \t=]+(?P<value>[\w.-]+))?")
LINE = re.compile(r"\s*%hermes[ \t]+(?P<command>\w+)(?:[ \t]+(?P<of>[\w.-]+))?")
MAGIC = re.compile(r"%?%hermes(?!\w)")
NEAR = 20  # characters around the cursor in which the magic's name is looked for
HEAD = 20  # lines of a file that are shown …
CHARS = 2_000  # … and characters


class Book(NamedTuple):
    """What is told of a skill, and of the magic itself."""

    skill: Callable[[str], str]
    about: str


def inspected(code: str, cursor: int, known: Known, book: Book, *, prompt: bool = False) -> str:
    """What there is to say of what stands at `cursor`; nothing where it is none of ours."""
    if prompt:
        return _marked(code, cursor, known, book)
    if any(_at(each, cursor) for each in MAGIC.finditer(code, max(cursor - NEAR, 0), cursor + NEAR)):
        return book.about
    cell = CELL.match(code)
    if cell is None:
        start = code.rfind("\n", 0, cursor) + 1
        return _commanded(code[start:].partition("\n")[0], cursor - start, book)
    if cell["prompt"] is not None and cursor >= cell.start("prompt"):
        return _marked(cell["prompt"], cursor - cell.start("prompt"), known, book)
    at = cursor - cell.start("line")
    return _optioned(cell["line"], at, book) or _marked(cell["line"], at, known, book)


def _marked(text: str, cursor: int, known: Known, book: Book) -> str:
    if (slashed := SLASHED.match(text)) and _at(slashed, cursor):
        return book.skill(slashed["skill"])
    line = text.rfind("\n", 0, cursor) + 1
    found = next((each for each in WORD.finditer(text, line) if _at(each, cursor)), None)
    if found is None:
        return ""
    if found["variable"]:
        return _variable(found["variable"], known)
    return _file(found["quoted"] or unended(found["file"]), known.folder)


def _commanded(line: str, cursor: int, book: Book) -> str:
    found = LINE.match(line)
    if found is None or found["command"] not in COMMANDS:
        return ""
    name, of = found["command"], found["of"]
    if of and found.start("of") <= cursor <= found.end("of"):
        if name == "config" and of in RANGES:
            return f"{of}: {RANGES[of].about}\nallowed: {RANGES[of].allowed}"
        if name == "skill":
            return book.skill(of)
    if not found.start("command") <= cursor <= found.end():
        return ""
    name = of if name == "help" and of in COMMANDS else name
    return f"%hermes {name} {COMMANDS[name].takes}".rstrip() + f"\n{COMMANDS[name].about}"


def _optioned(line: str, cursor: int, book: Book) -> str:
    found = next((each for each in OPTION.finditer(line) if _at(each, cursor)), None)
    if found is None or found["option"] not in OPTIONS:
        return ""
    if found["option"] == "--skill" and found["value"] and cursor >= found.start("value"):
        return book.skill(found["value"])
    option = OPTIONS[found["option"]]
    allowed = f"\n{option.value}: {option.allowed}" if option.value else ""
    return f"{found['option']} {option.value}".rstrip() + f"\n{option.about}{allowed}"


def _at(found: re.Match[str], cursor: int) -> bool:
    return found.start() <= cursor <= found.end()


def _variable(expression: str, known: Known) -> str:
    """As a model is shown it. Its ``repr`` may fail in any way, and a property is not asked."""
    try:
        value = known.value(expression)
    except Exception:  # noqa: BLE001 - whatever is in the way, there is nothing to show
        return ""
    try:
        text = view(value)
    except BaseException as error:  # noqa: BLE001 - its own code fails or leaves: a look takes no kernel with it
        return f"${expression} ({kind(value)}) cannot be shown: {type(error).__name__}"
    return f"${expression} ({kind(value)}), as the model is shown it:\n{text}"


def _file(name: str, folder: Path) -> str:
    """Its size and its first lines."""
    path = folder / Path(name).expanduser()
    if path.is_dir():
        return f"{name}: a folder of {sum(1 for _ in path.iterdir()):,} entries"
    if not path.is_file():  # nor is a pipe opened, which may wait for ever
        return ""
    size = f"{name}: {path.stat().st_size:,} bytes"
    with path.open("rb") as file:
        raw = file.read(4 * CHARS)
    if b"\0" in raw:
        return f"{size}, binary"
    lines = raw.decode(errors="replace")[:CHARS].split("\n")[:HEAD]
    return "\n".join([size, *lines])


def told(desk: Desk, code: str, cursor: int, *, prompt: bool) -> str:
    """`inspected` in this notebook; nothing where anything fails."""

    def skill(name: str) -> str:
        found = desk.agent.learning.skills.get(name)
        return f"/{found.name} ({found.state})\n{found.description}"

    with suppress(Exception):
        about = getdoc(desk.shell.find_line_magic("hermes")) or ""
        return clean(inspected(code, cursor, known_to(desk), Book(skill, about), prompt=prompt))
    return ""
