"""The same stops as in `stopping`, of the peers: each as it is stopped, by Ctrl-C or by what it offers for that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from tests.bench.contenders import PEERS, worked
from tests.bench.looping import SYNC_ONLY
from tests.bench.rows import Row, medians
from tests.bench.serving import SILENCE, serving
from tests.bench.stopping import LIMIT, PHASES

AT_MOST = 10.0
"""Seconds for which control is waited for."""

ENDED = 300.0
"""Seconds after which a process is ended that has said nothing."""

JOBS = {
    "silent": "stop silent sync",
    "unanswered": "stop unanswered sync",
    "backoff": "stop busy sync",
    "sync": "stop batch sync",
    "async": "stop batch",
}


def rows(rounds: int, contenders: Sequence[str]) -> Iterator[Row]:
    """Under the names that the lines of ours have."""
    who = [each for each in contenders if each in PEERS]
    with serving() as url:
        for phase, job in JOBS.items():
            asked = [each for each in who if not (phase == "async" and each == SYNC_ONLY)]
            values = medians(rounds, asked, partial(_stopped, job=job, url=url))
            never = [each for each, value in values.items() if value is None]
            note = f"{', '.join(never)}: not back within {AT_MOST:.0f} s" if never else ""
            yield Row("stops", f"interrupt {PHASES[phase].what}", "s", values, note=note)
        yield _stalls(rounds, who, url)


def _stopped(each: str, job: str, url: str) -> float | None:
    wall: float | None = worked(each, job, url, 8, (AT_MOST, ENDED)).get("wall")
    return wall


def _stalls(rounds: int, who: Sequence[str], url: str) -> Row:
    """Until an answer, or an error, with a timeout of its own kind set to the limit."""
    failed = dict[str, str]()

    def sample(each: str) -> float | None:
        told = worked(each, "stall sync", url, 1, (LIMIT, ENDED))
        if told.get("error"):
            failed[each] = told["error"].split(":")[0]
        return told.get("wall")

    values = medians(rounds, who, sample)
    errors = ", ".join(f"{each} with {error}" for each, error in failed.items())
    note = f"{errors}: an error, no answer" if errors else ""
    return Row("stops", f"a stream silent for {SILENCE:.0f} s, limit {LIMIT:.0f} s", "s", values, note=note)
