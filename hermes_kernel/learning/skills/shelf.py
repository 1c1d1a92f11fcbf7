"""Where every skill stands and how it stands with it: its folder, what is said of it beside, what its SKILL.md says.

Of two in one home with one name, the first in the order of categories has it; the other is broken until it is renamed.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.learning.skill import NAMED, Skill, State
from hermes_kernel.core.learning.threats import in_name
from hermes_kernel.learning.skills.disk import ARCHIVE, Place, places
from hermes_kernel.learning.skills.marks import Mark, Marks
from hermes_kernel.learning.skills.reading import Reading, Told, texts

NAME = "its folder's name may hold letters, digits, - _ and . only, and begins with a letter or a digit: rename it"
UNMARKED = Mark()


class Spot(NamedTuple):
    """A skill's place, and what is said of it; without a look into its file. ``name`` is what it is found by."""

    name: str
    place: Place
    mark: Mark
    bundled: bool = False
    archived: bool = False
    twin: str = ""

    @property
    def path(self) -> str:
        """``category/name``."""
        return f"{self.place.category}/{self.place.name}" if self.place.category else self.place.name


class Shelf:
    """The skills under `skills` and in `bundled`, with `marks`."""

    def __init__(self, skills: Path, bundled: Path, marks: Marks) -> None:
        self._skills = skills
        self._bundled = bundled
        self._marks = marks
        self._reading = Reading(skills)

    def spots(self) -> dict[str, Spot]:
        """Every skill at this moment, by name."""
        marks = self._marks.read()
        spots: dict[str, Spot] = {}
        for place in places(self._skills):
            _put(spots, place, marks.get(place.name, UNMARKED))
        for place in places(self._bundled):
            if place.name not in spots:
                spots[place.name] = Spot(place.name, place, marks.get(place.name, UNMARKED), bundled=True)
        for place in places(self._skills / ARCHIVE):
            name = place.name if place.name not in spots else f"{ARCHIVE}/{place.name}"
            spots[name] = Spot(name, place, marks.get(place.name, UNMARKED), archived=True)
        return spots

    def offerable(self) -> dict[str, Spot]:
        """Those that are offered unless a look into them shows why not."""
        return {
            name: spot
            for name, spot in self.spots().items()
            if not (spot.archived or spot.twin or spot.mark.disabled) and NAMED.fullmatch(name)
        }

    def skill(self, spot: Spot) -> Skill:
        """The skill there."""
        told, mark, place = self._reading.told(spot.place), spot.mark, spot.place
        looked_at = not (spot.bundled or told.why or spot.archived)
        findings = (*in_name(place.name), *self._reading.findings(told.digest, place.folder)) if looked_at else ()
        state, why = _state(spot, told, findings)
        return Skill(
            spot.name,
            told.description,
            place.folder,
            "" if spot.archived else place.category,
            "bundled" if spot.bundled else mark.origin or "person",
            state,
            mark.pinned,
            told.digest in mark.trusted,
            told.digest,
            told.tags,
            why,
            findings,
        )

    def suspicious(self, skill: Skill, digest: str, text: str) -> tuple[Finding, ...]:
        """What in a file of a skill nobody has consented to, as this process sees it: nothing in a bundled one."""
        if skill.origin == "bundled" or digest in self._marks.read().get(skill.name, UNMARKED).trusted:
            return ()
        return self._reading.scanned.scan(digest, *texts(text, skill.description if digest == skill.digest else ""))

    def keep(self) -> None:
        """Have other processes know which texts were looked through."""
        self._reading.scanned.keep()


def _put(spots: dict[str, Spot], place: Place, mark: Mark) -> None:
    if place.name not in spots:
        spots[place.name] = Spot(place.name, place, mark)
        return
    twin = f"{place.category}/{place.name}"
    spots[twin] = Spot(twin, place, UNMARKED, twin=spots[place.name].path)


def _state(spot: Spot, told: Told, findings: tuple[Finding, ...]) -> tuple[State, str]:
    if spot.archived:
        return State.ARCHIVED, ""
    if spot.twin:
        return State.BROKEN, f"{spot.twin} has the same name: rename one of the two folders"
    if not NAMED.fullmatch(spot.name):
        return State.BROKEN, NAME
    if told.why:
        return State.BROKEN, told.why
    if findings and told.digest not in spot.mark.trusted:
        first, *others = findings
        return State.HELD, first.what + (f" (and {len(others)} more)" if others else "")
    if spot.mark.disabled:
        return State.DISABLED, ""
    return (State.STALE if spot.mark.stale else State.ACTIVE), ""
