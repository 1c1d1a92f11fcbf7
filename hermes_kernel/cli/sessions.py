"""``hermes-kernel sessions``: the conversations that are kept, the latest first; and below it, what becomes of them."""

from __future__ import annotations

import argparse
import dataclasses
import json
from typing import TYPE_CHECKING, Any

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.cli.pruning import add_pruning
from hermes_kernel.cli.trouble import Misuse
from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.text import brief
from hermes_kernel.view import clean
from hermes_kernel.view.kept.finds import short

if TYPE_CHECKING:
    from hermes_kernel.world.store import SessionRow, Store


def add_sessions(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command, its options, and the commands below it."""
    made = command(commands, "sessions", "list the conversations that are kept")
    made.add_argument("-n", type=int, default=20, metavar="N", help="at most so many, the latest first (default: 20)")
    made.add_argument("--all", action="store_true", help="also what was compressed since, subagents and rows of maps")
    made.add_argument(
        "--tree", nargs="?", const="last", metavar="ID", help="the relatives of one conversation (default: the last)"
    )
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
    with opened() as store:
        if options.tree is not None:
            _tree(store, options)
        elif options.all:
            _everything(store, options)
        else:
            _conversations(store, options)
    return 0


def _tree(store: Store, options: argparse.Namespace) -> None:
    from hermes_kernel.looking import lineage
    from hermes_kernel.view.kept.descent import tree_text

    found = lineage(store, options.tree)
    if options.json:
        _json([dataclasses.asdict(each) for each in found.known])
    else:
        print(tree_text(found, "hermes-kernel"))


def _everything(store: Store, options: argparse.Namespace) -> None:
    from hermes_kernel.looking import how_to_list, listed, none

    if options.json:
        _json([dataclasses.asdict(row) for row in store.sessions(options.n)])
        return
    found = listed(store, options.n)
    lines = [_line(each.last, clean(each.last.kind), each.calls, each.title) for each in found]
    note = how_to_list(found, 'hermes-kernel sql "{}"')
    print("\n".join([*lines, *([note] if note else [])]) or none(store, "--all"))


def _conversations(store: Store, options: argparse.Namespace) -> None:
    from hermes_kernel.looking import conversations, none

    rows = conversations(store, options.n)
    if options.json:
        _json([dataclasses.asdict(row) for row in rows])
    else:
        print("\n".join(_line(row, "", row.calls, row.title) for row in rows) or none(store, "--all"))


def _json(values: list[dict[str, Any]]) -> None:
    print(json.dumps(values, ensure_ascii=False, indent=2))


def _line(row: SessionRow, kind: str, calls: int, title: str) -> str:
    about = (minute(row.active), row.outcome or "open", counted(calls, "call"))
    parts = (short(row.id), kind, *about, brief(clean(title), 60))
    return "  ".join(part for part in parts if part)
