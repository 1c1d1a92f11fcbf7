"""``python -m tests.soak [--kernels 8] [--minutes 30] [--seed S]``: exit code 1 where something grows or is left."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from uuid import uuid4

from hermes_kernel.core.turn import recall
from hermes_kernel.testing import Server
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.store import Store
from tests.faults.played import whole
from tests.kernel.conftest import LAUNCH, PYTHONS, Kernel, ipykernel_of
from tests.kernel.processes import carrying
from tests.numbers import some
from tests.soak.measures import MB, Sample, grown, slope
from tests.soak.model import Errands
from tests.soak.person import Person

KINDS = [(name, python) for python in PYTHONS for name in LAUNCH]
SETTINGS = {
    "HERMES_LEARNING": "on", "HERMES_SCHEDULE_WATCH": "on", "HERMES_APPROVALS": "allow", "HERMES_SCHEDULE_WRITES": "on",
    "HERMES_CONTEXT_WINDOW": "24000", "HERMES_STALE_SECONDS": "2", "HERMES_FIRST_BYTE_SECONDS": "5",
    "HERMES_RETRY_BASE_SECONDS": "0.2", "HERMES_RETRY_MAX_SECONDS": "1", "HERMES_MAX_ITERATIONS": "12",
    "HERMES_NUDGE_EVERY_TURNS": "10", "HERMES_ANSWER_SECONDS": "1",
}  # fmt: skip
FORGETFUL = "c.InteractiveShell.cache_size = 0\n"
GROWTH = 30.0  # megabytes an hour that a kernel may take which keeps no outputs
SPARE = {"descriptors": 6, "sockets": 4, "threads": 4, "tasks": 2, "children": 2}
LEAVING = 30.0  # seconds in which what a kernel has begun ends with it


def main() -> int:
    """Play, and tell."""
    given = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    given.add_argument("--kernels", type=some, default=8, help="that work side by side (8)")
    given.add_argument(
        "--minutes", type=float, default=30, help="for so long (30); of less than two nothing can be said"
    )
    given.add_argument("--seed", type=int, default=random.randrange(10**6), help="what is done follows from it (any)")
    asked = given.parse_args()
    print(f"seed {asked.seed}, {asked.kernels} kernels, {asked.minutes:g} minutes", flush=True)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        complaints = soak(Path(folder), asked.kernels, asked.minutes * 60, asked.seed)
    held, broken = "nothing grows, nothing is left", "it grows, leaves something, or was not seen for long enough"
    print("", *complaints, broken if complaints else held, sep="\n")
    return 1 if complaints else 0


def soak(home: Path, kernels: int, seconds: float, seed: int) -> list[str]:
    """So many people at work in one home for so long; what there is to complain of."""
    end = time.monotonic() + seconds
    with Server(Errands(seed)) as server:
        people = [Person(n, lambda n=n: _kernel(n, home, server.url), seed, end) for n in range(kernels)]
        for person in people:
            person.start()
        while living := [person for person in people if person.is_alive()]:
            for person in living:
                person.join(30 / len(living))
            _tell(home, people, server)
        complaints = [line for person in people for line in _judged(person)]
        complaints += _left(home, server)
    return complaints + _stored(home)


def _kernel(n: int, home: Path, url: str) -> Kernel:
    """The n-th: of each kind in turn; every other pair keeps no outputs, so that what grows there is ours."""
    profile = home / f"ipython{n}" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_kernel_config.py").write_text("" if n % 4 >= 2 else f"c = get_config()\n{FORGETFUL}")
    environ = SETTINGS | {"HERMES_BASE_URL": url, "IPYTHONDIR": str(home / f"ipython{n}"), "HERMES_SOAK": str(home)}
    return Kernel(*KINDS[n % len(KINDS)], home, **environ)


def _tell(home: Path, people: list[Person], server: Server) -> None:
    files = [path for path in home.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files if path.exists()) / MB
    journals = sum(path.suffix == ".jsonl" for path in files)
    print(f"\n{time.strftime('%H:%M:%S')} {size:.1f} MB in {len(files)} files ({journals} journals), "
          f"{len(server.requests)} requests, {server.connected} connected")  # fmt: skip
    for person in people:
        last = person.samples[-1] if person.samples else ""
        print(f"  {person.number}: {person.deeds.total()} deeds, {len(person.odd)} odd; {last}", flush=True)


def _judged(person: Person) -> list[str]:
    """What one kernel has to answer for."""
    name, python = KINDS[person.number % len(KINDS)]
    forgetful = person.number % 4 < 2
    who = f"kernel {person.number} ({name}, ipykernel {ipykernel_of(python)}, {'no outputs kept' if forgetful else 'outputs kept'})"
    told = [f"{who}: {line}" for line in person.odd]
    warm = person.samples[max(1, len(person.samples) // 3) :]
    if len(warm) < 3:
        return [*told, f"{who}: too few samples to say anything: {len(person.samples)}"]
    rise = slope(warm)
    print(f"\n{who}: {dict(person.deeds)}, ends {dict(person.ends)}\n  first {person.samples[0]}\n  warm  {warm[0]}\n"
          f"  last  {warm[-1]}\n  {rise:+.1f} MB an hour\n  more of {grown(warm[0], warm[-1])}")  # fmt: skip
    if forgetful and rise > GROWTH and warm[-1].rss - warm[0].rss > 8 * MB:
        told.append(f"{who}: {rise:.1f} MB an hour")
    return told + [f"{who}: {line}" for line in _counted(warm[0], warm[-1])]


def _counted(before: Sample, after: Sample) -> list[str]:
    """What there is more of at the end than when it was warm."""
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in SPARE}
    pairs["threads"] = (len(before.threads), len(after.threads))
    return [
        f"{one} {name} became {two}: {after.threads}" for name, (one, two) in pairs.items() if two > one + SPARE[name]
    ]


def _left(home: Path, server: Server) -> list[str]:
    """What lives on after the last notebook was closed."""
    end = time.monotonic() + LEAVING
    while (carrying(f"HERMES_SOAK={home}") or server.connected) and time.monotonic() < end:
        time.sleep(0.5)
    told = [f"process {pid} lives on: {_command(pid)}" for pid in carrying(f"HERMES_SOAK={home}")]
    return told + ([f"{server.connected} connections are open"] if server.connected else [])


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:300]


def _stored(home: Path) -> list[str]:
    """Whether each session that anybody has begun is whole."""
    told = []
    with closing(Store(home, clock=SystemClock(), ids=lambda: uuid4().hex)) as store:
        if waiting := store.fold().waiting:
            told.append(f"the store is not folded: {waiting}")
        with store.connect() as connection:
            sessions = [row[0] for row in connection.execute("SELECT id FROM sessions").fetchall()]
        for session in sessions:
            try:
                whole(recall(store.recall(session)).transcript)
            except Exception as error:
                told.append(f"session {session} is not whole: {error!r}")
    print(f"\n{len(sessions)} sessions looked at")
    return told


if __name__ == "__main__":
    sys.exit(main())
