"""Tab: after ``%hermes`` the commands and what may follow each, after ``%%hermes`` the options and their values, in the
prompt below variables, files and skills. The same in every kernel.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.text import scrub
from hermes_kernel.learning.skills.asked import VERBS
from hermes_kernel.looking import BY
from hermes_kernel.settings import RANGES
from hermes_kernel.view import clean
from hermes_kernel.view.kept.finds import short
from hermes_kernel.world.recording.beside import ENDING
from magics.cassettes import OFF, ON
from magics.commands.curator import TAKES
from magics.commands.every import COMMANDS
from magics.commands.memory import ACTIONS
from magics.commands.recording import DIFF
from magics.commands.usage import ALL
from magics.options import OPTIONS
from magics.prompt import visible
from magics.tab.jobs_completing import COMMANDS as PLANNED
from magics.tab.jobs_completing import There, following
from magics.tab.marks import QUOTES, Fitting, Marks, files, fitting, marked, quoted
from magics.values import frame

if TYPE_CHECKING:
    from hermes_kernel.world.store import SessionRow

CELL = re.compile(r"\s*%%hermes(?!\w)[ \t]*(?P<line>[^\n]*)(?:\n(?P<prompt>.*))?\Z", re.DOTALL)
LINE = re.compile(r"\s*%hermes[ \t]+(?:(?P<command>\w+)[ \t]+)?(?P<begun>.*)\Z")
LATER = re.compile(r"--schedule[ \t=](?P<begun>.*[ \t]\S*)\Z")
OPTION = re.compile(r"(?:.*[ \t])?(?P<begun>--[\w-]*)\Z")
VALUE = re.compile(r"(?:.*[ \t])?(?P<option>--[\w-]+)(?:[ \t]+|=)(?P<begun>\"[^\"]*|'[^']*|[^\s\"'-]\S*|)\Z")
PLAIN = re.compile(r"[^\s\"'-][^\s\"']*")
"""An option's value that is one word as it stands."""
NAMING = frozenset({"show", "resume", "export", "timeline", "tree"})
WAYS = ("all", "stale", "archived", "held", "disabled", "broken", "pinned", "install", "accept", "reject")
FOLLOWING = {
    "memory": tuple(ACTIONS),
    "curator": tuple(filter(None, TAKES)),
    "usage": (ALL, *BY),
    "skills": WAYS,
    "sessions": ("all", "tree"),
    "mcp": ("add", "remove", "restart", "tools"),
    "config": tuple(RANGES),
    "help": tuple(COMMANDS),
    "spec": (ON, OFF),
}
RECORDED = {"record": (ON, OFF), "replay": (ON, OFF, DIFF)}
"""What may stand behind a command beside a recording."""
BEHIND = {"skill": tuple(VERBS), "show": ("turns", "summary", "all"), "timeline": ("turn",)}
"""What may stand behind what a command names."""


@dataclass(frozen=True, slots=True)
class Known(Marks):
    """What else there is to name: the latest conversations, models and tools, and what jobs have to do with."""

    latest: Callable[[], Iterable[SessionRow]] = tuple
    models: Callable[[], Iterable[str]] = tuple
    tools: Callable[[], Iterable[str]] = tuple
    there: There = lambda _: ()


def completed(written: str, known: Known, *, prompt: bool = False) -> Fitting:
    """The end of a cell that is being written, up to the cursor, and what may take its place; nothing where it is no
    line of ours. A `prompt` is one without a line above that says so. What is named with marks that cannot be seen, or
    that end the line, is not offered: names come from folders and stores of anybody's."""
    begun, words = _completed(written, known, prompt=prompt)
    return Fitting(begun, tuple(word for word in words if _as_seen(word)))


def _as_seen(word: str) -> bool:
    return scrub(clean(word)) == word and word.splitlines() == [word]


def _completed(written: str, known: Known, *, prompt: bool) -> Fitting:
    if prompt:
        return marked(written, known)
    cell = CELL.match(written)
    if cell is None:
        return _commanded(written.rpartition("\n")[2], known)
    return _optioned(cell["line"], known) if cell["prompt"] is None else marked(cell["prompt"], known)


def _optioned(line: str, known: Known) -> Fitting:
    """On the line of the options, where the prompt may begin as well."""
    if later := LATER.match(line):
        begun, words = following("schedule", later["begun"], known.there)
        return Fitting(begun, tuple(words))
    if (found := VALUE.match(line)) and found["option"] in VALUES:
        return VALUES[found["option"]](found["begun"], known)
    if found := OPTION.match(line):
        return fitting(found["begun"], OPTIONS)
    return marked(line, known)


def _commanded(line: str, known: Known) -> Fitting:
    found = LINE.match(line)
    if found is None:
        return Fitting("", ())
    command, begun = found["command"], found["begun"]
    if command in PLANNED:
        return Fitting(*_planned(command, begun, known))
    if command == "sessions" and begun.startswith("tree "):
        command, begun = "tree", begun[5:]
    if command in RECORDED:
        return _recordings(begun, known, RECORDED[command])
    named = fitting(begun, _named(command, known))
    if not named.words and " " in begun:
        return fitting(begun.rpartition(" ")[2], BEHIND.get(command, ()))
    return named


def _planned(command: str, begun: str, known: Known) -> tuple[str, tuple[str, ...]]:
    last, words = following(command, begun, known.there)
    return last, tuple(words)


def _named(command: str | None, known: Known) -> Iterable[str]:
    """What may stand behind a command."""
    match command:
        case None:
            return COMMANDS
        case "skill":
            return known.skills()
        case "model":
            return known.models()
        case _ if command in FOLLOWING:
            return FOLLOWING[command]
        case _ if command in NAMING:
            return _conversations(known)
    return ()


def _conversations(known: Known) -> Iterable[str]:
    named = (name for row in known.latest() for name in (short(row.id), row.title) if name)
    return dict.fromkeys(("last", *named))


def _worded(begun: str, names: Iterable[str]) -> Fitting:
    """Each as one word, however it is called."""
    quote = begun[:1] if begun[:1] in QUOTES else ""
    words = (quoted(name, quote, PLAIN.fullmatch(name) is not None) for name in names)
    return fitting(begun, filter(None, words))


def _recordings(begun: str, known: Known, words: Iterable[str] = (ON,)) -> Fitting:
    """One of these `words`, or a recording in the folder."""
    quote = begun[:1] if begun[:1] in QUOTES else ""
    found = files(begun.removeprefix(quote), quote, known.folder, ENDING).words
    named = (f"{quote}{name}" if name.endswith("/") else f"{quote}{name}{quote}" for name in found)
    return Fitting(begun, (*fitting(begun, words).words, *named))


def _tools(begun: str, known: Known) -> Fitting:
    """The one behind the last comma."""
    before, comma, last = begun.rpartition(",")
    said = {*before.split(","), *(("none",) if comma else ())}
    return fitting(last, (name for name in (*known.tools(), "none") if name not in said))


def tabular(names: Any) -> list[str]:
    """The variables that have rows: lists, tuples, and frames, known by the module that made them. No variable is asked
    what it is: its ``__class__`` may be code of a person's."""
    return [name for name in visible(names) if issubclass(type(names[name]), list | tuple) or frame(names[name])]


VALUES: dict[str, Callable[[str, Known], Fitting]] = {
    "--map": lambda begun, known: fitting(begun, tabular(known.names)),
    "--record": _recordings,
    "--replay": _recordings,
    "--model": lambda begun, known: _worded(begun, known.models()),
    "--session": lambda begun, known: _worded(begun, ("new", *_conversations(known))),
    "--skill": lambda begun, known: _worded(begun, known.skills()),
    "--tools": _tools,
}
