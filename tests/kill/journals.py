"""Writers that fold as they go, killed at random moments on one home, and every fact counted.

``python -m tests.kill.journals 200 [SEED]`` kills two hundred of them.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from tests.kill.acks import acknowledged
from tests.kill.nursery import Nursery, nursery
from tests.kill.toll import Toll, count, possible

LONGEST = 0.25  # seconds that a writer lives
CHILD = "tests.kill.toll:child"


def kill(home: Path, children: Nursery, times: int, first: int) -> Toll:
    """Kill one writer after the other, each at its moment, each with the remains of the others about it."""
    told = {}
    for seed in range(first, first + times):
        acks = home.parent / f"acks-{seed}"
        moment = partial(time.sleep, random.Random(seed).uniform(0, LONGEST))
        children.run({"home": str(home), "acks": str(acks), "session": f"s{seed:06}"}, moment)
        told[f"s{seed:06}"] = possible(acknowledged(acks))
    return count(home, told)


def main() -> None:
    """As many as are asked for, from a seed."""
    times, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as folder, nursery(CHILD) as children:
        toll = kill(Path(folder, "home"), children, times, first)
        left = sorted(path.name for path in Path(folder, "home").rglob("*") if path.is_file())
    print(f"{times} writers killed: {toll}; left: {left}")
    assert not toll.wrong


if __name__ == "__main__":
    main()
