"""The record of a job as a fold: whatever comes late, twice or in another order, it says the same."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
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
    Settled,
    Skipped,
    StopWanted,
    Told,
)
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.ledger import Ledger, Tries, job_of, jobs, ledgers

ID, OTHER = "0123456789abcdef", "fedcba9876543210"
JOB = Job(ID, "one", "0 * * * *", "UTC", since=0.0)


def fold(*facts: object) -> Ledger:
    return ledgers([Dated(float(t), fact) for t, fact in enumerate(facts)])[ID]


def test_jobs_are_what_was_said_of_them_last_the_first_made_first():
    second = replace(JOB, id=OTHER, name="two")
    changed = replace(JOB, name="uno")
    told = [Dated(1, JobSet(JOB)), Dated(2, JobSet(second)), Dated(3, JobSet(changed))]
    assert list(jobs(told).values()) == [changed, second]
    assert jobs([*told, Dated(4, JobRemoved(ID))]) == {OTHER: second}
    assert jobs([*told, Dated(4, JobRemoved(ID)), Dated(5, JobSet(JOB))]) == {OTHER: second}, "removed is removed"


def test_of_two_changes_in_one_moment_the_later_counts():
    assert jobs([Dated(1, JobSet(JOB)), Dated(1, JobSet(replace(JOB, name="uno")))])[ID].name == "uno"


def test_what_a_job_was_at_any_time_is_known():
    ledger = ledgers([Dated(5, JobSet(JOB)), Dated(9, JobSet(replace(JOB, name="uno"))), Dated(12, JobRemoved(ID))])[ID]
    assert [job.name for t in (1, 5, 8.9, 9, 20) if (job := ledger.job_at(t))] == ["one", "one", "one", "uno", "uno"]
    assert ledger.removed
    assert ledger.job is not None
    assert ledger.job.name == "uno"
    assert Ledger().job_at(3) is None
    assert Ledger().job is None


def test_a_run_ends_once_by_the_first_that_knew_it():
    begun = RunBegan(ID, "r", 60.0)
    ran, again = RunEnded(ID, "r", 60.0, "ran", text="all"), RunEnded(ID, "r", 60.0, "failed", "other")
    guess, cut = (
        RunEnded(ID, "r", 60.0, "failed", ORPHANED, guessed=True),
        RunEnded(ID, "r", 60.0, "failed", UNREACHED, guessed=True),
    )
    assert fold(begun, ran, again).last == ran
    assert fold(begun, ran, guess).last == ran
    assert fold(begun, guess, ran).last == ran, "its own end has come to light"
    assert fold(begun, guess, cut).last == guess
    assert fold(begun, cut, ran, guess).last == ran


def test_a_run_is_open_until_its_end_however_late_either_arrives():
    begun, end = RunBegan(ID, "r", 60.0), RunEnded(ID, "r", 60.0, "ran")
    assert fold(begun).open == begun
    assert fold(JobSet(JOB), begun, begun).opened == 1.0, "since it was first told of"
    assert fold(begun, begun).runs == 1
    assert fold(begun, end).open is None
    assert fold(end, begun).open is None


def test_wishes_are_pending_until_they_begin_or_end():
    wish = RunWanted(ID, "r", "model")
    assert [(each.run, each.due, each.by) for each in fold(wish, wish).wanted] == [("r", 0.0, "model")]
    assert not fold(wish, RunBegan(ID, "r", 0.0, asked=True)).wanted
    assert not fold(wish, RunEnded(ID, "r", 0.0, "stopped")).wanted
    assert fold(wish, RunBegan(ID, "r", 0.0, asked=True)).runs == 0


def test_a_stop_belongs_to_the_job_whose_run_it_names_and_the_first_who_asked_is_named():
    other = RunBegan(OTHER, "fedcba98-x", 1.0)
    told = [
        StopWanted("01234567-x", "model"),
        StopWanted("01234567-x"),
        StopWanted("fedcba98-x"),
        RunWanted(ID, "w"),
        other,
    ]
    found = ledgers([Dated(float(t), fact) for t, fact in enumerate(told)])
    assert dict(found[ID].stops) == {"01234567-x": "model"}
    assert dict(found[OTHER].stops) == {"fedcba98-x": "person"}


def test_what_was_let_go_of_since_the_last_run_is_counted_once():
    ledger = fold(
        Skipped(ID, (1.0, 2.0), ""), RunBegan(ID, "r", 3.0), Skipped(ID, (4.0, 5.0), ""), Skipped(ID, (5.0,), "")
    )
    assert (ledger.missed, ledger.through, ledger.runs) == (2, 5.0, 1)


def test_a_change_comes_after_what_it_changes_whatever_the_clock_says():
    paused, back = replace(JOB, enabled=False), replace(JOB, since=60.0)
    told = [Dated(100.0, JobSet(JOB)), Dated(50.0, JobSet(paused, after=101.0)), Dated(60.0, JobSet(back, after=102.0))]
    assert jobs(told[:2]) == {ID: paused}
    assert [plan.t for plan in ledgers(told)[ID].plans] == [100.0, 50.0, 60.0]
    assert jobs([*told, Dated(70.0, JobRemoved(ID, after=103.0))]) == {}


def test_tries_add_up_and_who_was_told_stays_told():
    begun, end = RunBegan(ID, "r", 1.0), RunEnded(ID, "r", 1.0, "failed")
    (ending,) = fold(begun, end, Told(ID, "r", "a", "no", 1), Told(ID, "r", "a", "no", 2), Told(ID, "r", "b")).endings
    assert dict(ending.tries) == {"a": Tries(2, 3.0), "b": Tries(0, 4.0, done=True)}
    (ending,) = fold(begun, end, Told(ID, "r", "a"), Told(ID, "r", "a", "no", 2)).endings
    assert ending.tries["a"].done
    (ending,) = fold(begun, end, Told(ID, "r", "a", "no", 2), Told(ID, "r", "a", "no", 1)).endings
    assert ending.tries["a"].attempts == 2, "also where clocks differ"
    assert not fold(begun, Told(ID, "r", "a")).endings, "nobody is told of what has not ended"


def test_before_what_was_settled_nothing_counts_whatever_of_it_is_read():
    base = Settled(ID, 100.0, 7, "r0", "ran", 50.0)
    ledger = fold(RunBegan(ID, "r", 90.0), base)
    assert (ledger.open, ledger.runs, ledger.through) == (None, 7, 100.0)
    asked = fold(RunBegan(ID, "r", 90.0, asked=True), base)
    assert asked.open is None, "the wish for it was not read: it was over long ago"
    assert not fold(RunEnded(ID, "r", 90.0, "failed"), base).endings
    late = fold(base, RunWanted(ID, "w"), Settled(ID, 50.0, 3))
    assert [each.run for each in late.wanted] == ["w"]
    assert (late.runs, late.through) == (7, 100.0), "the one that reaches further counts"


def test_every_fact_says_whose_it_is():
    assert job_of(JobSet(JOB)) == job_of(JobRemoved(ID)) == job_of(Told(ID, "r", "a")) == ID
    assert job_of(StopWanted("r")) == ""


FACTS = [
    JobSet(JOB), RunWanted(ID, "w1"), RunWanted(ID, "w2"), RunBegan(ID, "w1", 5.0, asked=True), RunEnded(ID, "w1", 5.0, "ran"),
    RunBegan(ID, "a", 10.0), RunEnded(ID, "a", 10.0, "failed", ORPHANED, guessed=True), RunEnded(ID, "a", 10.0, "ran"),
    RunBegan(ID, "b", 20.0), Skipped(ID, (11.0, 12.0), "x"), Skipped(ID, (21.0,), "y"), Told(ID, "a", "t", "no", 1),
    Told(ID, "a", "t", "no", 2), Told(ID, "w1", "t"), StopWanted("01234567-b"), Settled(ID, 8.0, 2, "z", "ran", 8.0),
]  # fmt: skip


@given(st.permutations(list(enumerate(FACTS))), st.lists(st.integers(0, len(FACTS) - 1)))
@settings(max_examples=100)
def test_any_order_of_arrival_and_any_repetition_give_the_same_record(order, again):
    dated = [Dated(float(t), fact) for t, fact in enumerate(FACTS)]
    late = [Dated(float(t), fact) for t, fact in order]
    assert ledgers([*late, *(dated[n] for n in again)]) == ledgers(dated)
