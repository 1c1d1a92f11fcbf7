"""``python -m tests.bench [ROUNDS]``: every contender once a round, in turn; medians and ratios as a Markdown table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from statistics import median

from tests.bench.live import measure as shown_live
from tests.bench.serving import CHUNKS, serving

ROWS = [
    # what is measured, script, n, figure, divided by, unit, contenders
    (
        "CPU per iteration, 50 iterations",
        "loop",
        50,
        "cpu",
        50 / 1e3,
        "ms",
        ("ours", "bare openai loop", "httpx + json"),
    ),
    (
        "CPU per iteration, 200 iterations",
        "loop",
        200,
        "cpu",
        200 / 1e3,
        "ms",
        ("ours", "bare openai loop", "httpx + json"),
    ),
    ("CPU per streamed chunk", "chunks", 1, "cpu", CHUNKS / 1e6, "µs", ("ours", "bare openai loop", "httpx + json")),
    ("8 async tools of 0.2 s", "batch", 1, "wall", 1, "s", ("ours", "bare openai loop")),
    ("8 sync tools of 0.2 s", "batch", 1, "wall", 1, "s", ("ours, sync tools", "bare openai loop, sync tools")),
    ("peak memory, 50 iterations", "loop", 50, "megabytes", 1, "MB", ("ours", "bare openai loop", "httpx + json")),
]


def measure(contender: str, script: str, url: str, n: int) -> dict[str, float]:
    """One fresh process."""
    command = [sys.executable, "-m", "tests.bench.contenders", contender, script, url, str(n)]
    environment = {**os.environ, "OPENAI_LOG": "", "HERMES_PLAIN": "on"}
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if found.returncode:
        raise SystemExit(f"{contender} on {script}: {found.stderr[-2000:]}")
    return dict(json.loads(found.stdout.splitlines()[-1]))


def table(rounds: int) -> Iterable[str]:
    """The rows of the table, each measured before the next."""
    yield "| measured | ours | bare `openai` loop | httpx + json | ours / bare |"
    yield "|---|---|---|---|---|"
    for what, script, n, figure, unit_size, unit, contenders in ROWS:
        found: dict[str, list[float]] = {contender: [] for contender in contenders}
        with serving(script) as url:
            for _ in range(rounds):
                for contender in contenders:
                    found[contender].append(measure(contender, script, url, n)[figure] / unit_size)
        values = [median(samples) for samples in found.values()]
        cells = [f"{value:.3g} {unit}" for value in values] + ["–"] * (3 - len(values))
        yield f"| {what} | {' | '.join(cells)} | {values[0] / values[1]:.2f} |"
    yield f"| CPU per streamed chunk, shown live in a kernel | {live(rounds):.3g} µs | – | – | – |"


def live(rounds: int) -> float:
    """Microseconds of a kernel's CPU for a chunk that is painted as it comes."""
    with serving("chunks") as url:
        return median(shown_live(url)["live"] / CHUNKS * 1e6 for _ in range(rounds))


if __name__ == "__main__":
    for line in table(int(sys.argv[1]) if len(sys.argv) > 1 else 5):
        print(line, flush=True)
