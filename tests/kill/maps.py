"""A map over many rows against a server that misbehaves in every way it knows, killed in the middle and run again; and
the same over a Dask cluster of which a worker is killed.

``python -m tests.kill.maps 2000 7`` takes two thousand rows, with seed 7, and prints the figures.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from hermes_kernel.testing import (
    HINTS,
    OVERFLOWS,
    Request,
    Server,
    Step,
    call,
    cut_off,
    disconnect,
    empty,
    error_in_stream,
    error_with_200,
    filtered,
    garbled,
    hang_up,
    late,
    login_page,
    no_choices,
    out_of_quota,
    overflow,
    queued,
    rate_limited,
    refused_parameter,
    say,
    stall,
    status,
    thinking_only,
    torn,
    unfinished,
    unstreamed,
)

ROOT = Path(__file__).parents[2]
TEMPLATE = "Row $n: say what it is, please."
ROW = re.compile(r"Row (\d+):")
SHARE = 0.05  # of the rows, that meet a fault
SLOTS, LATENCY = 8, 0.08  # requests that the server works at, and seconds of each: a hundred a second
WORKERS = 32  # rows in flight: the server's queue is never empty, though a machine may be busy
ROUNDS = 3
LONGEST = 120.0  # seconds to wait for a child
SETTINGS = {
    "retry_base_seconds": 0.05, "retry_max_seconds": 0.2, "stale_seconds": 0.6, "first_byte_seconds": 5.0,
    "queued_seconds": 2.0, "api_key": "none-at-all",
}  # fmt: skip


def answer(row: int) -> str:
    """What the server says of a row."""
    return f"It is number {row}, no doubt."


FAULTS: dict[str, Callable[[int], Step]] = {
    **{f"rate limited, {hint}": lambda _, hint=hint: rate_limited(1 if hint == "date" else 0.05, hint=hint) for hint in HINTS},
    **{f"overflow, {wording}": lambda _, wording=wording: overflow(wording) for wording in OVERFLOWS},
    **{f"status {code}": lambda _, code=code: status(code) for code in (400, 401, 402, 403, 404, 408, 413, 500, 502, 503, 529)},
    "out of quota": lambda _: out_of_quota(),
    "refused parameter": lambda _: refused_parameter("stream_options"),
    "filtered": lambda _: filtered(),
    "login page": lambda _: login_page(),
    "error with 200": lambda _: error_with_200(),
    "unstreamed": lambda row: unstreamed(answer(row)),
    "stall": lambda row: stall(answer(row), after=1, seconds=3),
    "hang up": lambda _: hang_up(),
    "reset": lambda _: hang_up(reset=True),
    "disconnect": lambda row: disconnect(answer(row), after=2),
    "disconnect, reset": lambda row: disconnect(answer(row), after=2, reset=True),
    "garbled": lambda row: garbled(answer(row), after=2),
    "unfinished": lambda row: unfinished(answer(row)),
    "error in stream": lambda row: error_in_stream(answer(row)),
    "cut off": lambda row: cut_off(answer(row)),
    "empty": lambda _: empty(),
    "thinking only": lambda _: thinking_only("Hm."),
    "no choices": lambda _: no_choices(),
    "torn": lambda row: torn(answer(row) + " \N{PARTY POPPER}"),
    "late": lambda row: late(say(answer(row)), 0.5),
    "queued": lambda row: queued(say(answer(row)), 0.5),
}  # fmt: skip
"""Every kind that the scripted server knows and a row without tools can meet. It meets it once: what is asked again is
answered."""


def afflicted(rows: int, seed: int) -> dict[int, str]:
    """Which rows meet which fault: every kind in turn, as far as there are rows."""
    dice = random.Random(seed)
    unlucky = dice.sample(range(rows), max(1, int(rows * SHARE)))
    kinds = list(FAULTS)
    dice.shuffle(kinds)
    return {row: kinds[at % len(kinds)] for at, row in enumerate(unlucky)}


# --- the server, in a process of its own ------------------------------------------------------------------------------


class Shop:
    """Answers rows, a few at a time, and writes down which it was asked for."""

    def __init__(self, faults: dict[int, str], book: Path) -> None:
        self._faults = faults
        self._book = os.open(book, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        self._free = [0.0] * SLOTS
        self._asked: Counter[int] = Counter()

    def __call__(self, request: Request) -> Step:
        row = next(int(found[1]) for m in request.messages if (found := ROW.search(str(m["content"]))))
        self._asked[row] += 1
        kind = self._faults.get(row, "") if self._asked[row] == 1 else ""
        os.write(self._book, f"{row} {kind or 'answered'}\n".encode())
        return FAULTS[kind](row) if kind else late(say(answer(row)), self._wait())

    def _wait(self) -> float:
        """Until one of the slots has done this, too."""
        now, slot = time.monotonic(), self._free.index(min(self._free))
        self._free[slot] = max(now, self._free[slot]) + LATENCY
        return self._free[slot] - now


def serve(faults: str, book: str) -> None:
    """A server until its input ends."""
    with Server(Shop({int(row): kind for row, kind in json.loads(faults).items()}, Path(book))) as server:
        print(server.url, flush=True)
        sys.stdin.read()


@contextmanager
def shop(faults: dict[int, str], book: Path) -> Iterator[str]:
    """A server in a process of its own; its address."""
    command = [sys.executable, "-m", "tests.kill.maps", "serve", json.dumps(faults), str(book)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin
        assert process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()


def asked(book: Path) -> list[tuple[int, str]]:
    """Every request so far: the row and what it met."""
    lines = book.read_text().splitlines() if book.exists() else []
    return [(int(row), kind) for row, _, kind in (line.partition(" ") for line in lines)]


# --- one life of a map ------------------------------------------------------------------------------------------------


def child(home: str, url: str, rows: int, out: str, wishes: dict[str, Any]) -> None:
    """Map all rows, and write down what came of them."""
    from hermes_kernel import Agent

    async def run() -> Any:
        async with Agent("any", home=home, base_url=url, **SETTINGS) as agent:
            agent.warm()
            began = time.monotonic()
            result = await agent.map(TEMPLATE, ({"n": n} for n in range(rows)), workers=WORKERS, name="maps", **wishes)
            return result, time.monotonic() - began

    result, seconds = asyncio.run(run())
    told = {
        "seconds": seconds,
        "rows": [[row.outcome, row.text, row.session_id] for row in result],
        "advice": str(result),
    }
    Path(out).write_text(json.dumps(told))


@dataclass(frozen=True, slots=True)
class Life:
    """A child process that maps, and what it told."""

    process: subprocess.Popen[bytes]
    out: Path

    def end(self) -> dict[str, Any]:
        assert self.process.wait(LONGEST) == 0
        told: dict[str, Any] = json.loads(self.out.read_text())
        return told


def begin(home: Path, url: str, rows: int, **wishes: Any) -> Life:
    """Begin a life."""
    out = home / "told.json"
    command = [
        sys.executable,
        "-m",
        "tests.kill.maps",
        "child",
        str(home),
        url,
        str(rows),
        str(out),
        json.dumps(wishes),
    ]
    return Life(subprocess.Popen(command, cwd=ROOT), out)


def killed_in_the_middle(home: Path, url: str, rows: int, book: Path) -> None:
    """A life that ends at about half of the rows."""
    life = begin(home, url, rows)
    end = time.monotonic() + LONGEST
    while len({row for row, _ in asked(book)}) < rows // 2:
        assert time.monotonic() < end
        assert life.process.poll() is None
        time.sleep(0.005)
    life.process.send_signal(signal.SIGKILL)
    life.process.wait()


def limit(url: str, requests: int) -> float:
    """Answers per second that a bare client gets of a server, as many at once as a map asks."""
    import httpx2

    async def ask(client: httpx2.AsyncClient, numbers: Iterator[int]) -> None:
        for n in numbers:
            body = {"model": "any", "stream": True, "messages": [{"role": "user", "content": f"Row {n}: bare"}]}
            async with client.stream("POST", f"{url}/chat/completions", json=body) as response:
                async for _ in response.aiter_bytes():
                    pass

    async def run() -> float:
        async with httpx2.AsyncClient(trust_env=False) as client:
            numbers, began = iter(range(requests)), time.monotonic()
            await asyncio.gather(*(ask(client, numbers) for _ in range(WORKERS)))
            return requests / (time.monotonic() - began)

    return asyncio.run(run())


# --- what has to hold -------------------------------------------------------------------------------------------------


def campaign(home: Path, rows: int, seed: int) -> dict[str, Any]:
    """Killed, resumed, and asked again for what is unknown; the figures.

    Raises:
        AssertionError: something that was promised does not hold.
    """
    faults, book = afflicted(rows, seed), home / "book"
    with shop(faults, book) as url:
        killed_in_the_middle(home, url, rows, book)
        time.sleep(2 * WORKERS * LATENCY / SLOTS)  # what was on the wire arrives
        before = {row for row, _ in asked(book)}
        mark = len(asked(book))
        told = begin(home, url, rows).end()
        after = {row for row, _ in asked(book)[mark:]}
        outcomes = [outcome for outcome, _, _ in told["rows"]]
        check(told, faults, asked(book))
        assert not before & after, "a row was paid twice"
        unknown = {row for row, outcome in enumerate(outcomes) if outcome == "unknown"}
        assert len(unknown) <= WORKERS, "more unknown than were in flight"
        assert before | after == set(range(rows)) - {row for row in unknown if row not in before}
        mark = len(asked(book))
        again = begin(home, url, rows, again=["unknown"]).end()
        assert {row for row, _ in asked(book)[mark:]} == unknown, "other rows than were wanted were asked again"
        check(again, faults, asked(book))
        assert "unknown" not in [outcome for outcome, _, _ in again["rows"]]
    return {
        "rows": rows, "afflicted": len(faults), "kinds": len(set(faults.values())), "asked before the kill": len(before),
        "unknown after it": len(unknown), "requests": len(asked(book)), "outcomes": dict(Counter(outcomes)),
        "after again=unknown": dict(Counter(outcome for outcome, _, _ in again["rows"])),
        "rows a second after the kill, faults and all": round(len(after) / told["seconds"], 1), "advice": told["advice"],
    }  # fmt: skip


def check(told: dict[str, Any], faults: dict[int, str], book: Sequence[tuple[int, str]]) -> None:
    """One honest outcome for each row, and one answer at most that was paid for in one run of it."""
    answered: defaultdict[int, int] = defaultdict(int)
    for row, kind in book:
        answered[row] += kind == "answered"
    for row, (outcome, text, session) in enumerate(told["rows"]):
        assert session
        if outcome == "completed":
            assert answer(row) in text, (row, text)
            assert row in faults or answered[row] <= 2, (row, "a good answer was asked for again")
        elif outcome != "unknown":
            assert row in faults, (row, outcome, text)
            assert outcome in {"failed", "refused", "empty"}, (row, outcome)


def throughput(home: Path, rows: int) -> dict[str, Any]:
    """How fast a map is, beside a bare client of the same server. Turn about, for a machine may be busy at times."""
    pairs = []
    for turn in range(ROUNDS):
        with shop({}, home / f"bare {turn}") as url:
            bare = limit(url, rows)
        place = home / f"home {turn}"
        place.mkdir()
        with shop({}, home / f"book {turn}") as url:
            pairs.append((bare, rows / begin(place, url, rows).end()["seconds"]))
    return {
        "bare client and map, rows a second": ", ".join(f"{bare:.1f} and {ours:.1f}" for bare, ours in pairs),
        "share, median": round(median(ours / bare for bare, ours in pairs), 3),
        "share, best": round(max(ours / bare for bare, ours in pairs), 3),
    }


# --- over a cluster ---------------------------------------------------------------------------------------------------

BUDGET, EAGER, ROWS = 60, 20, 16  # calls of the whole map and of one row that wants them all; rows
KILL_AFTER = 10  # requests
BY = re.compile(r"says process (\d+)")


def look(at: str) -> str:
    """Look at something."""
    return f"{at} is there, says process {os.getpid()}."


class Wanting:
    """Every other row asks for a tool again and again, for as long as it may; the others answer at once. A worker is
    killed while a row of its own is being answered."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, bool]] = []
        self.killed = 0

    def __call__(self, request: Request) -> Step:
        text = json.dumps(request.messages)
        row, by = int(ROW.findall(text)[0]), BY.search(text)
        self.asked.append((row, '"assistant"' not in text))
        if by and not self.killed and len(self.asked) > KILL_AFTER:
            self.killed = int(by[1])
            os.kill(self.killed, signal.SIGKILL)
        eager = row % 2 and request.body.get("tools")
        return late(call("look", {"at": f"{row}.{len(self.asked)}"}) if eager else say(answer(row)), LATENCY)


def over_dask(home: Path) -> dict[str, Any]:
    """A map with a budget over two worker processes, of which one is killed; the figures.

    Raises:
        AssertionError: something that was promised does not hold.
    """
    from distributed import Client, LocalCluster

    wanting = Wanting()
    with (
        Server(wanting) as server,
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        result = asyncio.run(_mapped(home, server.url, client.get_executor()))
        assert client.submit(max, 1, 2).result() == 2, "the executor was shut down"
        server.await_idle()
    first = Counter(row for row, begins in wanting.asked if begins)
    calls = Counter(row for row, _ in wanting.asked)
    assert len(result) == ROWS
    assert max(first.values()) == 1, "a row was begun twice"
    assert len(wanting.asked) <= BUDGET, "more calls than the budget"
    assert 1 <= result.counts.get("unknown", 0) <= 2, result
    for n, row in enumerate(result):
        assert (row.outcome == "not_asked") == (n not in calls), (n, row)
        assert row.outcome != "completed" or row.text == answer(n)
    asked = [row for row in result if row.outcome != "not_asked"]
    assert len(asked) > BUDGET // EAGER + 1, "unused leases did not return"
    return {
        "workers": 2, "killed": int(wanting.killed > 0), "budget": BUDGET, "calls at the server": len(wanting.asked),
        "outcomes": {str(outcome): count for outcome, count in result.counts.items()},
        "rows begun twice": 0, "says": str(result),
    }  # fmt: skip


async def _mapped(home: Path, url: str, executor: Any) -> Any:
    from hermes_kernel import Agent

    async with Agent("any", home=home, base_url=url, **SETTINGS) as agent:
        rows = [{"n": n} for n in range(ROWS)]
        return await agent.map(TEMPLATE, rows, executor=executor, budget=BUDGET, row_budget=EAGER, tools=[look])


def main() -> None:
    """As many rows as are asked for, from a seed."""
    match sys.argv[1:]:
        case ["serve", faults, book]:
            serve(faults, book)
        case ["child", home, url, rows, out, wishes]:
            child(home, url, int(rows), out, json.loads(wishes))
        case ["speed", rows]:
            with tempfile.TemporaryDirectory() as home:
                told("speed", throughput(Path(home), int(rows)))
        case ["dask"]:
            with tempfile.TemporaryDirectory() as home:
                print(json.dumps(over_dask(Path(home))))
        case [rows, *seed]:
            with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
                told("killed and run again", campaign(Path(one), int(rows), int(*seed)))
                told("speed", throughput(Path(two), min(int(rows), 500)))
            with tempfile.TemporaryDirectory() as home:
                told("a Dask cluster", over_dask(Path(home)))


def told(what: str, figures: dict[str, Any]) -> None:
    """Print figures."""
    print(f"\n{what}")
    for name, figure in figures.items():
        print(f"  {name}: {figure}", flush=True)


if __name__ == "__main__":
    main()
