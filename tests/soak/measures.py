"""What a kernel takes at one moment, and what is said of many such moments."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

PROBE = '''
def _probe():
    """What only the process itself knows, at rest: unreachable things gone, free memory given back."""
    import asyncio, collections, ctypes, gc, json, sys, threading
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    kinds = collections.Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())
    print(json.dumps({
        "tasks": len(asyncio.all_tasks()), "threads": sorted(each.name for each in threading.enumerate()),
        "kinds": dict(kinds.most_common(300)), "out": len(get_ipython().user_ns.get("_oh", ())),
        "modules": len(sys.modules),
    }))
_probe()
'''
MB = 2**20


@dataclass(frozen=True, slots=True)
class Sample:
    """One kernel at one moment, between two cells."""

    at: float
    rss: int
    descriptors: int
    sockets: int
    children: int
    threads: tuple[str, ...]
    tasks: int
    out: int
    kinds: dict[str, int]

    def __str__(self) -> str:
        return (
            f"{self.rss / MB:.1f} MB, {self.descriptors} descriptors ({self.sockets} sockets), {len(self.threads)} threads, "
            f"{self.tasks} tasks, {self.children} children, {self.out} outputs, {sum(self.kinds.values())} objects"
        )


def sample(pid: int, told: dict[str, Any]) -> Sample:
    """What is seen of a process from outside, with what it `told` of itself."""
    process = psutil.Process(pid)
    links = []
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            links.append(str(file.readlink()))
    return Sample(
        time.monotonic(),
        process.memory_info().rss,
        len(links),
        sum(link.startswith("socket:") for link in links),
        len(process.children(recursive=True)),
        tuple(told["threads"]),
        told["tasks"],
        told["out"],
        told["kinds"],
    )


def slope(samples: Sequence[Sample]) -> float:
    """Megabytes an hour, by least squares."""
    if len(samples) < 3:
        return 0.0
    at = [each.at / 3600 for each in samples]
    return statistics.linear_regression(at, [each.rss / MB for each in samples]).slope


def grown(before: Sample, after: Sample) -> list[tuple[str, int]]:
    """The kinds of objects of which there are many more now."""
    more = {kind: count - before.kinds.get(kind, 0) for kind, count in after.kinds.items() if kind in before.kinds}
    return sorted(more.items(), key=lambda item: -item[1])[:15]
