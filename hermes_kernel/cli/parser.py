"""Arguments, and what is likely meant where they are wrong."""

from __future__ import annotations

import argparse
import difflib
import re
from typing import NoReturn

CHOICE = re.compile(r"invalid choice: '(?P<said>[^']*)' \(choose from (?P<known>.*)\)")
DASH = re.compile(r"unrecognized arguments: -\w")


class Parser(argparse.ArgumentParser):
    """A parser whose errors end in a hint."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and leave with 2."""
        super().error(f"{message}{hint(message)}")


def hint(message: str) -> str:
    """What a person may have meant, or nothing."""
    if (choice := CHOICE.search(message)) and (
        close := difflib.get_close_matches(choice["said"], re.findall(r"[\w-]+", choice["known"]), 1)
    ):
        return f". Did you mean {close[0]}?"
    return ". Words may begin with - after a --" if DASH.search(message) else ""
