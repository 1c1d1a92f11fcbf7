"""A skill from a folder or a zip, brought in by a person: looked at in memory, shown, and then whole in its place."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hermes_kernel.core.learning.skill import NoSkill, Skill, SkillError, State
from hermes_kernel.core.learning.skill_paths import wrong_category, wrong_installed
from hermes_kernel.learning.skills.bench import Bench
from hermes_kernel.learning.skills.changing import Wanted, Who
from hermes_kernel.learning.skills.checking import check_main, check_sizes, suspicious
from hermes_kernel.learning.skills.consent import MODELS, Done, refused
from hermes_kernel.learning.skills.packing import Packed, packed


class Installing(Bench):
    """The part of `Workshop` that brings skills in."""

    def install(  # noqa: PLR0913 - what a person says to it, each by its name
        self, path: Path, *, by: str = "person", category: str = "", anyway: bool = False, replace: bool = False,
        session: str = "", why: str = "",
    ) -> Done:  # fmt: skip
        """The skill in a folder or a zip, under the name that it gives itself. ``anyway``: the person knows what is
        suspicious in it; ``replace``: it may take the place of a skill of that name, which the history keeps.

        Raises:
            NeedsConsent: something in it is suspicious; it has the findings.
            SkillError: it is no skill, or hostile; nothing was installed.
        """
        if by in MODELS:
            raise SkillError("Only the person installs a skill.")
        what = packed(path)
        if wrong := wrong_installed(what.name) or wrong_category(category):
            raise SkillError(f"{what.name[:80]!r} cannot be installed: {wrong}.")
        check_sizes(what.files)
        check_main(what.name, what.files, strict=False)
        held = suspicious(what.files, what.runnable, what.name)
        findings = tuple(each for found in held.values() for each in found)
        with self.changing.alone():
            wanted = self._to_install(what, category, held, replace=replace)
            if findings and not anyway:
                raise refused(f"{what.name} was not installed", findings)
            return self._put(wanted, Who(by, session, why or f"from {path.name}"), findings)

    def _to_install(self, what: Packed, category: str, held: Iterable[str], *, replace: bool) -> Wanted:
        there = self._there(what.name)
        if there and not replace:
            raise SkillError(
                f"There is a skill {what.name!r} already ({there.origin}). Say --replace to have this one."
            )
        folder = self.changing.skills.joinpath(*filter(None, category.split("/")), what.name)
        if there and there.origin != "bundled":
            folder = Path(there.folder)
        before = self.changing.current(folder)
        if not before:
            self.changing.fits(folder)
        after = self.history.changed("", what.files, what.runnable)
        digests = self.history.files(after)
        spot = folder.relative_to(self.changing.skills).as_posix()
        trusted = frozenset(digests[name] for name in held)
        return Wanted(what.name, "install", folder, before, after, spot, "installed", trusted)

    def _there(self, name: str) -> Skill | None:
        try:
            skill = self.library.get(name)
        except NoSkill:
            return None
        if skill.state is State.ARCHIVED:
            raise SkillError(f"There is an archived skill {name!r}: restore it, and say --replace then.")
        return skill
