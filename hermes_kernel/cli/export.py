"""``hermes-kernel export``: a session as a file, for people (Markdown), to run again (notebook) or to keep (JSONL)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.cli.trouble import Misuse
from hermes_kernel.settings import Settings

if TYPE_CHECKING:
    from hermes_kernel.world.store.records import Record

STDOUT = "-"


def add_export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command's own options."""
    about = "write a session to a file: to read, to run again, or to keep"
    command = commands.add_parser("export", help=about, description=f"{about[0].upper()}{about[1:]}.")
    command.add_argument("session", metavar="SESSION", help="its id, the beginning of it, its title, or `last`")
    command.add_argument("-o", "--output", metavar="FILE", default=STDOUT, help="where to; `-`, the default, is stdout")
    command.add_argument(
        "--format", choices=("md", "jsonl", "ipynb"), help="(default: as FILE is called, else Markdown)"
    )
    command.add_argument("--lineage", action="store_true", help="with the sessions it came from and those made from it")
    command.add_argument(
        "--kernel", choices=("python3", "hermes"), default="python3", help="for a notebook (default: python3)"
    )
    command.add_argument("--force", action="store_true", help="write over FILE if it is there")
    command.set_defaults(do=export)


def export(options: argparse.Namespace) -> int:
    """Write the session.

    Raises:
        Misuse: there is no such session, no format can be told, or the file is there already.
        StoreError: the store cannot be read.
        OSError: the file cannot be written.
    """
    from hermes_kernel.export import export as told
    from hermes_kernel.export import save

    form = _format(options)
    target = Path(options.output)
    if options.output != STDOUT and target.exists() and not options.force:
        raise Misuse(f"{target} is there already: give --force to write over it, or another name")
    text = told(_records(options.session, lineage=options.lineage), form, options.kernel)
    if options.output == STDOUT:
        sys.stdout.write(text)
        return 0
    save(text, target, force=options.force)
    print(f"{target}: written", file=sys.stderr)
    return 0


def _format(options: argparse.Namespace) -> str:
    from hermes_kernel.export import format_of

    if options.format:
        return str(options.format)
    if options.output == STDOUT:
        return "md"
    if form := format_of(options.output):
        return form
    raise Misuse(f"--format is needed for {options.output}: md, jsonl or ipynb (or call it .md, .jsonl or .ipynb)")


def _records(named: str, *, lineage: bool) -> list[Record]:
    from hermes_kernel.world.store import NoSession
    from hermes_kernel.world.store.families import family
    from hermes_kernel.world.store.opening import open_store
    from hermes_kernel.world.store.reading import records

    settings = Settings.load()
    store = open_store(settings.home, settings.store_url)
    try:
        session = store.find(named)
        sessions = family(store.home, session) if lineage else {session}
        return [record for each in sorted(sessions) for record in records(store.home, each)]
    except NoSession as error:
        raise Misuse(str(error)) from None
    finally:
        store.close()
