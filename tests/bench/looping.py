"""The loop itself: what an iteration, a chunk and a batch cost, and what a process holds and pays before it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

from tests.bench.contenders import CONTENDERS, worked
from tests.bench.rows import FLOOR, OURS, Row, Values, medians
from tests.bench.serving import serving

SIZES = (50, 200, 1_000)
CHUNKS = 20_000
WHOLE = 50
"""Iterations from which on it is the whole that is measured, and not only whether it can be."""

SECONDS = 40.0
"""Of CPU, after which a loop is not waited for."""

ENDED = 3_600.0
"""Seconds of the clock, after which a process is ended: on a busy machine a second of CPU may take many."""

SYNC_ONLY = "smolagents"
Figures = dict[str, Any]


@dataclass
class Loops:
    """What was told by the processes that played the long loop: CPU seconds at each call of a tool, by contender."""

    sizes: Sequence[int] = SIZES
    seconds: float = SECONDS
    chunks: int = CHUNKS
    told: dict[str, list[Figures]] = field(default_factory=dict)

    def play(self, rounds: int, contenders: Sequence[str], url: str) -> None:
        """The longest loop, once a round in turn; who did not come to its end plays the one before it from then on."""
        for _ in range(rounds):
            for who in contenders:
                before = self.told.setdefault(who, [])
                if before and "cannot" in before[-1]:
                    continue
                slow = any(len(each["marks"]) < self.sizes[-1] for each in before)
                number = self.sizes[-2] if slow else self.sizes[-1]
                before.append(worked(who, "loop sync", url, number, (self.seconds, ENDED)))

    def cpu(self, who: str, size: int) -> float | None:
        """Milliseconds of CPU for an iteration of the first `size`."""
        marks = [each["marks"] for each in self.told.get(who, ()) if len(each.get("marks", ())) >= size]
        return median(each[size - 1] for each in marks) / size * 1e3 if marks else None

    def figure(self, who: str, read: Callable[[Figures], float]) -> float | None:
        found = [read(each) for each in self.told[who] if each.get("marks")]
        return median(found) if found else None

    def why(self, who: str, size: int) -> str:
        """What kept it from so many iterations, if anything did."""
        if self.cpu(who, size) is not None:
            return ""
        said = [each["cannot"] for each in self.told[who] if "cannot" in each]
        never = f"did not finish in {self.seconds:.0f} s of CPU"
        return f"{who}: {said[0] if said else never}"

    def curves(self) -> dict[str, list[tuple[int, float]]]:
        """Of everybody who came far enough for one."""
        return {who: curve for who in self.told if (curve := self.curve(who))}

    def curve(self, who: str) -> list[tuple[int, float]]:
        """Iterations, and the milliseconds of CPU that one of them costs there: of the newest quarter of them."""
        marks = max((each.get("marks", []) for each in self.told[who]), key=len)
        points, at = [], 10
        while at <= len(marks):
            back = max(at // 4, 5)
            points.append((at, (marks[at - 1] - marks[at - 1 - back]) / back * 1e3 if at > back else 0.0))
            at = max(at + 1, round(at * 1.35))
        return points


def rows(rounds: int, contenders: Sequence[str], loops: Loops | None = None) -> Iterator[Row]:
    """All of it, from one server."""
    who = [each for each in contenders if each in CONTENDERS]
    loops = loops if loops is not None else Loops()
    with serving() as url:
        yield from _loops(rounds, who, loops, url)
        if max(loops.sizes) >= WHOLE:
            yield _chunks(rounds, who, loops.chunks, url)
            yield from _batches(rounds, who, url)


def _loops(rounds: int, who: Sequence[str], loops: Loops, url: str) -> Iterator[Row]:
    loops.play(rounds, who, url)
    first = loops.cpu(OURS, loops.sizes[0])
    bars: list[float | None] = [4.0, first and round(1.5 * first, 2)]
    for size, bar in zip(loops.sizes, [*bars, None], strict=False):
        values = {each: loops.cpu(each, size) for each in who}
        note = "; ".join(filter(None, (loops.why(each, size) for each in who)))
        yield Row("the loop", f"CPU per iteration, {size:,} iterations", "ms", values, bar, note)
    yield from _process(who, loops)


def _process(who: Sequence[str], loops: Loops) -> Iterator[Row]:
    """What the same processes said of themselves."""

    def row(what: str, unit: str, read: Callable[[Figures], float], bar: float | None = None) -> Row:
        asked = [each for each in who if loops.figure(each, lambda _: 0.0) is not None]
        return Row("the process", what, unit, {each: loops.figure(each, read) for each in asked}, bar)

    yield row("import, CPU", "s", lambda told: told["import"])
    yield row("import and the first answer, CPU", "s", lambda told: told["import"] + told.get("warm", 0.0))
    yield row("memory after import", "MB", lambda told: told["imported"])


def _chunks(rounds: int, who: Sequence[str], chunks: int, url: str) -> Row:
    numbers = {each: min(chunks, CONTENDERS[each].chunks) for each in who}

    def sample(each: str) -> float | None:
        cpu: float | None = worked(each, "chunks sync", url, numbers[each]).get("cpu")
        return None if cpu is None else cpu / numbers[each] * 1e6

    few = [
        f"{each} {number:,}: there it costs the more the more there are"
        for each, number in numbers.items()
        if number < chunks
    ]
    note = "; ".join([f"an answer of {chunks:,} chunks", *few])
    return Row("the loop", "CPU per streamed chunk", "µs", medians(rounds, who, sample), 30.0, note)


def _batches(rounds: int, who: Sequence[str], url: str) -> Iterator[Row]:
    for kind, job in (("async", "batch"), ("sync", "batch sync")):
        asked = [each for each in who if each != FLOOR and not (kind == "async" and each == SYNC_ONLY)]
        values: Values = medians(rounds, asked, partial(_wall, job=job, url=url))
        yield Row("the loop", f"8 {kind} tools of 0.2 s in one reply", "s", values, 0.25)


def _wall(each: str, job: str, url: str) -> float | None:
    wall: float | None = worked(each, job, url, 8).get("wall")
    return wall
