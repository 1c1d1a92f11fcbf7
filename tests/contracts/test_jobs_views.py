"""The views of jobs and of their runs say what the fold of facts says, folded or not, in whatever order facts came."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC

import pytest

from hermes_kernel.core.planned import (
    LEDGER,
    ORPHANED,
    SCHEDULE,
    UNREACHED,
    JobRemoved,
    JobSet,
    RunBegan,
    RunEnded,
    RunWanted,
    Settled,
    Skipped,
    StopWanted,
    Told,
)
from hermes_kernel.core.schedule.due import run_id
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.rows import rows
from hermes_kernel.scheduling.history import names
from hermes_kernel.world.chronicle import Chronicle
from tests.contracts.stores import counted, store

DUE = 1_796_126_400.0
JOBS = [Job(f"{n:08x}00000000", f"job-{n}", "every 1h", "UTC", DUE, prompt="'; DROP VIEW jobs; --") for n in range(3)]


def scheduled(seed, count=120):
    """Facts about a few jobs as they would come, and as they would not."""
    chance = random.Random(seed)
    facts = [JobSet(job) for job in JOBS[:2]]
    for _ in range(count):
        job, due = chance.choice(JOBS), DUE + 3_600 * chance.randrange(12)
        asked = chance.random() < 0.2
        run = run_id(job.id, due) + ("-asked-00ff" if asked else "")
        facts.append(
            chance.choice(
                [
                    RunWanted(job.id, f"{run_id(job.id, due)}-asked-00ff"),
                    RunBegan(job.id, run, due, asked, "/runs/x.ipynb"),
                    RunBegan(job.id, run, due, asked),
                    RunEnded(job.id, run, due, "ran", session="s"),
                    RunEnded(job.id, run, due, "failed", "no ' model\n\0"),
                    RunEnded(job.id, run, due, "failed", ORPHANED, guessed=True),
                    RunEnded(job.id, run, due, "failed", UNREACHED, guessed=True),
                    RunEnded(job.id, run, due, "stopped", "by person", silent=True),
                    Skipped(job.id, (due, due + 3_600, due + 7_200), "missed by 3 h"),
                    Skipped(job.id, (), "nothing"),
                    Told(job.id, run, chance.choice(["team", "mail"]), chance.choice(["", "no network"])),
                    StopWanted(run),
                    Settled(job.id, due),
                    JobSet(replace(job, name=chance.choice(["other", job.name]), enabled=chance.random() < 0.5)),
                ]
            )
        )
    return facts


def view(log, question):
    with log.connect() as connection:
        answer = connection.execute(question)
        columns = [column[0] for column in answer.description]
        return [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]


def seconds(time):
    return None if time is None else time.replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize("seed", range(4))
def test_the_view_of_runs_is_the_fold_of_facts(tmp_path, seed):
    log = store(tmp_path)
    chronicle, other = Chronicle(log, counted("p"), SCHEDULE), Chronicle(log, counted("q"), SCHEDULE)
    for n, fact in enumerate(scheduled(seed)):
        (chronicle if n % 3 else other).record(fact)
        if n == 60:
            log.fold()
    folded = rows(log.learnt(LEDGER), names(log))
    seen = view(log, "SELECT * FROM job_runs ORDER BY due DESC, run DESC, job DESC")
    assert len(folded) == len(seen) > 20
    for row, there in zip(folded, seen, strict=True):
        assert there == {
            "job": row.job, "name": row.name, "run": row.run, "due": there["due"], "asked": row.asked,
            "began": there["began"], "ended": there["ended"], "outcome": row.outcome, "why": row.why,
            "seconds": row.seconds, "session": row.session, "notebook": row.notebook, "silent": row.silent,
            "told": row.told, "untold": row.untold,
        }  # fmt: skip
        assert [seconds(there[name]) for name in ("due", "began", "ended")] == [row.due, row.began, row.ended]
    assert {row.outcome for row in folded} == {"ran", "failed", "stopped", "skipped", "running", "waiting"}


def test_a_job_is_what_it_was_changed_to_though_the_clock_was_set_back(tmp_path):
    log = store(tmp_path)
    first, second, _ = JOBS
    now = 4e9  # of a clock that was far ahead
    Chronicle(log, counted("z"), SCHEDULE).record(
        JobSet(first, after=now), JobSet(replace(first, name="renamed"), after=now + 2),
        JobSet(second, after=now), JobRemoved(second.id, after=now + 1), JobSet(replace(second, name="late"), after=now + 2),
    )  # fmt: skip
    Chronicle(log, counted("a"), SCHEDULE).record(JobSet(replace(first, name="before"), after=now + 1))
    seen = view(log, "SELECT name, removed FROM jobs ORDER BY job")
    assert [tuple(row.values()) for row in seen] == [("renamed", False), ("job-1", True)]
    assert names(log) == {first.id: "renamed", second.id: "job-1"}


def test_a_job_is_one_row_also_when_it_was_removed(tmp_path):
    log = store(tmp_path)
    chronicle = Chronicle(log, counted("p"), SCHEDULE)
    first, second, _ = JOBS
    chronicle.record(JobSet(first, "model"), JobSet(second), JobSet(replace(first, name="renamed", enabled=False)))
    chronicle.record(JobRemoved(second.id), JobSet(replace(second, name="too late")))
    seen = view(log, "SELECT job, name, enabled, removed, who, prompt, made < changed AS later FROM jobs ORDER BY job")
    assert [tuple(row.values()) for row in seen] == [
        (first.id, "renamed", False, False, "model", first.prompt, True),
        (second.id, "job-1", True, True, "person", second.prompt, True),
    ]
    assert names(log) == {first.id: "renamed", second.id: "job-1"}
