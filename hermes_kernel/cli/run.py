"""``hermes-kernel run``: a notebook executed from top to bottom, with values of one's own, and from a recording if that
is wished."""

from __future__ import annotations

import argparse

from hermes_kernel.cli.opened import Commands, command
from hermes_kernel.world.recording.beside import BESIDE


def add_run(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    made = command(commands, "run", "execute a notebook from top to bottom")
    made.add_argument("notebook", metavar="NOTEBOOK", nargs="?", help="the .ipynb file; it keeps the outputs")
    made.add_argument("-o", "--output", metavar="OUT", help="write the executed notebook here instead")
    made.add_argument(
        "-p", "--parameter", metavar="NAME=VALUE", action="append", default=[], dest="parameters",
        help="a value in place of the one in the cell tagged `parameters`: a Python literal, or else text; "
        "may be said again",
    )  # fmt: skip
    made.add_argument(
        "--replay", metavar="FILE", nargs="?", const=BESIDE,
        help="answer from a recording, without a network or a key; without FILE: NAME.cassette.jsonl beside NOTEBOOK",
    )  # fmt: skip
    made.add_argument(
        "--record", metavar="FILE", nargs="?", const=BESIDE,
        help="record what models say; the same FILE as with --replay: ask only what is not in it",
    )  # fmt: skip
    made.add_argument("--kernel", metavar="K", help="a kernel's name instead of the notebook's own")
    made.set_defaults(do=run)


def run(options: argparse.Namespace) -> int:
    """Execute it; see `running.execute` for what is raised."""
    from hermes_kernel.cli.running import execute

    return execute(options)
