"""What a process does to a skill."""

from __future__ import annotations

from pathlib import Path

from hermes_kernel.learning.proposals import Proposals
from hermes_kernel.learning.skills.history import History
from hermes_kernel.learning.skills.library import Library
from hermes_kernel.learning.skills.workshop import Workshop
from hermes_kernel.testing import FastClock
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.store.memory import MemoryLog

NAME = "cleaning"
TEXT = f"---\nname: {NAME}\ndescription: How it is done.\n---\n\n" + "".join(f"line {n}\n" for n in range(50))


def workshop(home: Path) -> tuple[Workshop, Library]:
    """That of a home, with a record of its own."""
    clock = FastClock()
    ids = iter(range(10_000))
    chronicle = Chronicle(MemoryLog(clock=clock), lambda: f"i{next(ids)}")
    library = Library(home, home / "none", chronicle)
    made = Workshop(
        library, History(home / "history"), chronicle, Proposals(home, clock, lambda: f"p{next(ids)}"), home
    )
    return made, library


def do(made: Workshop, verb: str) -> None:
    """One verb on the skill of the home."""
    match verb:
        case "create":
            made.create("another", TEXT.replace(NAME, "another"), by="person")
        case "patch":
            made.patch(NAME, "line 7\n", "LINE 7\n", by="person")
        case "write_file":
            made.write_file(NAME, "references/a.md", "a" * 1000, by="person")
        case "archive":
            made.archive(NAME, by="person")
        case "uninstall":
            made.uninstall(NAME)
        case "install":
            made.install(made.changing.skills.parent / "source" / NAME, replace=True)
