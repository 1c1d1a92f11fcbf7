"""Where runs are kept: ``curator/<UTC time>/`` with ``run.json``, ``REPORT.md`` and ``snapshot.json``, and beside
them the clock of the curator. A file that cannot be understood is passed over and left where it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from hermes_kernel.core.learning.curating_report import report
from hermes_kernel.core.learning.curating_runs import Run, plain, understood
from hermes_kernel.core.redact import redact, redact_plain
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.world.store.disk import FULL, full, make, plain_in, put, sync_folder
from hermes_kernel.world.store.locks import Busy, held

FOLDER, LOCK, CLOCK = "curator", "lock", "clock.json"
RUN, REPORT, SNAPSHOT = "run.json", "REPORT.md", "snapshot.json"
TIME = "%Y-%m-%dT%H-%M-%SZ"
LARGEST = 200_000_000  # bytes of a file; of the snapshot above all
NAMED = 5  # runs that an error names
BUSY = "The curator is at work in another process. `%hermes curator` says what came of it."


@dataclass(frozen=True, slots=True)
class Times:
    """What the curator must know from one run to the next; times in seconds since 1970-01-01 UTC. ``last``: the last
    run, or when it first looked; ``run``: the id of that run; ``stale``: for which time each skill was made stale;
    ``seen``: when it first saw skills of which nobody recorded the making; ``reviewed``: when a model was asked."""

    last: float = 0.0
    run: str = ""
    stale: Mapping[str, float] = field(default_factory=dict)
    seen: Mapping[str, float] = field(default_factory=dict)
    reviewed: Mapping[str, float] = field(default_factory=dict)


class Shelf:
    """That of one home."""

    def __init__(self, home: Path) -> None:
        self.root = home / FOLDER

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be the one curator of this home, of any process.

        Raises:
            HermesError: another is at work, or the home cannot be written.
        """
        with explaining(self.root):
            try:
                with held(self.root / LOCK, 0):
                    yield
            except Busy:
                raise HermesError(BUSY) from None

    def begin(self, t: float) -> str:
        """The id of a new run, and its folder. For whoever is `alone`.

        Raises:
            HermesError: it cannot be made.
        """
        at = datetime.fromtimestamp(t, UTC).strftime(TIME)
        names = (at if n == 1 else f"{at}-{n}" for n in count(1))
        name = next(name for name in names if not (self.root / name).exists())
        with explaining(self.root):
            make(self.root / name)
            sync_folder(self.root)
        return name

    def save(self, run: Run) -> None:
        """Have ``run.json`` say this, on disk, without secrets.

        Raises:
            HermesError: it cannot be written.
        """
        self._put(run.id, RUN, json.dumps(redact_plain(plain(run)), ensure_ascii=False, indent=1))

    def finish(self, run: Run) -> None:
        """As `save`, and draw the report.

        Raises:
            HermesError: it cannot be written.
        """
        self._put(run.id, REPORT, redact(report(run)))
        self.save(run)

    def runs(self) -> tuple[Run, ...]:
        """All that can be read, the oldest first."""
        with suppress(OSError):
            names = sorted(entry.name for entry in os.scandir(self.root) if entry.is_dir())
            return tuple(run for name in names if (run := self._run(name)) is not None)
        return ()

    def find(self, name: str) -> Run:
        """The run whose id is `name` or begins with it; ``last``: the last one.

        Raises:
            HermesError: there is none, or there are several; the text names those there are.
        """
        runs = self.runs()
        if name == "last" and runs:
            return runs[-1]
        begun = [run for run in runs if name and run.id.startswith(name)]
        meant = [run for run in begun if run.id == name] or begun
        if len(meant) == 1:
            return meant[0]
        there = ", ".join(run.id for run in (meant or runs)[-NAMED:]) or "none yet"
        raise HermesError(f"{'Several runs begin with' if meant else 'There is no run'} {brief(name, 40)!r}: {there}.")

    def report(self, run: Run) -> str:
        """The page of a run, drawn anew where it was lost."""
        with suppress(OSError):
            return (self.root / run.id / REPORT).read_text(encoding="utf-8", errors="replace")
        return report(run)

    def times(self) -> Times:
        """What is known of earlier runs."""
        said = plain_in(self.root / CLOCK, LARGEST)
        last, run = said.get("last"), said.get("run")
        known = {name: _times(said.get(name)) for name in ("stale", "seen", "reviewed")}
        return Times(_time(last), run if isinstance(run, str) else "", **known)

    def keep_times(self, times: Times) -> None:
        """Know this at the next run.

        Raises:
            HermesError: it cannot be written.
        """
        said = {name: getattr(times, name) for name in ("last", "run", "stale", "seen", "reviewed")}
        self._put("", CLOCK, json.dumps(said, ensure_ascii=False, indent=1, sort_keys=True))

    def keep_snapshot(self, run: str, snapshot: Mapping[str, Any]) -> None:
        """Write what there was before the run.

        Raises:
            HermesError: it cannot be written.
        """
        self._put(run, SNAPSHOT, json.dumps(snapshot, ensure_ascii=False, indent=1, sort_keys=True))

    def snapshot(self, run: str) -> dict[str, Any]:
        """What there was before the run; empty where no snapshot was finished."""
        return plain_in(self.root / run / SNAPSHOT, LARGEST)

    def _run(self, name: str) -> Run | None:
        with suppress(ValueError):
            run = understood(plain_in(self.root / name / RUN, LARGEST))
            return run if run.id == name else None
        return None

    def _put(self, run: str, file: str, text: str) -> None:
        folder = self.root / run
        with explaining(self.root):
            make(folder)
            put(text.encode("utf-8", "replace"), folder / file, folder / f".{file}.{os.getpid()}")
            sync_folder(folder)


@contextmanager
def explaining(root: Path) -> Iterator[None]:
    """What the disk refuses, as the error that faces show."""
    try:
        yield
    except OSError as error:
        why = full(root) if error.errno in FULL else f"cannot use {error.filename or root}: {error.strerror or error}"
        raise HermesError(f"The curator {why}" if why.startswith("cannot") else why) from error


def _time(said: Any) -> float:
    return float(said) if isinstance(said, (int, float)) and not isinstance(said, bool) else 0.0


def _times(said: Any) -> dict[str, float]:
    known = said.items() if isinstance(said, dict) else ()
    return {name: _time(t) for name, t in known}
