"""One line of the table of `python -m tests.bench`, and how far what is measured is from what it is held to.

Each module of the bench that has a part in the table offers ``rows(rounds, contenders)``, which measures as it goes: each
sample in a fresh process, the contenders in turn, so that whatever disturbs the machine disturbs all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

OURS, BARE, FLOOR = "ours", "bare openai loop", "httpx + json"

Values = dict[str, float | None]


class Row(NamedTuple):
    """Medians of one run, side by side."""

    group: str
    """`the loop`, `stops`, `starting`, `the store`, `learning`, `panels`…"""
    what: str
    """What was measured: `CPU per iteration, 50 iterations`."""
    unit: str
    """`ms`, `µs`, `s`, `MB`, `×`: of every value, and of the bar."""
    values: Values
    """By contender, ours first. None: it cannot, and `note` says why."""
    bar: float | str | None = None
    """What ours must not be above, in `unit`; or words, where the bar is none of a number."""
    note: str = ""
    """A footnote, as Markdown."""

    @property
    def met(self) -> bool | None:
        """Whether ours is within its bar; None where no number says."""
        ours = self.values.get(OURS)
        return None if ours is None or not isinstance(self.bar, float | int) else ours <= self.bar


Rows = Callable[[int, Sequence[str]], Iterator[Row]]


def medians(rounds: int, contenders: Sequence[str], measure: Callable[[str], float | None]) -> Values:
    """Each contender measured once a round, in turn; who could not in one round is asked no more."""
    found: dict[str, list[float]] = {contender: [] for contender in contenders}
    failed = set[str]()
    for _ in range(rounds):
        for contender in contenders:
            if contender in failed:
                continue
            sample = measure(contender)
            if sample is None:
                failed.add(contender)
            else:
                found[contender].append(sample)
    return {name: None if name in failed or not samples else median(samples) for name, samples in found.items()}
