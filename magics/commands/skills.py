"""Skills: named in a prompt by ``--skill NAME`` or by ``/name`` as its first word; ``%hermes skills`` and ``%hermes
skill NAME`` list, show, mark and change them."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.core.learning.skill_front import Refused, parted
from hermes_kernel.core.safe import inert, sanitise
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.skills import asked
from hermes_kernel.learning.skills.asked import Answer
from hermes_kernel.view import clean
from hermes_kernel.view.columns import aligned
from magics.commands.table import PlainPage, Shown, Table, as_it_stands

if TYPE_CHECKING:
    from hermes_kernel.learning.skills.library import Library
    from magics.desk import Desk

MOST = 60_000  # characters of one skill
ROWS = 100  # of a list that are shown
SPOKEN = re.compile(r"\s*/(?P<name>\w[\w.-]*)(?:\s+|$)")
ALIKE = 0.8  # of 1: a name that is this like a skill's was meant to be it; `/tmp` and `/home` are like none
ANYWAY = "Write --anyway behind it if you want it all the same."


def read_skill(library: Library, name: str, session: str) -> str:
    """The text of a skill, introduced; the session that is asked has read it.

    Raises:
        HermesError: there is no such skill, or it may not be read.
    """
    with _said():
        text = library.use(name, session=session)
    return f"[Skill {name}]\n{text[:MOST].strip()}\n[End of skill]"


def spoken(library: Library, body: str) -> tuple[tuple[str, ...], str]:
    """The skill that `body` begins with, if there is one of that name, and the rest of it.

    Raises:
        HermesError: there is none, but one whose name is all but that.
    """
    found = SPOKEN.match(body)
    if found is None:
        return (), body
    name, known = found["name"], library.names()
    if name in known:
        return (name,), body[found.end() :]
    if close := difflib.get_close_matches(name, known, 1, ALIKE):
        raise HermesError(f"There is no skill {brief(name, 80)}. Did you mean /{close[0]}? The model was not asked.")
    return (), body


def skills(desk: Desk, rest: str) -> Shown:
    """What follows ``skills``: which are to be listed, or ``install PATH``, ``accept ID``, ``reject ID``.

    Raises:
        HermesError: it cannot be done.
    """
    action, *words = _words(rest) or [""]
    learning = desk.agent.learning
    with _said():
        match action:
            case "install":
                return _answer(asked.install(learning, words))
            case "accept" | "reject":
                if len(words) != 1:
                    raise HermesError(f"It is written: %hermes skills {action} ID")
                return _answer((asked.accept if action == "accept" else asked.reject)(learning, words[0]))
        return _answer(asked.listed(learning, rest))


def skill(desk: Desk, rest: str) -> Shown:
    """What follows ``skill``: a name, and what is to be done with it; a name alone shows it.

    Raises:
        HermesError: there is no such skill, or it cannot be done.
    """
    name, *words = _words(rest) or [""]
    learning = desk.agent.learning
    if not name:
        raise HermesError(f"It is written: %hermes skill NAME [{'|'.join(asked.VERBS)}]")
    with _said():
        if words:
            return _answer(asked.do(learning, name, words[0], words[1:]))
        shown = asked.shown(learning, name)
    head = "\n".join(aligned(shown.columns, shown.rows))
    return Read(f"{head}\n\n{clean(shown.text)}", _rendered(shown), shown.value)


@dataclass(frozen=True, slots=True, repr=False)
class Read:
    """A text as it stands, and as a notebook renders it, made harmless."""

    text: str
    markdown: str
    value: Any = None

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.markdown

    def plain(self) -> PlainPage:
        """The same as text only."""
        return PlainPage(self.text, "", self.value)


def _rendered(shown: Answer) -> str:
    """What is known of it as a list, then its text without its head, which says the same; of a suspicious one, all."""
    rows = (*shown.rows, ("description", shown.value["description"]))
    known = "\n".join(f"- {inert(name)}: {inert(said)}" for name, said in rows if said)
    text = shown.text if shown.value["suspicious"] else body(shown.text)
    return f"{known}\n\n---\n\n{sanitise(text)}"


def body(text: str) -> str:
    """The text of a skill without its head; of a broken one, all."""
    try:
        return parted(text)[1]
    except Refused:
        return text


def _answer(made: Answer) -> Shown:
    if made.rows or not made.text:
        return Table(made.columns, made.rows, made.value, clean(made.note), most=ROWS)
    text = "\n".join(filter(None, (clean(made.text).rstrip(), clean(made.note))))
    return as_it_stands(text, made.value)


def _words(rest: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError:
        return rest.split()


@contextmanager
def _said() -> Iterator[None]:
    """What cannot be done with a skill, as the error that a notebook shows."""
    try:
        yield
    except SkillError as error:
        raise HermesError(clean(asked.refused(error, ANYWAY))) from None
