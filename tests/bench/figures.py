"""Samples to figures, and figures to Markdown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

Question = TypeVar("Question")


def quantile(samples: Sequence[float], share: float) -> float:
    """The sample below which this share of them lies; of few, the last is the 99th percentile."""
    return sorted(samples)[min(len(samples) - 1, int(len(samples) * share))]


def milliseconds(samples: Sequence[float]) -> str:
    """Median and 99th percentile of seconds."""
    if not samples:
        return "–"
    return f"{quantile(samples, 0.5) * 1e3:.3g} / {quantile(samples, 0.99) * 1e3:.3g}"


def timed(act: Callable[[], object]) -> float:
    """Seconds that it takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


class Cost(NamedTuple):
    """Seconds of wall time, and of this process's processors: on a busy machine the second says more."""

    wall: float
    cpu: float


def sampled(
    act: Callable[[Question], object], questions: Sequence[Question], rounds: int, seconds: float
) -> list[Cost]:
    """What each question costs, in so many rounds or until so many seconds are gone, ten samples at the least."""
    costs: list[Cost] = []
    for question in questions * rounds:
        if sum(cost.wall for cost in costs) > seconds and len(costs) >= 10:
            break
        cpu = time.process_time()
        wall = timed(lambda question=question: act(question))  # type: ignore[misc]
        costs.append(Cost(wall, time.process_time() - cpu))
    return costs


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    lines = [tuple(heads)]
    lines += [("---",) * len(lines[0]), *(tuple(map(str, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
