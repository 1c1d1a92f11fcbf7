"""``hermes-kernel export``: a session as a file, for people (Markdown), to run again (notebook) or to keep (JSONL)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.cli.trouble import Failure, Misuse

if TYPE_CHECKING:
    from hermes_kernel.world.store.records import Record

STDOUT = "-"


def add_export(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its options."""
    made = command(commands, "export", "write a session to a file: to read, to run again, or to keep")
    made.add_argument("session", metavar="SESSION", help="its id, the beginning of it, its title, or `last`")
    made.add_argument("-o", "--output", metavar="FILE", default=STDOUT, help="where to; `-`, the default, is stdout")
    made.add_argument("--format", choices=("md", "jsonl", "ipynb"), help="(default: as FILE is called, else Markdown)")
    made.add_argument("--lineage", action="store_true", help="with the sessions it came from and those made from it")
    made.add_argument(
        "--kernel", choices=("python3", "hermes"), default="python3", help="for a notebook (default: python3)"
    )
    made.add_argument("--force", action="store_true", help="write over FILE if it is there")
    made.set_defaults(do=export)


def export(options: argparse.Namespace) -> int:
    """Write the session.

    Raises:
        Misuse: no format can be told, or the file is there already.
        Failure: there is no such session, or the file cannot be written.
        StoreError: the store cannot be read.
    """
    from hermes_kernel.export import export as exported
    from hermes_kernel.export import save, save_over

    form = _format(options)
    text = exported(_records(options.session, lineage=options.lineage), form, options.kernel)
    if options.output == STDOUT:
        sys.stdout.write(text)
        return 0
    target = Path(options.output)
    try:
        (save_over if options.force else save)(text, target)
    except FileExistsError as error:
        raise Misuse(str(error)) from None
    except OSError as error:
        raise Failure(f"{target} was not written: {error.strerror or error}") from None
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
    with opened() as store:
        session = store.find(named)
        sessions = store.family(session) if lineage else {session}
        return [record for each in sorted(sessions) for record in store.records(each)]
