"""``hermes-kernel usage``: what models have used, of every kind of session, nothing twice."""

from __future__ import annotations

import argparse
import json

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.cli.trouble import Misuse

BY = ("kind", "model", "day", "session")
MOST = 99_999  # days


def add_usage(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its options."""
    made = command(commands, "usage", "add up the tokens of everything: conversations, subagents, maps, slow loops")
    made.add_argument(
        "--days", type=int, metavar="N", help="of the last N days, today (in UTC) included (default: all)"
    )
    made.add_argument("--by", choices=BY, default="kind", help="what to add up by (default: kind of session)")
    made.add_argument("what", nargs="?", choices=BY, help="the same as --by, as the notebook has it")
    made.add_argument("--json", action="store_true", help="a JSON object instead of a table")
    made.set_defaults(do=usage)


def usage(options: argparse.Namespace) -> int:
    """Print a line for each, and the total.

    Raises:
        Misuse: the number of days is below 1, or above what a calendar holds.
        StoreError: the store cannot be read.
    """
    from hermes_kernel.looking import spending
    from hermes_kernel.view.columns import aligned

    if options.days is not None and not 1 <= options.days <= MOST:
        raise Misuse(f"--days must be from 1 to {MOST:,}")
    with opened() as store:
        found = spending(store, options.what or options.by, options.days)
    if options.json:
        print(json.dumps(found.plain(), ensure_ascii=False, indent=2))
        return 0
    columns, rows = found.table()
    print(
        "\n".join([*aligned(columns, rows), *filter(None, [found.note])])
        if rows
        else "No model has been asked anything."
    )
    return 0
