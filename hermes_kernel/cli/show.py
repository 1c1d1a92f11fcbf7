"""``hermes-kernel show``: a conversation to read, or the messages around a place in it."""

from __future__ import annotations

import argparse
import dataclasses
import json

from hermes_kernel.cli.opened import Commands, command, opened


def add_show(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its options."""
    made = command(commands, "show", "read a conversation, or around a place in it")
    made.add_argument("id", metavar="ID", help="a session's id, the beginning of it, its title, or `last`")
    made.add_argument("place", type=int, nargs="?", metavar="PLACE", help="only the messages around this place")
    made.add_argument("--json", action="store_true", help="one JSON object instead of text")
    made.set_defaults(do=show)


def show(options: argparse.Namespace) -> int:
    """Print the messages.

    Raises:
        Failure: there is no such session.
        StoreError: the store cannot be read.
    """
    from hermes_kernel.looking import conversation
    from hermes_kernel.view.reading import told_text

    with opened() as store:
        told = conversation(store, options.id)
    around = options.place is not None
    if around:
        told = told.near(options.place)
    if options.json:
        print(json.dumps(dataclasses.asdict(told), ensure_ascii=False, indent=2))
    else:
        print(told_text(told, folded=not around))
    return 0
