"""``python -m tests.campaign --turns 20000 --kills 500``: so many random turns, so many random kills, and a table of what
was played. Each failure is printed with its seed and the line that plays it again; the campaign goes on with the next
seed, and ends with exit code 1 if there was one.

    --seed S     the first seed (0): sessions are S.0, S.1, …, lives that are killed S.k0, S.k1, …
    --one SEED   only this one, such as 0.17 or 0.k3
    --jobs N     processes that play side by side (4): most of a turn is waiting
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import closing
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from tests.numbers import some

HANGS = 900.0  # seconds of one session, then its process says where it stands and ends


class Ended(NamedTuple):
    """What came of one seed. ``failure`` is empty where the laws held."""

    seed: str
    turns: int
    cpu: float
    counts: Counter[str]
    failure: str = ""


def one(seed: str) -> Ended:
    """Play the session, or the life, of one seed."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    began = time.process_time()
    try:
        tale = _module(seed).play(seed)
    except (Exception, KeyboardInterrupt):
        return Ended(seed, 0, time.process_time() - began, Counter(), traceback.format_exc(limit=-6))
    finally:
        faulthandler.cancel_dump_traceback_later()
    return Ended(seed, tale.turns, time.process_time() - began, tale.counts)


def _module(seed: str):
    """What plays such a seed."""
    if ".k" in seed:
        from tests.campaign import kills

        return kills
    from tests.campaign import sessions

    return sessions


def campaign(first: int, turns: int, kills: int, jobs: int) -> Iterator[Ended]:
    """Seed after seed, until there were so many turns and so many kills."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork"), initializer=silent) as pool:
        try:
            yield from _played(pool, (f"{first}.{n}" for n in count()), jobs, turns)
            yield from _played(pool, (f"{first}.k{n}" for n in count()), jobs, kills)
        finally:
            pool.shutdown(cancel_futures=True)


def _played(pool: ProcessPoolExecutor, seeds: Iterator[str], jobs: int, wanted: int) -> Iterator[Ended]:
    done, going = 0, set[Future[Ended]]()
    while done < wanted or going:
        while done < wanted and len(going) < 2 * jobs:
            going.add(pool.submit(one, next(seeds)))
        ended, going = wait(going, return_when=FIRST_COMPLETED)
        for each in ended:
            done += max(each.result().turns, 1)
            yield each.result()


def silent() -> None:
    """The same, and what a tool prints is heard nowhere."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    quiet()
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - until the process ends


def quiet() -> None:
    """Nothing of a person's is in the environment, and the slow loops run where the dice say so."""
    for name in tuple(os.environ):
        if name.startswith(("HERMES_", "OPENAI_")):
            del os.environ[name]
    os.environ["HERMES_LEARNING"] = os.environ["HERMES_SCHEDULE_WATCH"] = "off"
    gc.freeze()  # what is imported stays, and need not be looked through when something seems to be left


def table(counts: Counter[str]) -> str:
    """How often what was played, by kind."""
    kinds: dict[str, list[str]] = {}
    for name, times in sorted(counts.items(), key=lambda item: (item[0].partition(": ")[0], -item[1], item[0])):
        kind, _, rest = name.partition(": ")
        kinds.setdefault(kind, []).append(f"{rest} {times}")
    return "\n".join(f"{kind} ({len(rows)})\n    " + " · ".join(rows) for kind, rows in kinds.items())


def main() -> int:
    """As the command line says."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description="Random turns and random kills.")
    parser.add_argument(
        "--turns", type=int, default=20_000, help="at least so many (20,000): sessions are played whole"
    )
    parser.add_argument("--kills", type=int, default=500, help="likewise (500)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--one", metavar="SEED", help="only this one, such as 0.17 or 0.k3")
    parser.add_argument("--jobs", type=some, default=4, help="processes that play side by side (4)")
    wish = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nobody who plays is left behind
    quiet()
    if wish.one:
        ended = one(wish.one)
        print(table(ended.counts), ended.failure, sep="\n")
        return bool(ended.failure)
    return _all(wish)


def _all(wish: argparse.Namespace) -> int:
    counts: Counter[str] = Counter()
    turns, cpu, failed, began, told = Counter[bool](), Counter[bool](), [], time.monotonic(), 0.0
    with closing(campaign(wish.seed, wish.turns, wish.kills, wish.jobs)) as played:
        for ended in played:
            kill = ".k" in ended.seed
            counts += ended.counts
            turns[kill] += ended.turns
            cpu[kill] += ended.cpu
            if ended.failure:
                failed.append(ended.seed)
                print(f"\nSEED {ended.seed}\n{ended.failure}again: python -m tests.campaign --one {ended.seed}\n")
            if time.monotonic() - told > 30:
                told = time.monotonic()
                print(
                    f"{told - began:6.0f} s: {turns[False]} turns, {turns[True]} kills, {len(failed)} failed",
                    flush=True,
                )
    print(table(counts))
    print(f"\n{turns[False]} turns, {1000 * cpu[False] / max(turns[False], 1):.1f} ms CPU each")
    print(f"{turns[True]} kills, {cpu[True] / max(turns[True], 1):.2f} s CPU each, of the process that looks")
    print(f"{time.monotonic() - began:.0f} s; " + (f"FAILED: {' '.join(failed)}" if failed else "no law was broken"))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
