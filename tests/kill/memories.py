"""Two processes that remember and a person with an editor, on one home, and processes that are killed among them.

``python -m tests.kill.memories 100 [SEED]`` kills a hundred.
"""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from hermes_kernel.core.learning.memory import SEPARATOR
from hermes_kernel.core.learnt import Remembered
from hermes_kernel.world.store import Store
from tests.contracts.remembering import Kept, kept
from tests.kill.nursery import ROOT, Nursery, nursery

CHILD = "tests.kill.memories:child"
CHARS = 100_000  # everything fits
LONGEST = 0.3  # seconds that one lives


def opened(home: Path) -> Kept:
    """What is remembered there, with a store of its own process."""
    return kept(home, Store(home), chars=CHARS)


def child(home: str, acks: str, who: str, times: int) -> None:
    """Remember so many things, and acknowledge each once it is."""
    some = opened(Path(home))
    with Path(acks).open("a", encoding="utf-8") as file:
        for n in range(times):
            some.add(f"{who} {n}")
            print(f"{who} {n}", file=file, flush=True)


def beside(home: Path, acks: Path, who: str, times: int) -> subprocess.Popen[bytes]:
    """`child` in a process of its own."""
    code = f"from tests.kill.memories import child; child({str(home)!r}, {str(acks)!r}, {who!r}, {times})"
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)


def write_by_hand(path: Path, n: int) -> str:
    """One more entry, appended as a shell does."""
    entry = f"hand {n}"
    with path.open("ab") as file:
        file.write(f"{SEPARATOR}{entry}".encode())
    return entry


def kill(home: Path, children: Nursery, times: int, seed: int) -> set[str]:
    """Kill one after the other at its moment, while another works and a person writes. What was acknowledged."""
    chance = random.Random(seed)
    steady = beside(home, home.parent / "acks-steady", "steady", times)
    by_hand = set()
    for n in range(times):
        moment = partial(time.sleep, chance.uniform(0, LONGEST))
        task = {"home": str(home), "acks": str(home.parent / f"acks-{n}"), "who": f"killed {n}", "times": 1_000}
        children.run(task, moment)
        if (path := home / "memories" / "MEMORY.md").exists():
            by_hand.add(write_by_hand(path, n))
    assert not steady.wait()
    told = (path.read_text(encoding="utf-8").splitlines() for path in home.parent.glob("acks-*"))
    return by_hand.union(*told)


def explained(some: Kept) -> list[Remembered]:
    """The facts, each of which begins where the one before it ended, the last at what is on disk."""
    some.add("the last")
    facts = some.facts()
    for one, next_one in itertools.pairwise(facts):
        assert one.after == next_one.before
    assert facts[-1].after == some.memory.entries("memory")
    return facts


def main() -> None:
    """As many as are asked for, from a seed."""
    times, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as folder, nursery(CHILD) as children:
        home = Path(folder, "home")
        told = kill(home, children, times, seed)
        some = opened(home)
        facts = explained(some)
        lost = told - set(some.memory.entries("memory"))
        left = sorted(path.name for path in (home / "memories").iterdir())
    print(f"{times} killed: {len(told)} acknowledged, {len(facts)} facts, lost: {sorted(lost)}, left: {left}")
    assert not lost


if __name__ == "__main__":
    main()
