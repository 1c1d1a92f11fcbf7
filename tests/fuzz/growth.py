"""The worst of a target: each of its words and seeds, again and again, and how the time grows. Twice as much that takes
four times as long is what a server, a file or a model can stop a notebook with."""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import log
from typing import NamedTuple

from tests.fuzz.mutating import HARD
from tests.fuzz.target import Target

SMALL, TIMES = 6_000, 6  # bytes, and how many times as much is tried then
QUICK = 0.2  # seconds for the larger one; what takes less is not looked at
BEHIND = b"\0!"  # what a pattern that goes over all of it stumbles over at its end


class Grown(NamedTuple):
    """``unit``, repeated: seconds for the small and for the large, and by which power the time grows."""

    unit: bytes
    small: float
    large: float

    @property
    def power(self) -> float:
        """1 for what is linear, 2 for the square."""
        return log(max(self.large, 1e-9) / max(self.small, 1e-9), TIMES)


def grown(target: Target) -> Iterator[Grown]:
    """Each unit whose time grows by more than it does."""
    units = dict.fromkeys([*target.words, *target.seeds, *HARD, b" ", b"\n", b"a", b"a ", b"a\n"])
    for unit in filter(None, units):
        for behind in (b"", BEHIND):
            small, large = (unit * (size // len(unit) + 1) + behind for size in (SMALL, SMALL * TIMES))
            found = Grown(unit + behind, seconds(target, small), seconds(target, large))
            if found.large > QUICK and found.power > 1.6:
                yield found
                break


def seconds(target: Target, data: bytes) -> float:
    before = time.process_time()
    target.check(data)
    return time.process_time() - before
