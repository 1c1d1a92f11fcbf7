"""The run of a job that this process is a part of."""

from __future__ import annotations

import os

NAME = "HERMES_RUN"
LONGEST = 100


def this_run() -> str:
    """Its id, given by whoever started it; ``""`` where a person works."""
    return os.environ.get(NAME, "")[:LONGEST]
