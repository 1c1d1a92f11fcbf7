"""``hermes-kernel show``: a conversation to read, or the messages around a place in it."""

from __future__ import annotations

import argparse
import dataclasses
import json

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.cli.trouble import Failure

PART = "only the messages around this place; `summary`: what it was compressed to; `all`: since before it was"


def add_show(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its options."""
    made = command(commands, "show", "read a conversation, or around a place in it")
    made.add_argument("id", metavar="ID", help="a session's id, the beginning of it, its title, or `last`")
    made.add_argument("part", nargs="?", type=_part, metavar="PART", help=PART)
    made.add_argument("--json", action="store_true", help="one JSON object instead of text")
    made.set_defaults(do=show)


def show(options: argparse.Namespace) -> int:
    """Print the messages.

    Raises:
        Failure: there is no such session, or no summary in it.
        StoreError: the store cannot be read.
    """
    from hermes_kernel.errors import HermesError
    from hermes_kernel.looking import conversation, summarised, whole
    from hermes_kernel.view.kept.reading import told_text

    around = isinstance(options.part, int)
    read = {"summary": summarised, "all": whole}.get(options.part, conversation)
    with opened() as store:
        try:
            told = read(store, options.id)
        except HermesError as error:
            raise Failure(str(error)) from None
    if around:
        told = told.near(options.part)
    if options.json:
        print(json.dumps(dataclasses.asdict(told), ensure_ascii=False, indent=2))
    else:
        print(told_text(told, folded=not around))
    return 0


def _part(text: str) -> int | str:
    if text in ("summary", "all"):
        return text
    if text.isdecimal() and len(text) < 10:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no place in it, nor `summary` or `all`")
