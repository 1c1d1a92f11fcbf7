"""Writers that fold as they go, killed at random moments on one home, and every fact counted.

``python -m tests.kill.journals 200 [SEED]`` kills two hundred of them.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import duckdb

from hermes_kernel.core.events import Opened, Titled
from hermes_kernel.world.store import Store
from tests.kill.nursery import Nursery, nursery

LONGEST = 0.25  # seconds that a writer lives


def child(home: str, acks: str, session: str) -> None:
    """Append, acknowledge, fold now and then, until killed."""
    log, n = Store(Path(home)), 0
    handle = os.open(acks, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    log.append(session, Opened(session))
    while True:
        log.append(session, Titled(str(n)))
        os.write(handle, b"%d\n" % n)
        n += 1
        if n % 16 == 0:
            threading.Thread(target=log.fold).start()


@dataclass(frozen=True, slots=True)
class Toll:
    """What became of the facts of all writers."""

    acknowledged: int = 0
    found: int = 0
    damaged: int = 0
    lost: list[str] = field(default_factory=list)


def kill(home: Path, children: Nursery, times: int, first: int) -> Toll:
    """Kill one writer after the other, each at its moment, each with the remains of the others about it."""
    told = {}
    for seed in range(first, first + times):
        acks = home.parent / f"acks-{seed}"
        moment = partial(time.sleep, random.Random(seed).uniform(0, LONGEST))
        children.run({"home": str(home), "acks": str(acks), "session": f"s{seed}"}, moment)
        told[f"s{seed}"] = acks.read_bytes().count(b"\n") if acks.exists() else 0
    return count(home, told)


def count(home: Path, told: dict[str, int]) -> Toll:
    """Read everything back twice: with the tails in the journals, and all folded."""
    lost = [session for session, facts in told.items() if facts and not _stands(home, session, facts)]
    folded = Store(home).fold()
    lost += [session for session, facts in told.items() if facts and not _stands(home, session, facts)]
    with duckdb.connect(str(home / "sessions.duckdb"), read_only=True) as connection:
        ((found, unique),) = connection.execute("SELECT count(*), count(DISTINCT uid) FROM facts").fetchall()
    lost += [f"{found - unique} doubled"] if found != unique else []
    return Toll(sum(told.values()), found, folded.damaged, lost)


def _stands(home: Path, session: str, acknowledged: int) -> bool:
    """Every acknowledged fact in order, each once, and at most the one after them."""
    titles = [fact.title for fact in Store(home).recall(session) if isinstance(fact, Titled)]
    assert max(Counter(titles).values(), default=1) == 1
    return titles == [str(n) for n in range(len(titles))] and acknowledged <= len(titles) <= acknowledged + 1


def main() -> None:
    """As many as are asked for, from a seed."""
    times, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as folder, nursery("tests.kill.journals:child") as children:
        toll = kill(Path(folder, "home"), children, times, first)
        left = sorted(path.name for path in Path(folder, "home").rglob("*") if path.is_file())
    print(f"{times} writers killed: {toll}; left: {left}")
    assert not toll.lost


if __name__ == "__main__":
    main()
