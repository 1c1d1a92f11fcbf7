"""``hermes-kernel title``: a name for a conversation."""

from __future__ import annotations

import argparse

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.cli.trouble import Misuse


def add_title(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    made = command(commands, "title", "name a conversation")
    made.add_argument("id", metavar="ID", help="a session's id, the beginning of it, its title, or `last`")
    made.add_argument("text", metavar="TEXT", nargs="+", help="its title from now on, in one line")
    made.set_defaults(do=title)


def title(options: argparse.Namespace) -> int:
    """Write the title into the conversation.

    Raises:
        Misuse: it is no title.
        Failure: there is no such session.
        StoreError: another process is in the session, or the store cannot be written.
    """
    from hermes_kernel.errors import HermesError
    from hermes_kernel.looking import entitle
    from hermes_kernel.settings import Settings

    with opened() as store:
        try:
            entitle(store, options.id, " ".join(options.text), Settings.load().secrets)
        except HermesError as error:
            raise Misuse(str(error)) from None
    return 0
