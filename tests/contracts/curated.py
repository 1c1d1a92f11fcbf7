"""A home with skills, a clock that a test sets, and the curator of it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from hermes_kernel.core.learning.curating import DAY, State
from hermes_kernel.core.learnt import SkillChanged, SkillUsed
from hermes_kernel.equipment import Equipment
from hermes_kernel.learning.curating import Curator
from hermes_kernel.learning.curating.means import Means
from hermes_kernel.learning.curating.reviewing import Reviewer
from hermes_kernel.learning.proposals import Proposals
from hermes_kernel.learning.reflecting.asking import apart
from hermes_kernel.learning.skills.history import History
from hermes_kernel.learning.skills.library import Library
from hermes_kernel.learning.skills.workshop import Workshop
from hermes_kernel.resources import Resources
from hermes_kernel.settings import Settings
from hermes_kernel.testing import ScriptedModel
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.ports import Archive
from hermes_kernel.world.store.memory import MemoryLog

START = 1_800_000_000.0
WORDS = ("sales", "month", "chart", "table", "clean", "column", "plot", "trend", "join", "merge", "date", "zip")


class Days:
    """`ports.Clock` whose days pass when a test says so."""

    def __init__(self, t: float = START) -> None:
        self.t = t

    def now(self) -> float:
        self.t += 0.001  # no two things happen at once
        return self.t

    def elapsed(self) -> float:
        return self.t

    def chance(self) -> float:
        return 0.5

    async def sleep(self, seconds: float) -> None:
        self.t += seconds
        await asyncio.sleep(0)

    def pass_days(self, days: float) -> None:
        self.t += days * DAY


def text(name: str, body: str = "") -> str:
    """A valid SKILL.md, unlike every other."""
    seed = int(hashlib.sha256(name.encode()).hexdigest(), 16)
    own = " ".join(f"{WORDS[(seed >> n) % 12]}{(seed >> 2 * n) % 256}" for n in range(40))
    return f"---\nname: {name}\ndescription: How to do {name} well\n---\n# {name}\n\n{body or own}\n"


class Tended:
    """The home, and everything that tends to it."""

    def __init__(
        self, home: Path, *, clock: Any = None, store: Archive | None = None, model: Sequence[Any] = (),
        active: Callable[[], float] = lambda: 0.0, scheduled: Sequence[str] = (), **settings: Any,
    ) -> None:  # fmt: skip
        self.home, self.skills = home, home / "skills"
        self.clock = clock or Days()
        self.store = store or MemoryLog(clock=self.clock)
        self.settings = Settings(**{"home": home, "learning": True, **settings})
        self.chronicle = Chronicle(self.store, _id)
        self.library = Library(home, home / "bundled", self.chronicle)
        self.history = History(home / "history")
        self.proposals = Proposals(home, self.clock, _id)
        self.workshop = Workshop(self.library, self.history, self.chronicle, self.proposals, home)
        self.model = ScriptedModel(list(model)) if model else None
        means = Means(
            self.library, self.workshop, self.history, self.proposals, self.clock, lambda: self.settings, active,
            lambda: scheduled,
        )  # fmt: skip
        self.curator = Curator(means, self._reviewer)

    def _reviewer(self) -> Reviewer | None:
        if self.model is None:
            return None
        equipment = Equipment(self.settings, self.clock, given=self.model)
        return Reviewer(Resources(equipment, self.store, self.clock, _id), lambda: apart(equipment.models))

    def made(self, *names: str, category: str = "", body: str = "") -> None:
        """Skills that the agent made."""
        self.by_hand(*names, category=category, body=body)
        for name in names:
            self.library.marks.change(name, origin="agent")
        self.chronicle.record(*(SkillChanged(name, "create", "review") for name in names))

    def by_hand(self, *names: str, category: str = "", body: str = "") -> None:
        """Skills that a person wrote on disk."""
        for name in names:
            folder = self.skills / category / name
            folder.mkdir(parents=True)
            (folder / "SKILL.md").write_text(text(name, body), encoding="utf-8")

    def use(self, *names: str, how: str = "view") -> None:
        for name in names:
            self.chronicle.record(SkillUsed(name, how))

    def states(self) -> dict[str, State]:
        """Where each skill is in its life."""
        return {life.name: life.state for life in self.curator.lives()}

    def bytes(self) -> dict[str, bytes]:
        return held(self.skills)


def held(folder: Path, *, all: bool = False) -> dict[str, bytes]:  # noqa: A002
    """Every file under a folder, but for locks."""
    files = (path for path in folder.rglob("*") if path.is_file())
    kept = (path for path in files if all or path.suffix != ".lock")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in kept}


def _id() -> str:
    return uuid4().hex
