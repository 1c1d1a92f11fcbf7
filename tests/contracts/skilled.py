"""A home with skills in it and a workshop for them, as the tests of both want it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path

from hermes_kernel.learning.proposals import Proposals
from hermes_kernel.learning.skills.history import History
from hermes_kernel.learning.skills.library import Library
from hermes_kernel.learning.skills.workshop import Workshop
from hermes_kernel.testing import FastClock
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.store.memory import MemoryLog

WORK = """\
---
name: {name}
description: How {name} is done, and when.
---

# {name}

1. Look at the data.
2. Write down what is odd.
3. Ask before anything is dropped.
"""


@dataclass(frozen=True)
class Desk:
    home: Path
    library: Library
    workshop: Workshop
    history: History
    proposals: Proposals
    chronicle: Chronicle

    @property
    def skills(self) -> Path:
        return self.home / "skills"

    def made(self, name: str, text: str = "", *, category: str = "", by: str = "model") -> Path:
        """A skill that there is now."""
        self.workshop.create(name, text or WORK.format(name=name), category=category, by=by, session="s")
        return Path(self.library.get(name).folder)

    def placed(self, name: str, text: str = "") -> Path:
        """A skill that a person put there by hand."""
        folder = self.skills / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text or WORK.format(name=name))
        return folder

    def read(self, name: str, file: str = "", session: str = "s") -> str:
        """What a model is shown when it looks."""
        opened = self.library.open(name, file)
        self.library.saw(name, file, opened.digest, session)
        return opened.text or ""


def desk(home: Path, bundled: Path | None = None) -> Desk:
    numbers = count()
    clock = FastClock()

    def new_id() -> str:
        return f"id{next(numbers):04}"

    chronicle = Chronicle(MemoryLog(clock=clock), new_id)
    library = Library(home, bundled or home / "none", chronicle)
    history, proposals = History(home / "history"), Proposals(home, clock, new_id)
    return Desk(home, library, Workshop(library, history, chronicle, proposals, home), history, proposals, chronicle)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
