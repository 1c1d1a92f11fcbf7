"""``hermes-kernel sql``: one SELECT over what is kept, answered as a table, as JSON or as CSV."""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from typing import Any

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.cli.trouble import Misuse


def add_sql(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its options."""
    made = command(commands, "sql", "ask the database: sessions, messages, tool_calls, calls and facts")
    made.add_argument("statement", metavar='"SELECT …"', help="one statement that reads; nothing can be written by it")
    made.add_argument("-n", type=int, default=1000, metavar="N", help="at most so many rows (default: 1000)")
    form = made.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="a JSON list of objects instead of a table")
    form.add_argument("--csv", action="store_true", help="comma-separated values instead of a table")
    made.set_defaults(do=sql)


def sql(options: argparse.Namespace) -> int:
    """Print the rows; on stderr, whether there are more.

    Raises:
        Misuse: the number is below 1, or it is no SELECT.
        StoreError: the store cannot be read.
    """
    from hermes_kernel.looking import answer
    from hermes_kernel.view.columns import aligned

    if options.n < 1:
        raise Misuse("-n must be at least 1")
    with opened() as store:
        found = answer(store, options.statement, options.n)
    if options.json:
        rows = [dict(zip(found.columns, map(_finite, row), strict=True)) for row in found.rows]
        print(json.dumps(rows, ensure_ascii=False, indent=2, default=str))
    elif options.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([found.columns, *found.rows])
    else:
        print("\n".join(aligned(found.columns, found.shown())))
    if found.more:
        print(f"hermes-kernel: these are the first {len(found.rows):,} rows; -n N shows more", file=sys.stderr)
    return 0


def _finite(value: Any) -> Any:
    """JSON knows no infinity, and no number that is none."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case list() | tuple():
            return [_finite(each) for each in value]
        case dict():
            return {str(name): _finite(each) for name, each in value.items()}
    return value
