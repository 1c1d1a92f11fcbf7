"""``hermes-kernel import``: conversations of the original Hermes Agent, and our own exports, brought into the store."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.cli.trouble import Failure, Misuse
from hermes_kernel.core.figures import counted
from hermes_kernel.core.redact import redact
from hermes_kernel.settings import Settings
from hermes_kernel.world.folder import named

if TYPE_CHECKING:
    from hermes_kernel.world.importing import Brought

STANDS = "What was imported stands; the same command goes on where this one stopped."
SEVERAL = 50  # sessions from which on a person is told how far it is


def add_import(commands: Commands[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    bring = command(commands, "import", "bring in the conversations of Hermes Agent (state.db or JSONL), or an export")
    bring.add_argument(
        "path", nargs="?", metavar="PATH", help="a state.db, its folder, or a .jsonl (default: state.db in the home)"
    )
    bring.add_argument("--dry-run", action="store_true", help="say what would be imported and write nothing")
    bring.add_argument("--json", action="store_true", help="one JSON object instead of text")
    bring.set_defaults(do=import_)


def import_(options: argparse.Namespace) -> int:
    """Import what is at a path and say what came of it. Again adds only what is new.

    Raises:
        Misuse: there is nothing at the path that could be imported.
        Failure: the store cannot be written, or what is there cannot be read to its end.
    """
    from hermes_kernel.world.importing import Unreadable

    settings = Settings.load()
    path = named(options.path) if options.path else settings.home
    try:
        brought = _bring(path, settings, dry=options.dry_run)
    except Unreadable as error:
        raise Misuse(str(error)) from None
    beside = _beside(path if path.is_dir() else path.parent)
    if options.json:
        did = {field.name: getattr(brought, field.name) for field in dataclasses.fields(brought)}
        print(json.dumps({**did, "dry_run": options.dry_run, "beside": beside}, ensure_ascii=False, indent=2))
    else:
        print("\n".join([*_lines(brought, dry=options.dry_run), *beside]))
    return 0


def _bring(path: Path, settings: Settings, *, dry: bool) -> Brought:
    from hermes_kernel.world.importing import Care, Importer, source
    from hermes_kernel.world.store import StoreError

    care = Care(partial(redact, secrets=settings.secrets))
    with source(path) as found, opened() as store:
        try:
            with _progress(found.expected) as tell:
                brought = Importer(store, care, dry=dry).bring(found.stories(care), tell)
        except StoreError as error:
            raise Failure(str(error) if dry else f"{error}\n{STANDS}") from None
        if not dry:
            with suppress(StoreError):  # what is not folded is found all the same
                store.fold()
    return brought


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """Tells a person at a terminal how far it is; ``total`` is 0 where nobody knows."""
    if not sys.stderr.isatty() or 0 < total < SEVERAL:
        yield lambda _: None
        return
    of = f" of {total:,}" if total else ""
    yield lambda done: print(f"\r{done:,}{of} sessions", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _lines(brought: Brought, *, dry: bool) -> list[str]:
    """What was done, what was there, what was left out and why."""
    did = "would be imported" if dry else "imported"
    counts = (
        (brought.sessions, "session"),
        (brought.messages, "message"),
        (brought.calls, "tool call"),
        (brought.titles, "title"),
    )
    out = [f"{', '.join(counted(count, what) for count, what in counts)} {did}"]
    if brought.grown:
        out.append(f"{counted(brought.grown, 'session')} here before had more to tell")
    if brought.same or brought.known:
        out.append(f"already there: {counted(brought.same, 'session')}, {counted(brought.known, 'message')}")
    out += [f"left out: {why}: {count:,}" for why, count in sorted(brought.skipped.items())]
    if brought.hidden and brought.messages:
        out.append(f"{counted(brought.hidden, 'text')} had a secret in them, which was replaced")
    return out


def _beside(folder: Path) -> list[str]:
    """What else the original keeps there. It is no conversation: it stays where it is."""
    found = []
    skills = sum(1 for _ in (folder / "skills").rglob("SKILL.md"))
    if skills:
        found.append(f"{counted(skills, 'skill')} in {folder / 'skills'}: read in place, not copied")
    if any((folder / "memories").glob("*.md")):
        found.append(f"memories in {folder / 'memories'}: read in place, not copied")
    return found
