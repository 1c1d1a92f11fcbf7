"""What became of each instant is one row, whatever is said twice, late or in another order; and what comes next."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.learnt import Dated
from hermes_kernel.core.planned import (
    ORPHANED,
    UNREACHED,
    JobRemoved,
    JobSet,
    RunBegan,
    RunEnded,
    RunWanted,
    Skipped,
    StopWanted,
    Told,
)
from hermes_kernel.core.schedule.due import run_id
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.outlook import awaited, outlook
from hermes_kernel.core.schedule.rows import RunRow, called, rows

DUE = 1_796_126_400.0  # Tuesday, 1 December 2026, 12:00 UTC
JOB = Job("0123456789abcdef", "report", "every 1h", "UTC", DUE, skills=("plotting-well",))
RUN, ASKED = run_id(JOB.id, DUE), f"{run_id(JOB.id, DUE)}-asked-00ff"
BEGAN = RunBegan(JOB.id, RUN, DUE, notebook="/runs/x.ipynb")
RAN = RunEnded(JOB.id, RUN, DUE, "ran", text="All is well.", session="s", silent=True)


def dated(*facts):
    """These facts, a second apart, the first at the instant."""
    return tuple(Dated(DUE + n, fact) for n, fact in enumerate(facts))


def one(*facts):
    (row,) = rows(dated(*facts), {JOB.id: "report"})
    return row


def test_a_run_is_told_from_its_beginning_to_its_end():
    assert one(BEGAN, RAN) == RunRow(
        JOB.id, RUN, DUE, "report", began=DUE, ended=DUE + 1, outcome="ran", session="s", notebook="/runs/x.ipynb", silent=True
    )  # fmt: skip
    assert one(BEGAN, RAN).seconds == 1.0


@pytest.mark.parametrize(
    ("facts", "outcome", "why", "seconds"),
    [
        ((BEGAN,), "running", "", None),
        ((Skipped(JOB.id, (DUE,), "late"),), "skipped", "late", None),
        ((RunWanted(JOB.id, ASKED),), "waiting", "", None),
        ((RAN,), "ran", "", None),
        ((RAN, BEGAN), "ran", "", 0.0),
        ((Skipped(JOB.id, (DUE,), "late"), BEGAN), "running", "", None),
        ((BEGAN, Skipped(JOB.id, (DUE,), "late"), RAN), "ran", "", 2.0),
        ((Skipped(JOB.id, (DUE,), "late"), Skipped(JOB.id, (DUE,), "later")), "skipped", "late", None),
        ((BEGAN, RAN, replace(RAN, outcome="failed", why="no")), "ran", "", 1.0),
        ((BEGAN, replace(RAN, outcome="failed", why=ORPHANED, guessed=True), RAN), "ran", "", 2.0),
        ((BEGAN, RAN, replace(RAN, outcome="failed", why=ORPHANED, guessed=True)), "ran", "", 1.0),
        ((BEGAN, replace(RAN, outcome="failed", why=UNREACHED, guessed=True), RAN), "ran", "", 2.0),
    ],
)
def test_an_instant_ends_in_one_way_whatever_else_is_said_of_it(facts, outcome, why, seconds):
    row = one(*facts)
    assert (row.outcome, row.why, row.seconds) == (outcome, why, seconds)


def test_a_run_that_was_asked_for_is_one_row_whether_or_not_it_began():
    wanted, began = RunWanted(JOB.id, ASKED, "model"), RunBegan(JOB.id, ASKED, DUE, asked=True)
    for facts in ((wanted,), (wanted, wanted), (wanted, began), (began, wanted), (began,)):
        row = one(*facts)
        assert (row.asked, row.due, row.run) == (True, DUE, ASKED)
    stopped = RunEnded(JOB.id, ASKED, DUE, "stopped", "stopped by person before it began")
    assert one(wanted, stopped).outcome == "stopped"


def test_who_was_told_is_counted_once_each():
    row = one(
        BEGAN, RAN, Told(JOB.id, RUN, "team", "no network", 1), Told(JOB.id, RUN, "team", attempt=2),
        Told(JOB.id, RUN, "team"), Told(JOB.id, RUN, "mail", "refused"), Told(JOB.id, RUN, "mail", "refused", 2),
    )  # fmt: skip
    assert (row.told, row.untold) == (1, 1)


def test_what_is_no_run_makes_no_row():
    assert rows(dated(JobSet(JOB), JobRemoved(JOB.id), StopWanted(RUN), Told(JOB.id, RUN, "team")), {}) == ()


@given(st.permutations([0, 1, 2, 3]), st.integers(1, 3))
def test_rows_are_the_newest_instant_first_and_one_for_each(order, times):
    facts = [Skipped(JOB.id, (DUE + 60 * n, DUE + 600 * n), "late") for n in order] * times
    found = rows(dated(*facts), {})
    assert [row.due for row in found] == sorted({row.due for row in found}, reverse=True)
    assert len({row.run for row in found}) == len(found) == 7


def test_a_job_is_called_as_it_was_last_also_after_it_was_removed():
    renamed = JobSet(replace(JOB, name="renamed"))
    assert called(dated(JobSet(JOB), renamed, JobRemoved(JOB.id), JobSet(JOB))) == {JOB.id: "renamed"}
    assert called(dated(JobRemoved(JOB.id))) == {}


# --- what comes next


def test_without_jobs_nothing_comes():
    assert outlook(()) == "no jobs yet"
    assert outlook(dated(JobSet(JOB), JobRemoved(JOB.id))) == "no jobs yet"


def test_the_earliest_of_all_jobs_is_named():
    late = replace(JOB, id="f" * 16, name="later", schedule="every 5h")
    assert outlook(dated(JobSet(late), JobSet(JOB))) == "2026-12-01 13:00 UTC: report"


def test_jobs_of_which_none_is_due_are_counted():
    paused = replace(JOB, enabled=False)
    unread = replace(JOB, id="f" * 16, schedule="whenever the moon is blue")
    assert outlook(dated(JobSet(paused))) == "1 job, none enabled"
    failed = Told(JOB.id, RUN, "team", "no network")
    untold = dated(JobSet(replace(JOB, deliver=("team",))), BEGAN, replace(RAN, silent=False), failed)
    assert outlook(untold) == "2026-12-01 13:00 UTC: report"  # that somebody is told later is no run
    assert outlook(dated(JobSet(paused), JobSet(unread))) == "2 jobs, none due again"


def test_skills_are_awaited_that_a_living_job_names():
    other = replace(JOB, id="f" * 16, skills=("monthly-report", "plotting-well"))
    assert awaited(dated(JobSet(JOB), JobSet(other))) == {"plotting-well", "monthly-report"}
    assert awaited(dated(JobSet(JOB), JobSet(other), JobRemoved(other.id))) == {"plotting-well"}
