"""Writers that wait for the disk at each message, while one process searches and one folds: ours, SQLite, and the disk.

``python -m tests.bench.appending ROLE FOLDER NUMBER COUNT`` is one of the processes. It says ``ready``, begins when it
is told to on stdin, and prints one JSON line; those without a count go on until stdin is closed.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from subprocess import PIPE, Popen
from typing import Any

from hermes_kernel.core.events import Asked, Opened
from hermes_kernel.core.search.found import Passage
from hermes_kernel.world.store import Store
from tests.bench import corpus, lite
from tests.bench.figures import milliseconds, quantile, table

WRITERS, SIZE = 8, 600
WORD = "acknowledgedly"  # in every message, and in nothing else
PAUSE = 2.5  # seconds between two folds: eight kernels, each of which has it done at most every twenty

Answer = dict[str, Any]


def texts(number: int, count: int) -> list[str]:
    random = Random(number)
    return [f"{WORD} {number} {at} {corpus.prose(random, 'en', 120)}"[: SIZE - 150] for at in range(count)]


def writing(append: Callable[[int, str], object], number: int, count: int) -> Answer:
    """What each append took, and what went wrong."""
    told, seconds, errors = texts(number, count), [], []
    begin()
    for at, text in enumerate(told):
        start = time.perf_counter()
        try:
            append(at, text)
        except OSError as error:
            errors.append(str(error))
        except Exception as error:
            errors.append(repr(error))
        seconds.append(time.perf_counter() - start)
    return {"seconds": seconds, "errors": errors}


def going_on(act: Callable[[], object], pause: float) -> Answer:
    """The same again and again, until stdin is closed."""
    seconds, errors = [], []
    begin()
    while not select.select([sys.stdin], [], [], pause)[0]:
        start = time.perf_counter()
        try:
            act()
        except Exception as error:
            errors.append(repr(error))
        seconds.append(time.perf_counter() - start)
    return {"seconds": seconds, "errors": errors}


def begin() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


# --- the processes ----------------------------------------------------------------------------------------------------


def ours_writing(folder: Path, number: int, count: int) -> Answer:
    store, session = Store(folder), f"writer-{number}"
    store.append(session, Opened(session))
    return writing(lambda _, text: store.append(session, Asked(text)), number, count)


def ours_searching(folder: Path, number: int, count: int) -> Answer:
    store = Store(folder)
    return going_on(lambda: store.search(f"{WORD} {number}"), 0)


def ours_folding(folder: Path, number: int, count: int) -> Answer:
    return going_on(Store(folder).fold, PAUSE)


def lite_writing(folder: Path, number: int, count: int) -> Answer:
    connection, session = lite.opened(folder / "lite.db"), f"writer-{number}"

    def append(at: int, text: str) -> None:
        lite.append(connection, [Passage(session, at, time.time(), "user", text)])

    return writing(append, number, count)


def lite_searching(folder: Path, number: int, count: int) -> Answer:
    connection = lite.opened(folder / "lite.db")
    return going_on(lambda: lite.best(connection, lite.Asked(f'"{WORD}" "{number}"')), 0)


def disk_writing(folder: Path, number: int, count: int) -> Answer:
    handle = os.open(folder / f"{number}.bin", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def append(at: int, text: str) -> None:
        os.write(handle, text.encode().ljust(SIZE))
        os.fdatasync(handle)

    return writing(append, number, count)


ROLES = {
    "ours-writing": ours_writing,
    "ours-searching": ours_searching,
    "ours-folding": ours_folding,
    "lite-writing": lite_writing,
    "lite-searching": lite_searching,
    "disk-writing": disk_writing,
}


# --- the play ---------------------------------------------------------------------------------------------------------


def played(
    kind: str, folder: Path, count: int, others: tuple[str, ...] = (), writing: int = WRITERS
) -> dict[str, Answer]:
    """So many writers and the others, begun together: what all writers said together, and each other."""
    writers = [_process(f"{kind}-writing", folder, number, count) for number in range(writing)]
    rest = {other: _process(other, folder, 1, 0) for other in others}
    everybody = [*writers, *rest.values()]
    for process in everybody:
        assert process.stdout
        assert process.stdout.readline() == "ready\n", process.args
    start = time.perf_counter()
    for process in everybody:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [_answer(process) for process in writers]
    wall = time.perf_counter() - start
    together: Answer = {
        "wall": wall,
        "seconds": [each for answer in said for each in answer["seconds"]],
        "errors": [each for answer in said for each in answer["errors"]],
    }
    return {f"{kind}-writing": together} | {name: _answer(process) for name, process in rest.items()}


def _process(role: str, folder: Path, number: int, count: int) -> Popen[str]:
    command = [sys.executable, "-m", "tests.bench.appending", role, str(folder), str(number), str(count)]
    return Popen(command, stdin=PIPE, stdout=PIPE, text=True)


def _answer(process: Popen[str]) -> Answer:
    if process.args[3].endswith(("-searching", "-folding")):  # type: ignore[index,union-attr]
        with suppress(BrokenPipeError):
            process.stdin.close()  # type: ignore[union-attr]
    assert process.stdout
    line = process.stdout.readline()
    process.wait()
    return dict(json.loads(line))


def middles(folder: Path, count: int, writing: int) -> dict[str, float]:
    """The median of an append, in milliseconds: ours, SQLite's, and what the disk takes, with nobody else at it."""
    found = {}
    for kind in ("ours", "lite", "disk"):
        place = folder / f"{kind}-{writing}-{count}"
        place.mkdir(exist_ok=True)
        if kind == "lite":
            lite.made(place / "lite.db").close()
        found[kind] = quantile(played(kind, place, count, writing=writing)[f"{kind}-writing"]["seconds"], 0.5) * 1e3
    return found


def report(folder: Path, count: int) -> Iterator[str]:
    """The table, measured as it is made."""
    for name in ("ours", "lite", "disk"):
        (folder / name).mkdir()
    ours = played("ours", folder / "ours", count, ("ours-searching", "ours-folding"))
    store = Store(folder / "ours")
    found = store.search(WORD).total
    kept = sum(len(store.recall(f"writer-{number}")) - 1 for number in range(WRITERS))
    store.fold()
    again = store.search(WORD).total
    lite.made(folder / "lite" / "lite.db").close()
    sqlite = played("lite", folder / "lite", count, ("lite-searching",))
    there = lite.many(lite.opened(folder / "lite" / "lite.db"), lite.Asked(WORD))
    disk = played("disk", folder / "disk", count, ())
    rows = [
        ("acknowledged, found at the end", f"{WRITERS * count:,}, {found:,}", f"{WRITERS * count:,}, {there:,}", "–"),
        *_rows(ours["ours-writing"], sqlite["lite-writing"], disk["disk-writing"]),
        ("search meanwhile, p50 / p99 ms", *(milliseconds(each["seconds"]) for each in (ours["ours-searching"], sqlite["lite-searching"])), "–"),
        ("searches, of them failed", *(f"{len(each['seconds']):,}, {len(each['errors'])}" for each in (ours["ours-searching"], sqlite["lite-searching"])), "–"),
        ("folds, p50 / p99 ms", f"{len(ours['ours-folding']['seconds'])}: {milliseconds(ours['ours-folding']['seconds'])}", "–", "–"),
    ]  # fmt: skip
    yield table((f"{WRITERS} processes × {count:,} appends", "ours", "SQLite", "write + fdatasync"), rows)
    yield f"\nRecalled {kept:,}, found again after the last fold {again:,}."
    yield from sorted({error for answer in (*ours.values(), *sqlite.values()) for error in answer["errors"]})


def _rows(*answers: Answer) -> list[tuple[str, ...]]:
    def of(what: str, make: Callable[[Answer], str]) -> tuple[str, ...]:
        return (what, *map(make, answers))

    return [
        of("errors", lambda answer: f"{len(answer['errors'])}"),
        of("append, p50 / p99 ms", lambda answer: milliseconds(answer["seconds"])),
        of("append, longest ms", lambda answer: f"{quantile(answer['seconds'], 1) * 1e3:.3g}"),
        of("messages per second", lambda answer: f"{len(answer['seconds']) / answer['wall']:,.0f}"),
    ]


if __name__ == "__main__":
    print(json.dumps(ROLES[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))), flush=True)
