"""``hermes-kernel loops``: the eight loops, what each wrote, and what has read it since."""

from __future__ import annotations

import argparse
import dataclasses
import json

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.settings import Settings


def add_loops(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its option."""
    made = command(commands, "loops", "see the eight loops: when each runs, what it wrote and what has read it since")
    made.add_argument("--json", action="store_true", help="a JSON list instead of text")
    made.set_defaults(do=loops)


def loops(options: argparse.Namespace) -> int:
    """Print a line for each loop.

    Raises:
        StoreError: the store cannot be read.
    """
    from hermes_kernel.core.learning.loops import COLUMNS, cells
    from hermes_kernel.learning import loops
    from hermes_kernel.view.columns import aligned

    with opened() as store:
        rows = loops.loops(store, Settings.load())
    if options.json:
        print(json.dumps([dataclasses.asdict(row) for row in rows], ensure_ascii=False, indent=2))
    else:
        print("\n".join(aligned(COLUMNS, map(cells, rows))))
    return 0
