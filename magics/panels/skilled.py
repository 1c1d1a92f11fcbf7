"""What the panel of skills shows: read in one go, and said as labels and pages. Knows no control."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.learning.skill import NoSkill, SkillError
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.skills import asked
from hermes_kernel.learning.skills.choices import Waits, awaited, possible, undoable, waiting
from hermes_kernel.view import escape
from hermes_kernel.view.columns import aligned
from hermes_kernel.view.kept.diffs import diff_html
from hermes_kernel.view.kept.pages import facts, words
from hermes_kernel.view.markup import marked, quiet
from hermes_kernel.view.rendered import markdown_html
from magics.commands.skills import body

if TYPE_CHECKING:
    from hermes_kernel.learning.lore import Lore

TEXT, CHANGES = "text", "changes"
SHOWN, NAME = 500, 40  # rows of the list, characters of a name in it
RECENT, FOUND = 20, 50  # changes and findings that are listed
SAID = 2_000  # characters of a description

Key = tuple[str, str]
"""``("skill", name)`` or ``("waits", id)``: what is chosen, whatever moves about it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was there when it was read: the skills that were asked for, and what waits for a word."""

    skills: tuple[Mapping[str, Any], ...] = ()
    waiting: tuple[Waits, ...] = ()
    said: str = ""

    @property
    def keys(self) -> tuple[Key, ...]:
        """What can be chosen: what waits for a word stands first."""
        waits = [("waits", each.id) for each in self.waiting]
        return (*waits, *(("skill", each["name"]) for each in self.skills[:SHOWN]))


@dataclass(frozen=True, slots=True)
class Detail:
    """One of them in full, and which verbs it takes. ``known`` is what a person was shown, to be held against what
    there is once they consent to it."""

    html: str = ""
    verbs: tuple[str, ...] = ()
    known: Any = field(default=None, repr=False)


def seen(lore: Lore, kind: str, sought: str) -> Seen:
    """The skills of a kind with these words in them.

    Raises:
        StoreError: it cannot be read.
    """
    answer = asked.searched(lore, kind, sought)
    return Seen(tuple(answer.value), waiting(lore), answer.note.partition("\n")[0] if not answer.rows else "")


def options(what: Seen) -> list[tuple[str, Key]]:
    """The rows of the list, aligned."""
    skills = [_row(each) for each in what.skills[:SHOWN]]
    waits = [(f"{each.action} {brief(each.name, NAME)}", "waits for you", f"by {each.by}", "") for each in what.waiting]
    return list(zip(aligned(("", "", "", ""), [*waits, *skills]), what.keys, strict=True))


def _row(skill: Mapping[str, Any]) -> tuple[str, str, str, str]:
    uses = skill["uses"]
    state = f"{skill['state']}, pinned" if skill["pinned"] else skill["state"]
    last = minute(uses["last"]) if uses["last"] else ""
    return brief(skill["name"], NAME), state, counted(uses["count"], "use") if uses["count"] else "not used", last


def summary(what: Seen) -> str:
    """What is in the list, in a line."""
    if what.said:
        return what.said
    left = len(what.skills) - SHOWN
    more = f"; the first {SHOWN} are listed, search for others" if left > 0 else ""
    waits = f", {len(what.waiting)} waiting for your word" if what.waiting else ""
    return f"{counted(len(what.skills), 'skill')}{waits}{more}"


def detail(lore: Lore, key: Key | None, view: str) -> Detail:
    """The chosen one in full.

    Raises:
        SkillError: it is there no more.
    """
    match key:
        case None:
            return Detail()
        case ("waits", identity):
            waits = awaited(lore, identity)
            return Detail(_proposed(waits), ("accept", "reject"), waits)
        case (_, name):
            skill = asked.shown(lore, name).value
            verbs = possible(skill, undo=undoable(lore, name))
            return Detail(_past(lore, name) if view == CHANGES else _read(skill), verbs, consented(skill))


def consented(skill: Mapping[str, Any]) -> tuple[Any, ...]:
    """What somebody who trusts a skill has read of it."""
    return skill["text"], tuple(skill["files"]), tuple(skill["suspicious"])


@contextmanager
def in_a_line() -> Iterator[None]:
    """What cannot be done with a skill, as an error of one line."""
    try:
        yield
    except SkillError as error:
        raise HermesError(str(error).partition("\n")[0]) from None


def _read(skill: Mapping[str, Any]) -> str:
    uses = skill["uses"]
    marks = [skill["state"], *(word for word in ("pinned", "trusted") if skill[word])]
    used = f"{uses['count']:,}, the last {minute(uses['last'])}" if uses["count"] else "none"
    known = facts((
        ("state", ", ".join(marks)), ("why", skill["why"]), ("from", skill["origin"]), ("uses", used),
        ("tags", ", ".join(skill["tags"])), ("files", ", ".join(skill["files"])), ("folder", skill["folder"]),
    ))  # fmt: skip
    found = _suspicious(skill["suspicious"])
    if skill["suspicious"]:
        shown = quiet("It is shown as it stands, for something in it is suspicious:") + words(skill["text"])
    else:
        shown = markdown_html(body(skill["text"]))
    said = f"<p>{escape(brief(skill['description'], SAID))}</p>" if skill["description"] else ""
    return f"<h3>{escape(skill['name'])}</h3>{said}{known}{found}<hr>{shown}"


def _suspicious(found: Sequence[str]) -> str:
    left = quiet(f"and {len(found) - FOUND:,} more suspicious places") if len(found) > FOUND else ""
    return "".join(marked(f"suspicious: {each}", "slow") for each in found[:FOUND]) + left


def _past(lore: Lore, name: str) -> str:
    try:
        past = asked.do(lore, name, "history", ()).value
    except NoSkill:
        past = []
    head = f"<h3>{escape(name)}</h3>"
    if not past:
        return head + quiet("Nothing has been changed here.")
    last = asked.do(lore, name, "diff", ())
    rows = facts((f"{each['n']}", _change(each)) for each in reversed(past[-RECENT:]))
    earlier = quiet(f"and {len(past) - RECENT:,} earlier ones") if len(past) > RECENT else ""
    newest = quiet(f"Change {past[-1]['n']} in full:")
    return f"{head}{rows}{earlier}<hr>{newest}{diff_html(last.text) or quiet(last.note)}"


def _change(each: Mapping[str, Any]) -> str:
    why = f": {brief(each['why'], 200)}" if each["why"] else ""
    file = f" {brief(each['file'], 80)}" if each["file"] else ""
    return f"{minute(each['t'])}  {each['action']}{file}, by {each['by']}{why}"


def _proposed(waits: Waits) -> str:
    known = facts((
        ("wants to", f"{waits.action} {waits.name}"), ("by", waits.by), ("when", minute(waits.t)), ("why", waits.why),
        ("id", waits.id),
    ))  # fmt: skip
    found = _suspicious(waits.findings)
    return f"<h3>Waits for your word</h3>{known}{found}<hr>{diff_html(waits.diff) or quiet('It changes no text.')}"
