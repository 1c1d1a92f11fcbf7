"""``python -m tests.bench.store [--messages N] [--quick] [--at FOLDER] [PART ...]``: our store beside SQLite with FTS5,
in one run on one corpus, as Markdown tables. Parts: appends, size, search, opening, folding; all without any.

With ``--at`` what was built is kept there, and found again by the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from hermes_kernel.world.store import Store
from tests.bench import appending, corpus, lite, loading
from tests.bench.figures import Cost, milliseconds, quantile, sampled, table, timed
from tests.bench.questions import Kind, kinds
from tests.bench.rows import OURS, Row

FRESH = 50  # messages of one fold


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured: how many messages, where, how many rounds of each question, seconds for a kind of question,
    and appends of one process."""

    messages: int
    folder: Path
    rounds: int = 3
    seconds: float = 8.0
    appends: int = 2_000

    @property
    def home(self) -> Path:
        return self.folder / f"{self.messages}" / "ours"

    @property
    def lite(self) -> Path:
        return self.folder / f"{self.messages}" / "lite.db"


def appends(plan: Plan) -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir=plan.folder) as folder:
        yield from appending.report(Path(folder), plan.appends)


def size(plan: Plan) -> Iterator[str]:
    ours, sqlite = _loaded(plan)
    here = _weight(plan.home)
    there, text = lite.weight(plan.lite), sqlite["text"]
    yield table(
        (f"{plan.messages:,} messages, {text / 1e6:,.0f} MB of text", "ours", "SQLite"),
        [
            ("on disk", f"{here / 1e6:,.0f} MB", f"{there / 1e6:,.0f} MB"),
            ("× the text", f"{here / text:.2f}", f"{there / text:.2f}"),
            ("building it", f"{ours['appending']:.0f} s + {ours['folding']:.0f} s", f"{sqlite['seconds']:.0f} s"),
            ("longest fold or transaction of 20,000 messages", f"{ours['longest']:.1f} s", "–"),
        ],
    )


def search(plan: Plan) -> Iterator[str]:
    _loaded(plan)
    store, connection = Store(plan.home), lite.opened(plan.lite)
    store.search("warm")
    each = "p50 / p99 ms (CPU)"
    heads = ("kind of question", f"ours {each}", f"SQLite {each}", "ours / SQLite", "p99 / p50", "matches")
    rows = [_compared(plan, store, connection, kind) for kind in kinds(plan.messages)]
    yield table((f"{plan.messages:,} messages: {heads[0]}", *heads[1:]), rows)


def opening(plan: Plan) -> Iterator[str]:
    _loaded(plan)
    session = corpus.session(plan.messages // corpus.MESSAGES // 2).id
    tries = [(_fresh("ours", plan.home, session), _fresh("sqlite", plan.lite, session)) for _ in range(plan.rounds)]
    rows = [
        (what, *(f"{median(each[side][what] for each in tries):,.0f} {_unit(what)}" for side in (0, 1)))
        for what in tries[0][0]
    ]
    yield table((f"a fresh process, {plan.messages:,} messages", "ours", "SQLite"), rows)


def folding(plan: Plan) -> Iterator[str]:
    _loaded(plan)
    store, connection = Store(plan.home), lite.opened(plan.lite)
    before, after, ours, theirs = _weight(plan.home), 0, [], []
    for at in range(4 * plan.rounds):
        told = [corpus.session(10**6 + 3 * at + number) for number in range(-(-FRESH // corpus.MESSAGES))]
        for session in told:
            store.append(f"{session.id}-{os.getpid()}", *session.facts)
        ours.append(timed(store.fold))
        passages = [each for session in told for each in loading.said(session, loading.BEGIN)]
        theirs.append(timed(lambda passages=passages: lite.append(connection, passages)))  # type: ignore[misc]
        after = _weight(plan.home)
    count = len(ours) * len(told) * corpus.MESSAGES
    yield table(
        (f"{len(told) * corpus.MESSAGES} messages more, at {plan.messages:,}", "ours", "SQLite"),
        [
            ("one fold or transaction, p50 / p99 ms", milliseconds(ours), milliseconds(theirs)),
            ("growth for a message", f"{(after - before) / count / 1e3:.1f} kB", "–"),
        ],
    )


PARTS: dict[str, Callable[[Plan], Iterator[str]]] = {
    "appends": appends,
    "size": size,
    "search": search,
    "opening": opening,
    "folding": folding,
}


# --- the bench's table ------------------------------------------------------------------------------------------------

SQLITE, DISK = "SQLite FTS5", "write + fdatasync"
KEPT = "HERMES_BENCH_STORE"  # in the environment: the folder in which what is built is kept, as with ``--at``


def rows(rounds: int, contenders: Sequence[str]) -> Iterator[Row]:
    """The store's part of it: what an append, a search and a message on the disk cost at 100,000 messages."""
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(100_000, Path(os.environ.get(KEPT) or folder), rounds)
        for writing in (1, appending.WRITERS):
            yield _append(Path(folder), rounds, writing)
        yield _size(plan)
        yield from _search(plan)


def _append(folder: Path, rounds: int, writing: int) -> Row:
    told = [appending.middles(folder, 300 + at, writing) for at in range(rounds)]
    values: dict[str, float | None] = {
        who: median(each[kind] for each in told) for who, kind in ((OURS, "ours"), (SQLITE, "lite"), (DISK, "disk"))
    }
    who = "one writer" if writing == 1 else f"{writing} writers at once"
    return Row("the store", f"durable append, p50, {who}", "ms", values, 1.0)


def _size(plan: Plan) -> Row:
    _, sqlite = _loaded(plan)
    values: dict[str, float | None] = {
        OURS: _weight(plan.home) / sqlite["text"],
        SQLITE: lite.weight(plan.lite) / sqlite["text"],
    }
    return Row("the store", f"size ÷ text, {plan.messages:,} messages", "×", values, 2.5)


def _search(plan: Plan) -> Iterator[Row]:
    """The worst kind of question of each, and the longest tail of any."""
    store, connection = Store(plan.home), lite.opened(plan.lite)
    store.search("warm")
    asks: dict[str, tuple[int, Callable[[str | lite.Asked], object]]] = {
        OURS: (0, store.search),  # type: ignore[dict-item]
        SQLITE: (1, lambda asked: lite.best(connection, asked)),  # type: ignore[arg-type]
    }
    worst: dict[str, float | None] = dict.fromkeys(asks, 0.0)
    tails: dict[str, float | None] = dict.fromkeys(asks, 0.0)
    names = dict.fromkeys(asks, "")
    for kind in kinds(plan.messages):
        for who, (side, ask) in asks.items():
            costs = sampled(lambda pair, side=side, ask=ask: ask(pair[side]), kind.questions, plan.rounds, 4.0)  # type: ignore[misc]
            middle, last = (quantile([cost.wall for cost in costs], share) for share in (0.5, 0.99))
            tails[who] = max(tails[who] or 0.0, last / middle)
            if middle * 1e3 > (worst[who] or 0.0):
                worst[who], names[who] = middle * 1e3, kind.name
    note = "; ".join(f"{who}: {name}" for who, name in names.items())
    yield Row("the store", f"search, worst kind of question, p50, {plan.messages:,} messages", "ms", worst, 50.0, note)
    yield Row("the store", "search, longest tail of a kind, p99 ÷ p50", "×", tails, 4.0)


def _loaded(plan: Plan) -> tuple[dict[str, float], dict[str, float]]:
    plan.home.mkdir(parents=True, exist_ok=True)
    return loading.ours(plan.home, plan.messages), loading.sqlite(plan.lite, plan.messages)


def _compared(plan: Plan, store: Store, connection: object, kind: Kind) -> tuple[str, ...]:
    ours = sampled(lambda pair: store.search(pair[0]), kind.questions, plan.rounds, plan.seconds)
    theirs = sampled(lambda pair: lite.best(connection, pair[1]), kind.questions, plan.rounds, plan.seconds)  # type: ignore[arg-type]
    found = [(store.search(us).total, lite.many(connection, them)) for us, them in kind.questions[:10]]  # type: ignore[arg-type]
    walls = [[cost.wall for cost in each] for each in (ours, theirs)]
    cells = [f"{milliseconds(wall)} ({_cpu(each):.3g})" for wall, each in zip(walls, (ours, theirs), strict=True)]
    ratio = quantile(walls[0], 0.5) / quantile(walls[1], 0.5)
    tail = quantile(walls[0], 0.99) / quantile(walls[0], 0.5)
    mine, others = (sum(each) for each in zip(*found, strict=True))
    print(kind.name, *cells, file=sys.stderr, flush=True)
    return kind.name, *cells, f"{ratio:.2g}", f"{tail:.1f}", f"{mine:,} / {others:,}"


def _cpu(costs: Sequence[Cost]) -> float:
    """Milliseconds of processor, the median."""
    return median(cost.cpu for cost in costs) * 1e3


def _fresh(kind: str, place: Path, session: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.bench.opening", kind, str(place), session]
    return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def _weight(home: Path) -> int:
    return sum(each.stat().st_size for each in home.rglob("*") if each.is_file())


def _unit(what: str) -> str:
    return "MB" if what.endswith("memory") else "ms"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.store")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--quick", action="store_true", help="2,000 messages, one round")
    parser.add_argument("--at", type=Path, help="keep what is built here")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=", ".join(PARTS))
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        there = asked.at or Path(folder)
        plan = Plan(2_000, there, 1, 1.0, 100) if asked.quick else Plan(asked.messages, there)
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the beginning\n", flush=True)
        for part in asked.parts or PARTS:
            print("\n".join(PARTS[part](plan)), end="\n\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
