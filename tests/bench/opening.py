"""What a fresh process pays: ``python -m tests.bench.opening KIND PLACE SESSION`` prints one JSON line of milliseconds and
megabytes. The files are in the machine's cache, as they are for whoever worked a minute ago.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from tests.bench.figures import timed

WORDS = "forecast revenue"


def ours(place: Path, session: str) -> dict[str, Callable[[], object]]:
    def load() -> None:
        import hermes_kernel.world.store  # noqa: F401

    def store() -> object:
        from hermes_kernel.world.store import Store

        return Store(place)

    return {
        "import": load,
        "list of sessions": lambda: store().sessions(20),  # type: ignore[attr-defined]
        "one session": lambda: store().recall(session),  # type: ignore[attr-defined]
        "first search": lambda: store().search(WORDS),  # type: ignore[attr-defined]
        "second search": lambda: store().search(f"{WORDS} growth"),  # type: ignore[attr-defined]
    }


def sqlite(place: Path, session: str) -> dict[str, Callable[[], object]]:
    def load() -> None:
        import sqlite3  # noqa: F401

    def all_of(question: str, *given: object) -> object:
        import sqlite3

        return sqlite3.connect(place).execute(question, given).fetchall()

    best = (
        "SELECT m.session, snippet(words, 0, '[', ']', '…', 16) FROM words JOIN messages m ON m.id = words.rowid "
        "WHERE words MATCH ? ORDER BY rank LIMIT 10"
    )
    return {
        "import": load,
        "list of sessions": lambda: all_of(
            "SELECT session, max(at) FROM messages GROUP BY session ORDER BY 2 DESC LIMIT 20"
        ),
        "one session": lambda: all_of("SELECT * FROM messages WHERE session = ? ORDER BY n", session),
        "first search": lambda: all_of(best, WORDS),
        "second search": lambda: all_of(best, f"{WORDS} growth"),
    }


KINDS = {"ours": ours, "sqlite": sqlite}


def main(kind: str, place: Path, session: str) -> dict[str, float]:
    figures = {what: timed(act) * 1e3 for what, act in KINDS[kind](place, session).items()}
    return figures | {"peak memory": _peak()}


def _peak() -> float:
    """Megabytes at most, of this program alone: what `resource` says counts the parent it was forked from."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])), flush=True)
