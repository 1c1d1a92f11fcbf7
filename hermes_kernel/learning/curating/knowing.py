"""What is known of every skill when a run begins: what it is from the library, what became of it from the record, and
what the original wrote down of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from hermes_kernel.core.learning import skill as skills
from hermes_kernel.core.learning.curating import Life, State
from hermes_kernel.core.learning.curating_lives import Record, joined, records
from hermes_kernel.core.learning.skill import Skill
from hermes_kernel.core.learning.skill_paths import MAIN
from hermes_kernel.core.learnt import SkillChanged, SkillMarked, SkillUsed
from hermes_kernel.learning.curating.shelf import Times
from hermes_kernel.learning.skills.library import Library
from hermes_kernel.learning.skills.marks import LARGEST, THEIRS, Mark
from hermes_kernel.world.store.disk import plain_in

MAKINGS, USES = ("created_at",), ("last_used_at", "last_viewed_at", "last_patched_at", "last_activity_at")


class Census:
    """The skills of `library`, each with its life. ``times`` are of earlier runs, ``t`` the time on the clock."""

    def __init__(self, library: Library, times: Times, scheduled: Collection[str], t: float) -> None:
        self.skills: Mapping[str, Skill] = library.all()
        self.records: Mapping[str, Record] = records(library.chronicle.read(SkillUsed, SkillChanged, SkillMarked))
        self._root = library.home / "skills"
        self._theirs = _theirs(self._root / THEIRS)
        self._marks = library.marks.read()
        self._times = times
        self._scheduled = frozenset(scheduled)
        self._t = t
        self.seen: dict[str, float] = {}

    def lives(self) -> tuple[Life, ...]:
        """All of them, in the order of names."""
        return tuple(self._life(name, skill) for name, skill in sorted(self.skills.items()))

    def _life(self, name: str, skill: Skill) -> Life:
        known = joined(self.records.get(name, Record()), self._theirs.get(name, Record()))
        mark = self._marks.get(name, Mark())
        return Life(
            name,
            self._origin(skill),
            state_of(skill, mark),
            born=known.born or self._first_seen(name, skill),
            last=known.last,
            since=self._times.stale.get(name, known.since),
            views=known.views,
            uses=known.uses,
            patches=known.patches,
            pinned=skill.pinned,
            scheduled=name in self._scheduled,
            disabled=mark.disabled,
        )

    def _origin(self, skill: Skill) -> str:
        """Whose it is: a folder elsewhere, or a link to one, is no agent's."""
        folder = Path(skill.folder)
        if not folder.is_relative_to(self._root):
            return "bundled"
        return "person" if folder.is_symlink() else skill.origin

    def _first_seen(self, name: str, skill: Skill) -> float:
        """When a skill of which nobody recorded the making was there already: its file says, or the curator knows."""
        with suppress(OSError):
            written = (Path(skill.folder) / MAIN).stat().st_mtime
            self.seen[name] = min(written, self._times.seen.get(name, self._t))
            return self.seen[name]
        return self._t


def state_of(skill: Skill, mark: Mark) -> State:
    """Where a skill is in its life: it lies in the archive, or its mark says that it is stale."""
    if skill.state is skills.State.ARCHIVED:
        return State.ARCHIVED
    return State.STALE if mark.stale else State.ACTIVE


def _theirs(path: Path) -> Mapping[str, Record]:
    """What the original counted, as far as it can be understood."""
    return {name: _record(each) for name, each in plain_in(path, LARGEST).items() if isinstance(each, dict)}


def _record(said: Mapping[str, Any]) -> Record:
    return Record(
        born=max(map(_seconds, map(said.get, MAKINGS))),
        last=max(map(_seconds, map(said.get, USES))),
        views=_count(said.get("view_count")),
        uses=_count(said.get("use_count")),
        patches=_count(said.get("patch_count")),
    )


def _count(said: Any) -> int:
    return said if isinstance(said, int) and said > 0 else 0


def _seconds(said: Any) -> float:
    """An ISO time, or seconds since 1970."""
    if isinstance(said, (int, float)):
        return float(said)
    with suppress(ValueError, TypeError, OverflowError):
        return datetime.fromisoformat(said).timestamp()
    return 0.0
