"""Three processes tick on one home and are killed again and again: no instant is lost, and none runs twice.

``HERMES_TEST_KILLS=seconds`` has them killed for longer.
"""

from __future__ import annotations

import asyncio
import math
import os
import random
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from hermes_kernel.core.planned import ORPHANED, JobSet, RunBegan, RunEnded, RunWanted
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.scheduling.book import Book
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import Store
from tests.contracts.stores import child, done
from tests.contracts.ticked import Home, check
from tests.kill.nursery import Nursery, nursery
from tests.kill.ticks import PLACE, START, Hurried, Still, ticker

SECONDS = float(os.environ.get("HERMES_TEST_KILLS", "8"))
PROCESSES = 3

JOBS = tuple(
    Job(fresh_id(), f"job-{n}", schedule, "UTC", START, prompt="x", misfire=misfire, deliver=("paper",), place=PLACE, grace=grace)
    for n, (schedule, misfire, grace) in enumerate((
        ("* * * * *", "once", None), ("* * * * *", "skip", 300.0), ("*/4 * * * *", "all", None), ("every 5m", "all", None),
    ))
)  # fmt: skip


def killing(children: Nursery, home: Path, zero: float, deaths: list[int]) -> None:
    chance = random.Random()
    while time.time() < zero + SECONDS:
        deaths.append(
            children.run({"home": str(home), "zero": zero}, until=lambda: time.sleep(chance.uniform(0.05, 1.2)))
        )


def lines(path: Path, word: str) -> Counter[str]:
    told = path.read_text().splitlines() if path.exists() else []
    return Counter(line.removeprefix(word) for line in told if line.startswith(word))


@pytest.mark.slow
def test_three_that_tick_and_are_killed_lose_no_instant_and_run_none_twice(tmp_path):
    home, deaths = tmp_path / "home", []
    with ExitStack() as nurseries:
        each = [nurseries.enter_context(nursery("tests.kill.ticks:child")) for _ in range(PROCESSES)]
        zero = time.time()
        clock = Hurried(zero)
        store = Store(home, clock=clock)
        book = Book(store, fresh_id, clock)
        book.record(*(JobSet(job) for job in JOBS))
        threads = [threading.Thread(target=killing, args=(one, home, zero, deaths)) for one in each]
        for thread in threads:
            thread.start()
        for n in range(int(SECONDS)):
            time.sleep(1)
            book.record(RunWanted(JOBS[n % 4].id, f"{JOBS[n % 4].id[:8]}-asked-{n:04x}"))
        for thread in threads:
            thread.join()
    time.sleep(0.5)  # the last programs of who was killed are still at it
    end = clock.now()
    for _ in range(3):
        asyncio.run(ticker(home, store, Still(end)).tick(Stop()))

    known = Home(store, Still(end), home, random.Random(0))  # type: ignore[arg-type]
    counts = check(known, end, slack=math.inf)  # minutes pass while a busy machine waits for its disk
    begun, ended = lines(home / "done.txt", "begun "), lines(home / "done.txt", "ended ")
    assert set(begun.values()) == set(ended.values()) == {1}, "no program was started twice"
    assert set(begun) <= {fact.run for fact in known.of(RunBegan)}, "none that is not in the record"
    orphans = [fact for fact in known.of(RunEnded) if fact.why == ORPHANED]
    whole = {fact.run for fact in known.of(RunEnded) if fact.outcome == "ran"}
    assert whole <= set(ended), "what is said to have run has run"
    assert set(lines(home / "paper.txt", "")) == {fact.run for fact in known.of(RunEnded)}, "all are told"
    assert len(deaths) > PROCESSES
    assert set(deaths) == {-9}
    print(f"{len(deaths)} deaths, {len(orphans)} runs cut off, {dict(counts)}")
    store.close()


def test_processes_that_tick_share_their_slots_and_have_those_of_one_that_was_killed(tmp_path):
    code = "import sys; from pathlib import Path; from tests.kill.ticks import once; once(Path(sys.argv[1]))"
    store = Store(tmp_path)
    book = Book(store, fresh_id)
    jobs = tuple(
        Job(fresh_id(), f"job-{n}", "every 30d", "UTC", time.time(), prompt="x", place=PLACE) for n in range(4)
    )
    wishes = tuple(RunWanted(job.id, f"{job.id[:8]}-asked-beef") for job in jobs)
    book.record(*map(JobSet, jobs), *wishes)
    with ExitStack() as running:
        first = running.enter_context(child(code, tmp_path))
        running.callback((tmp_path / "go").touch)
        begun = [first.stdout.readline().strip() for _ in range(2)]
        assert done(child(code, tmp_path)) == "", "one that has no slot begins nothing, and another waits already"
        first.kill()
        assert first.stdout.read() == ""
        third = running.enter_context(child(code, tmp_path))
        begun += [third.stdout.readline().strip() for _ in range(2)]
        (tmp_path / "go").touch()
        assert done(third) == ""
    assert set(begun) == {wish.run for wish in wishes}
    ends = {ledger.last.run: ledger.last.outcome for ledger in book.ledgers(book.jobs()).values()}
    assert [ends[run] for run in begun] == ["failed", "failed", "ran", "ran"]
    store.close()
