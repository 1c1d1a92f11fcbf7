"""Skills out of the way and back: archived, restored, uninstalled, undone. Nothing is ever lost by any of it.

The archive is ``skills/.archive/NAME``; a name is meant to the letter, and the names that are listed are those that are
taken.
"""

from __future__ import annotations

from pathlib import Path

from hermes_kernel.core.learning.skill import NoSkill, Skill, SkillError, State
from hermes_kernel.core.learnt import SkillChanged
from hermes_kernel.learning.skills.bench import Bench
from hermes_kernel.learning.skills.changing import Wanted, Who
from hermes_kernel.learning.skills.consent import MODELS, Consent, Done, has_to_wait
from hermes_kernel.learning.skills.disk import ARCHIVE
from hermes_kernel.learning.skills.trees import WIDE

SHOWN = 20  # names


class Shelving(Bench):
    """The part of `Workshop` that moves whole folders."""

    def archive(self, name: str, *, by: str, session: str = "", why: str = "", consent: Consent = Consent.NONE) -> Done:
        """Move it to ``skills/.archive/NAME``, from where `restore` brings it back. Pinned ones only a person moves."""
        with self.changing.alone():
            skill = self._movable(name)
            if skill.pinned and by != "person":
                raise SkillError(f"{name} is pinned: it stays. Only the person can archive it.")
            folder, who = Path(skill.folder), Who(by, session, why)
            before = self.changing.current(folder, WIDE)
            wanted = Wanted(skill.name, "archive", folder, before, "", self._spot(folder))
            reason = has_to_wait(by, skill.origin, consent, ())
            return self._proposed(wanted, who, reason, ()) if reason else self._shelved(wanted, who)

    def restore(self, name: str, *, by: str, session: str = "", why: str = "") -> Done:
        """Bring an archived skill back to its category; `name` is one that `archived` tells, to the letter."""
        with self.changing.alone():
            there = self.changing.archived()
            if name not in there:
                known = ", ".join(list(there)[:SHOWN]) or "none"
                raise NoSkill(f"No skill {name[:80]!r} is archived. There are: {known}.")
            return self._unshelved(name, there[name], "restore", Who(by, session, why))

    def archived(self) -> tuple[str, ...]:
        """The names that `restore` takes, in order."""
        return tuple(self.changing.archived())

    def uninstall(self, name: str, *, by: str = "person", session: str = "", why: str = "") -> Done:
        """Take it out of the skills. The history keeps it, and `undo` brings it back."""
        with self.changing.alone():
            if by in MODELS:
                raise SkillError("Only the person uninstalls a skill: archive it.")
            skill = self._movable(name)
            folder = Path(skill.folder)
            before = self.changing.current(folder, WIDE)
            wanted = Wanted(skill.name, "uninstall", folder, before, "", self._spot(folder))
            fact = self.changing.put(wanted, Who(by, session, why))
            return Done(f"Uninstalled the skill {name}. `undo` brings it back.", fact)

    def undo(self, name: str, number: int = 0, *, by: str, session: str = "", why: str = "") -> Done:
        """Bring back what was before change `number` (0: the latest that shows). An undo is a change like any other, so
        that it can be undone. What was changed by hand since is recorded first."""
        with self.changing.alone():
            past = self.changing.past(name)
            folder = self._folder(name)
            now = self.changing.current(folder, WIDE)
            if not past:
                self.library.get(name)
                raise SkillError(f"Nothing is on record that was changed in {name}.")
            tree = self._before(name, past, number, now)
            if tree == now:
                raise SkillError(f"{name} is as it was before that change already.")
            return self._brought(name, tree, "undo", Who(by, session, why))

    def _before(self, name: str, past: tuple[tuple[int, float, SkillChanged], ...], number: int, now: str) -> str:
        if number:
            chosen = next((fact for n, _, fact in past if n == number), None)
            if chosen is None:
                raise SkillError(f"{name} has {len(past)} changes on record, no number {number}.")
            return chosen.before
        facts = [fact for _, _, fact in reversed(past) if fact.before != fact.after]
        latest = next((fact for fact in facts if fact.after == now), None)
        if latest is None:  # changed by hand since: that is the latest change
            latest = SkillChanged(name, "found", "hand", facts[0].after if facts else "", now)
            self.changing.chronicle.record(latest)
        return latest.before

    def _brought(self, name: str, tree: str, action: str, who: Who) -> Done:
        """Have a skill be a tree of the history, where it is or where it last was."""
        folder = self._folder(name)
        there = self.changing.archived().get(name)
        before = self.changing.current(folder, WIDE)
        if tree and not before and there and self.history.keep(there, WIDE) == tree:
            return self._unshelved(name, there, action, who)
        if not before and tree:
            self.changing.fits(folder)
        wanted = Wanted(name, action, folder, before, tree, self._spot(folder))
        fact = self.changing.put(wanted, who)
        return Done(f"The skill {name} is as it was." if tree else f"The skill {name} is gone, as it was.", fact,
                    self.history.diff(before, tree))  # fmt: skip

    def _shelved(self, wanted: Wanted, who: Who) -> Done:
        to = self.changing.skills / ARCHIVE / wanted.name
        self.changing.replaced(to)
        fact = self.changing.move(wanted, to, who)
        return Done(f"Archived the skill {wanted.name}. `restore` brings it back.", fact)

    def _unshelved(self, name: str, there: Path, action: str, who: Who) -> Done:
        category = self.changing.category(name)
        to = self.changing.skills.joinpath(*filter(None, category.split("/")), name)
        if to.exists() or to.is_symlink() or self._is_active(name):
            raise SkillError(f"There is another skill {name!r} by now: archive that one first, or rename it.")
        self.changing.fits(to)
        tree = self.changing.current(there, WIDE)
        fact = self.changing.move(Wanted(name, action, there, "", tree, self._spot(to)), to, who)
        return Done(f"Restored the skill {name}.", fact)

    def _is_active(self, name: str) -> bool:
        try:
            skill = self.library.get(name)
        except NoSkill:
            return False
        return skill.state is not State.ARCHIVED and skill.origin != "bundled"

    def _folder(self, name: str) -> Path:
        """Where a skill of the home is, or where it last was."""
        try:
            skill = self.library.get(name)
        except NoSkill:
            skill = None
        if skill and skill.state is not State.ARCHIVED and skill.origin != "bundled":
            return Path(skill.folder)
        if not name or name in {".", ".."} or "/" in name:
            raise NoSkill(f"There is no skill {name[:80]!r}.")
        return self.changing.skills.joinpath(*filter(None, self.changing.category(name).split("/")), name)

    def _movable(self, name: str) -> Skill:
        skill = self.library.get(name)
        if skill.state is State.ARCHIVED:
            raise SkillError(f"{name} is archived already.")
        if skill.origin == "bundled":
            raise SkillError(f"{name} came with the package: disable it instead.")
        if "/" in skill.name:
            raise SkillError(f"Two skills are called so: rename the folder {skill.folder} first.")
        return skill
