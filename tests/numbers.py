"""Numbers that somebody gives a command of ours."""

from __future__ import annotations

import argparse


def some(text: str) -> int:
    """One or more, for what cannot be done with none."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of 1 or more")
    return int(text)
