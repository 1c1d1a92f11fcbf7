"""``hermes-kernel sessions``: the conversations that are kept, the latest first; and below it, what becomes of them."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import TYPE_CHECKING

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.cli.pruning import add_pruning
from hermes_kernel.cli.trouble import Misuse
from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.text import brief
from hermes_kernel.view import clean
from hermes_kernel.view.finds import short

if TYPE_CHECKING:
    from hermes_kernel.world.store import SessionRow


def add_sessions(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command, its options, and the commands below it."""
    made = command(commands, "sessions", "list the conversations that are kept")
    made.add_argument("-n", type=int, default=20, metavar="N", help="at most so many, the latest first (default: 20)")
    made.add_argument("--all", action="store_true", help="also what was compressed since, subagents and rows of maps")
    made.add_argument("--json", action="store_true", help="a JSON list instead of text")
    made.set_defaults(do=sessions)
    add_pruning(made.add_subparsers(title="what becomes of them", metavar="COMMAND"))


def sessions(options: argparse.Namespace) -> int:
    """Print one line for each conversation, or for each session.

    Raises:
        Misuse: the number is below 1.
        StoreError: the store cannot be read.
    """
    if options.n < 1:
        raise Misuse("-n must be at least 1")
    from hermes_kernel.looking import conversations, none

    with opened() as store:
        rows = store.sessions(options.n) if options.all else conversations(store, options.n)
        empty = "" if rows else none(store, "--all")
    if options.json:
        print(json.dumps([dataclasses.asdict(row) for row in rows], ensure_ascii=False, indent=2))
    else:
        print("\n".join(_line(row, kind=options.all) for row in rows) or empty)
    return 0


def _line(row: SessionRow, *, kind: bool) -> str:
    told = (clean(row.kind),) if kind else ()
    about = (minute(row.active), row.outcome or "open", counted(row.calls, "call"))
    parts = (short(row.id), *told, *about, brief(clean(row.title), 60))
    return "  ".join(part for part in parts if part)
