"""Where the recording of a notebook lies unless somebody says otherwise: beside it, under its name."""

from __future__ import annotations

from pathlib import PurePath
from typing import TypeVar

ENDING = ".cassette.jsonl"
CASSETTES = ("record", "replay")  # the settings that name one
BESIDE = ""  # one that nobody named
P = TypeVar("P", bound=PurePath)


def beside(notebook: P) -> P:
    """``analysis.ipynb`` has ``analysis.cassette.jsonl``."""
    return notebook.with_name(notebook.stem + ENDING)
