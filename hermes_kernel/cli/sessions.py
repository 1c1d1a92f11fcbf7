"""``hermes-kernel sessions``: the conversations that are kept, the latest first, and all of them in the database."""

from __future__ import annotations

import argparse
import dataclasses
import json
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from hermes_kernel.cli.trouble import Misuse
from hermes_kernel.core.text import brief
from hermes_kernel.settings import Settings
from hermes_kernel.view import clean

if TYPE_CHECKING:
    from hermes_kernel.world.store import SessionRow


def sessions(options: argparse.Namespace) -> int:
    """Print one line for each session.

    Raises:
        Misuse: the number is below 1.
        StoreError: the store cannot be read.
    """
    from hermes_kernel.world.store import Store, StoreError

    if options.n < 1:
        raise Misuse("-n must be at least 1")
    store = Store(Settings.load().home)
    with suppress(StoreError):  # a home that cannot be written can be listed
        store.fold()
    try:
        rows = store.sessions(options.n)
    finally:
        store.close()
    if options.json:
        print(json.dumps([dataclasses.asdict(row) for row in rows], ensure_ascii=False, indent=2))
    else:
        print("\n".join(map(_line, rows)) or "There are no sessions yet.")
    return 0


def _line(row: SessionRow) -> str:
    when = datetime.fromtimestamp(row.active).astimezone().strftime("%Y-%m-%d %H:%M")
    calls = f"{row.calls} call{'' if row.calls == 1 else 's'}"
    parts = (row.id, when, row.outcome or "open", calls, brief(clean(row.title), 60))
    return "  ".join(part for part in parts if part)
