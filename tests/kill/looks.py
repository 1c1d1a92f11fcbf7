"""A process that is killed in the middle of a look, as its children have it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import duckdb  # noqa: F401 - the nursery imports it once for all children
import openai  # noqa: F401

from tests.contracts.looks import LONG, Bench


def child(home: str, url: str, prompt: str) -> None:
    """One turn, and whatever is looked at behind it."""
    at = Bench(Path(home), url, nudge_every_turns=1)
    asyncio.run(at.ask(prompt))
    at.reflector.wait(LONG)
    at.close()
