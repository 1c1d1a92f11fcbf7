"""What the panel of the curator shows: read in one go, and said as labels and pages. Knows no control."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hermes_kernel.core.figures import counted
from hermes_kernel.core.learning.curating import Move, Plan
from hermes_kernel.core.learning.curating_runs import Run
from hermes_kernel.core.text import brief
from hermes_kernel.learning.curating.telling import standing
from hermes_kernel.learning.skills.choices import Waits, waiting
from hermes_kernel.view import escape
from hermes_kernel.view.columns import aligned
from hermes_kernel.view.kept.pages import facts
from hermes_kernel.view.look import CODE
from hermes_kernel.view.markup import quiet
from magics.panels.skilled import TEXT, Detail, detail

if TYPE_CHECKING:
    from hermes_kernel.learning.lore import Lore

SHOWN, NAME, WHY = 500, 40, 80  # rows of the list, characters in them

LISTED = "waits for consent"  # as `standing` calls it; here the list has it

Key = Move | tuple[str, str]
"""A move of the plan, or ``("waits", id)``."""


@dataclass(frozen=True, slots=True)
class Tended:
    """What there was when it was read: where the curator stands, its plan, what its reviews want, its runs."""

    standing: tuple[tuple[str, str], ...] = ()
    plan: Plan = field(default_factory=Plan)
    waiting: tuple[Waits, ...] = ()
    runs: tuple[Run, ...] = ()

    @property
    def keys(self) -> tuple[Key, ...]:
        """What can be chosen: what waits for a word stands first."""
        return (*(("waits", each.id) for each in self.waiting), *self.plan.moves[:SHOWN])

    @property
    def standing_runs(self) -> tuple[Run, ...]:
        """Those that changed something and have not been taken back."""
        return tuple(run for run in self.runs if run.action == "run" and run.done and not run.rolled_back)


def seen(lore: Lore) -> Tended:
    """All of it as it is now.

    Raises:
        StoreError: the store cannot be read.
    """
    curator = lore.curator
    waits = tuple(each for each in waiting(lore) if each.by == "curator")
    return Tended(standing(curator), curator.plan(), waits, curator.runs())


def options(what: Tended) -> list[tuple[str, Key]]:
    """The rows of the list, aligned."""
    waits = [(brief(each.name, NAME), f"{each.action}: waits for you", brief(each.why, WHY)) for each in what.waiting]
    moves = [
        (brief(move.name, NAME), f"{move.before.value} \u2192 {move.after.value}", brief(move.why, WHY))
        for move in what.plan.moves[:SHOWN]
    ]
    return list(zip(aligned(("", "", ""), [*waits, *moves]), what.keys, strict=True))


def head(what: Tended) -> str:
    """Where it stands, and what is in the list."""
    held = Counter(why for _, why in what.plan.held)
    never = ", ".join(f"{why}: {count}" for why, count in held.most_common())
    due = len(what.plan.moves)
    lines = [f"{counted(due, 'move')} {'is' if due == 1 else 'are'} due" if due else "Nothing is due"]
    lines += [f"{len(what.waiting)} waiting for your word"] if what.waiting else []
    rows = (*(row for row in what.standing if row[0] != LISTED), ("never moves", never))
    return facts(rows) + quiet(", ".join(lines) + ".")


def chosen(lore: Lore, key: Key | None) -> Detail:
    """The chosen one in full: what would become of it and why, then the skill itself.

    Raises:
        SkillError: it is there no more.
    """
    if not isinstance(key, Move):
        return detail(lore, key, TEXT)
    skill = detail(lore, ("skill", key.name), TEXT)
    about = facts((("would become", f"{key.before.value} \u2192 {key.after.value}"), ("because", key.why)))
    return Detail(f"{about}<hr>{skill.html}", ("move", "keep"), key)


def report_html(text: str) -> str:
    """A report, line by line as it stands."""
    return f'<pre style="{CODE};white-space:pre-wrap;margin:0">{escape(text)}</pre>'
