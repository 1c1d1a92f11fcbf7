"""One change of one skill's folder: what was is kept, what comes is kept, it is recorded, and then it is put in place.

A death at any moment leaves the old folder or the new one. Knows nothing of what may be changed, or by whom.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.core.learning.skill_paths import MAIN
from hermes_kernel.core.learnt import SkillChanged
from hermes_kernel.learning.skills.disk import ARCHIVE, PASSED_OVER
from hermes_kernel.learning.skills.history import History
from hermes_kernel.learning.skills.swapping import leftovers, mend
from hermes_kernel.learning.skills.trees import BOUNDS, WIDE, Bounds
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.store.disk import make, sync_folder
from hermes_kernel.world.store.locks import Busy, held

LOCK = ".hermes-kernel.workshop.lock"
WAIT = 20.0  # seconds for another process, which holds it for as long as its disk takes for some files
DEEPEST = 4  # folders under ``skills`` that may be categories


@dataclass(frozen=True, slots=True)
class Who:
    """Who does something, in which conversation, and why; as in `SkillChanged`."""

    by: str
    session: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The folder of ``name`` is to become ``after``, a tree of the history; ``before`` is what it is taken to be.
    ``origin`` is who it is from, from then on; ``trusted`` are the contents consented to."""

    name: str
    action: str
    folder: Path
    before: str
    after: str
    file: str = ""
    origin: str = ""
    trusted: frozenset[str] = field(default=frozenset())


class Changing:
    """Of the folders under `skills`."""

    def __init__(self, skills: Path, history: History, chronicle: Chronicle) -> None:
        self.skills = skills
        self.history = history
        self.chronicle = chronicle

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else changes a skill by this way meanwhile; what a death left is in order.

        Raises:
            SkillError: another process goes on changing, or the folder cannot be written.
        """
        try:
            make(self.skills)
            with held(self.skills / LOCK, WAIT):
                for each in _interrupted(self.skills, DEEPEST):
                    mend(each)
                yield
        except Busy:
            raise SkillError("Another process is changing skills. Try again.") from None
        except OSError as error:
            if type(error) is OSError or not str(error):
                raise SkillError(f"{self.skills} cannot be changed: {error.strerror or error}.") from None
            raise

    def current(self, folder: Path, bounds: Bounds = BOUNDS) -> str:
        """The tree that `folder` is at this moment, kept; "" for none.

        Raises:
            SkillError: it is a link, or cannot be kept.
        """
        if folder.is_symlink():
            raise SkillError(f"{folder.name} is a link to {folder.readlink()}. Change the skill there.")
        return self.history.keep(folder, bounds)

    def fits(self, folder: Path) -> None:
        """Refuse a place for a new skill that something else has.

        Raises:
            SkillError: what is there.
        """
        if folder.exists() or folder.is_symlink():
            raise SkillError(f"{folder} is there already and is no skill. Choose another name.")
        for above in folder.parents:
            if above == self.skills:
                break
            if (above / MAIN).exists() or above.is_symlink():
                raise SkillError(f"{above.name} is a skill or a link, no category. Choose another category.")

    def put(self, wanted: Wanted, who: Who) -> SkillChanged:
        """Record it, and have it so.

        Raises:
            SkillError: the folder is another by now, or the disk does not take it; it is as it was.
            StoreError: it cannot be recorded; nothing was changed.
        """
        fact = self.record(wanted, who)
        self.history.restore(wanted.after, wanted.folder, wanted.before)
        return fact

    def move(self, wanted: Wanted, to: Path, who: Who) -> SkillChanged:
        """Record it, and give the folder another name.

        Raises:
            SkillError, StoreError: as `put`.
        """
        make(to.parent)
        fact = self.record(wanted, who)
        wanted.folder.rename(to)
        sync_folder(to.parent)
        sync_folder(wanted.folder.parent)
        return fact

    def record(self, wanted: Wanted, who: Who) -> SkillChanged:
        """The fact of a change, on disk."""
        fact = SkillChanged(
            wanted.name, wanted.action, who.by, wanted.before, wanted.after, wanted.file, who.session, who.why
        )
        self.chronicle.record(fact)
        return fact

    def past(self, name: str) -> tuple[tuple[int, float, SkillChanged], ...]:
        """What became of a skill: number (from 1), seconds since 1970-01-01 UTC, fact; the oldest first."""
        facts = [(each.t, each.fact) for each in self.chronicle.read(SkillChanged)]
        own = [(t, fact) for t, fact in facts if isinstance(fact, SkillChanged) and fact.name == name]
        return tuple((n, t, fact) for n, (t, fact) in enumerate(own, 1))

    def category(self, name: str) -> str:
        """The category in which a skill that is not there now last stood."""
        places = (fact.file for _, _, fact in reversed(self.past(name)) if fact.file.split("/")[-1] == name)
        return next(places, name).rpartition("/")[0]

    def archived(self) -> Mapping[str, Path]:
        """What lies in the archive, by name."""
        archive = self.skills / ARCHIVE
        if not archive.is_dir():
            return {}
        return {
            each.name: each for each in sorted(archive.iterdir()) if (each / MAIN).is_file() and each.name[0] != "."
        }

    def replaced(self, folder: Path) -> None:
        """Keep an earlier archived skill of the same name in the history, and take it out of the archive."""
        if folder.exists():
            self.history.restore("", folder, self.history.keep(folder, WIDE))


def _interrupted(folder: Path, depth: int) -> Iterator[Path]:
    """The skills whose swap a death interrupted, in `folder` and in the categories in it."""
    yield from leftovers(folder)
    if depth <= 1:
        return
    for entry in os.scandir(folder):
        if entry.name == ARCHIVE or (entry.is_dir(follow_symlinks=False) and _is_category(entry)):
            yield from _interrupted(Path(entry.path), depth - 1)


def _is_category(entry: os.DirEntry[str]) -> bool:
    return entry.name[0] != "." and entry.name not in PASSED_OVER and not os.path.lexists(f"{entry.path}/{MAIN}")
