"""What is to be done about a job: every rule of the policy, and the order in which they apply."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.learnt import Dated, Lesson
from hermes_kernel.core.planned import (
    ORPHANED,
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
from hermes_kernel.core.schedule.coming import LEAST_GRACE, MOST, coming, grace, over, share
from hermes_kernel.core.schedule.due import (
    ATTEMPTS,
    MANY,
    PAUSES,
    Begin,
    Close,
    Settle,
    Skip,
    Step,
    Tell,
    asked_id,
    decide,
    next_due,
    next_known,
    next_start,
    run_id,
    who,
)
from hermes_kernel.core.schedule.job import DESKTOP, MISFIRES, NONE, NOTEBOOK, Job
from hermes_kernel.core.schedule.ledger import Ledger, ledgers

T = 1_796_000_400.0  # Sun 29 Nov 2026 21:00 UTC, on the hour
HOUR, DAY = 3_600.0, 86_400.0
ID = "0123456789abcdef"
HOURLY = Job(ID, "hourly", "0 * * * *", "UTC", since=T, prompt="Look.", deliver=("team",))


def ledger_of(job: Job, *facts: tuple[float, Lesson], made: float = T) -> Ledger:
    return ledgers([Dated(made, JobSet(job)), *(Dated(t, fact) for t, fact in facts)])[job.id]


def step(job: Job, now: float, *facts: tuple[float, Lesson]) -> Step | None:
    return decide(job, ledger_of(job, *facts), now)


def began(due: float, *, run: str = "", asked: bool = False) -> tuple[float, RunBegan]:
    return due, RunBegan(ID, run or run_id(ID, due), due, asked, "/h/runs/x.ipynb", "here")


def ended(due: float, outcome: str = "ran", *, at: float = 0.0, run: str = "", silent: bool = False, why: str = ""):
    return at or due + 60, RunEnded(ID, run or run_id(ID, due), due, outcome, why, "text", silent=silent)


def played(job: Job, now: float, *facts: tuple[float, Lesson], most: int = 50) -> tuple[list[Step], Ledger]:
    """What is done until there is nothing left to do, each run ending well at once."""
    told = list(facts)
    steps: list[Step] = []
    for _ in range(most):
        found = step(job, now, *told)
        if found is None:
            break
        steps.append(found)
        match found:
            case Begin(run, due, asked):
                told += [(now, RunBegan(ID, run, due, asked)), (now, RunEnded(ID, run, due, "ran"))]
            case Skip(due, why):
                told.append((now, Skipped(ID, due, why)))
            case Tell(run, target, attempt):
                told.append((now, Told(ID, run.run, target, attempt=attempt)))
            case Close(fact) | Settle(fact):
                told.append((now, fact))
    return steps, ledger_of(job, *told)


def test_nothing_is_done_before_an_instant_and_one_run_begins_at_it():
    assert step(HOURLY, T) is None
    assert step(HOURLY, T + HOUR - 1) is None
    assert step(HOURLY, T + HOUR) == Begin(run_id(ID, T + HOUR), T + HOUR)
    assert (
        step(
            HOURLY, T + HOUR, began(T + HOUR), ended(T + HOUR), (T + HOUR + 61, Told(ID, run_id(ID, T + HOUR), "team"))
        )
        is None
    )


def test_a_run_is_called_by_its_job_and_its_instant():
    assert run_id(ID, T) == "01234567-20261130T010000Z"
    assert asked_id(ID, T, "beef") == "01234567-20261130T010000Z-asked-beef"


@pytest.mark.parametrize(
    ("misfire", "runs", "skips"), [("skip", [], [1, 2, 3]), ("once", [3], [1, 2]), ("all", [1, 2, 3], [])]
)
def test_instants_that_nobody_was_there_for_are_let_go_of_made_up_for_once_or_each_run(misfire, runs, skips):
    job = replace(HOURLY, misfire=misfire, deliver=(NONE,))
    steps, ledger = played(job, T + 3 * HOUR + 45 * 60)
    assert [each.due for each in steps if isinstance(each, Begin)] == [T + n * HOUR for n in runs]
    assert [due for each in steps if isinstance(each, Skip) for due in each.due] == [T + n * HOUR for n in skips]
    assert ledger.through == T + 3 * HOUR


def test_of_those_missed_by_skip_the_latest_runs_while_it_is_on_time():
    job = replace(HOURLY, misfire="skip", deliver=(NONE,))
    steps, _ = played(job, T + 3 * HOUR + 29 * 60)
    assert steps == [
        Skip((T + HOUR, T + 2 * HOUR), "missed by 1 h 29 min or more"), Begin(run_id(ID, T + 3 * HOUR), T + 3 * HOUR, missed=2)
    ]  # fmt: skip
    steps, _ = played(job, T + HOUR + 31 * 60)
    assert steps == [Skip((T + HOUR,), "missed by 31 min")]


def test_a_run_that_makes_up_for_others_is_named_by_them():
    (first, second), _ = played(replace(HOURLY, deliver=()), T + 2 * HOUR)
    assert first == Skip((T + HOUR,), "made up for by the run of 2026-11-30 03:00:00 UTC")
    assert second == Begin(run_id(ID, T + 2 * HOUR), T + 2 * HOUR, missed=1)


@pytest.mark.parametrize("misfire", MISFIRES)
def test_one_run_at_a_time_and_what_came_due_meanwhile_is_said_so(misfire):
    job = replace(HOURLY, misfire=misfire, deliver=(NONE,))
    facts = (began(T + HOUR), ended(T + HOUR, at=T + 3 * HOUR + 120))
    steps, _ = played(job, T + 3 * HOUR + 120, *facts)
    if misfire == "all":
        assert [each.due for each in steps] == [T + 2 * HOUR, T + 3 * HOUR]
    else:
        assert steps[0] == Skip((T + 2 * HOUR,), "an earlier run was still going")
        assert steps[1] == Begin(run_id(ID, T + 3 * HOUR), T + 3 * HOUR, missed=1)


def test_the_grace_of_a_job_is_half_the_time_to_the_next_instant_within_bounds_or_what_it_says():
    assert grace(HOURLY, T + HOUR) == HOUR / 2
    assert grace(replace(HOURLY, schedule="* * * * *"), T + 60) == LEAST_GRACE
    assert grace(replace(HOURLY, schedule="0 9 * * *"), T) == 7_200
    assert grace(replace(HOURLY, schedule="2026-12-01T08:00:00Z"), T + DAY) == 7_200, "there is no next one"
    assert grace(replace(HOURLY, grace=5.0), T + HOUR) == 5.0


def test_a_death_in_mid_run_is_closed_as_failed_and_told_and_not_run_again():
    steps, ledger = played(HOURLY, T + HOUR + 300, began(T + HOUR))
    end = RunEnded(ID, run_id(ID, T + HOUR), T + HOUR, "failed", ORPHANED, guessed=True)
    assert steps == [Close(end), Tell(end, "team", 1, "/h/runs/x.ipynb")]
    assert ledger.runs == 1


def test_after_a_death_what_came_due_until_it_was_noticed_is_missed_not_waited_for():
    steps, _ = played(replace(HOURLY, deliver=()), T + 3 * HOUR, began(T + HOUR))
    assert isinstance(steps[1], Skip)
    assert steps[1].why.startswith("made up for by the run of")


@pytest.mark.parametrize(
    ("outcome", "silent", "deliver", "tells"),
    [
        ("ran", False, ("team",), ["team"]),
        ("ran", True, ("team",), []),
        ("failed", False, ("team",), ["team"]),
        ("failed", True, ("team",), ["team"]),
        ("stopped", False, ("team",), []),
        ("ran", False, ("team", DESKTOP, "file:/tmp/x", "team"), ["team", DESKTOP, "file:/tmp/x"]),
        ("failed", False, (NONE,), []),
        ("failed", False, (NOTEBOOK,), []),
        ("failed", False, (), []),
    ],
)
def test_who_is_told_of_what(outcome, silent, deliver, tells):
    job = replace(HOURLY, deliver=deliver)
    steps, _ = played(job, T + HOUR + 61, began(T + HOUR), ended(T + HOUR, outcome, silent=silent))
    assert [each.target for each in steps if isinstance(each, Tell)] == tells


def test_told_are_those_whom_the_job_named_when_the_run_ended():
    job = replace(HOURLY, deliver=("new",))
    facts = (began(T + HOUR), ended(T + HOUR), (T + HOUR + 600, JobSet(job)))
    assert step(HOURLY, T + HOUR + 900, *facts) == Tell(facts[1][1], "team", 1, "/h/runs/x.ipynb")
    told = (T + HOUR + 901, Told(ID, run_id(ID, T + HOUR), "team"))
    assert step(HOURLY, T + HOUR + 900, *facts, told) is None


def test_of_a_job_of_which_nobody_told_what_it_was_no_one_is_told():
    ledger = ledgers([Dated(*began(T + HOUR)), Dated(*ended(T + HOUR))])[ID]
    assert decide(HOURLY, ledger, T + HOUR + 61) is None


def test_who_cannot_be_told_is_tried_three_times_later_and_later():
    run = run_id(ID, T + HOUR)
    facts = [began(T + HOUR), ended(T + HOUR, "failed")]
    now = T + HOUR + 61
    for attempt in range(1, ATTEMPTS + 1):
        ledger = ledger_of(HOURLY, *facts)
        assert decide(HOURLY, ledger, now) == Tell(facts[1][1], "team", attempt, "/h/runs/x.ipynb")
        facts.append((now, Told(ID, run, "team", "no route", attempt)))
        if attempt < ATTEMPTS:
            assert next_start(HOURLY, ledger_of(HOURLY, *facts)) == now + PAUSES[attempt - 1]
            assert step(HOURLY, now + PAUSES[attempt - 1] - 1, *facts) is None
            now += PAUSES[attempt - 1]
    assert step(HOURLY, T + HOUR + 3_000, *facts) is None
    assert step(HOURLY, now - DAY, *facts[:-1]) == Tell(facts[1][1], "team", 3, "/h/runs/x.ipynb"), "clock set back"


def test_what_somebody_wants_runs_at_once_also_of_a_paused_job_and_before_what_is_due():
    wish = (T + HOUR + 5.5, RunWanted(ID, "01234567-asked-1"))
    expected = Begin("01234567-asked-1", T + HOUR + 5, asked=True)
    assert step(HOURLY, T + HOUR + 6, wish) == expected
    paused = replace(HOURLY, enabled=False)
    assert step(paused, T + HOUR + 6, wish) == expected
    assert next_start(paused, ledger_of(paused, wish)) == T + HOUR + 5
    spent = replace(HOURLY, repeat=1, deliver=())
    assert step(spent, T + 2 * HOUR, began(T + HOUR), ended(T + HOUR), (T + 2 * HOUR, wish[1])) == replace(
        expected, due=T + 2 * HOUR
    )


def test_a_wish_is_granted_once_and_does_not_count_as_a_run_of_the_schedule():
    job = replace(HOURLY, repeat=1, deliver=())
    wish = (T + 5, RunWanted(ID, "01234567-asked-1"))
    steps, ledger = played(job, T + 6, wish, wish)
    assert [each.run for each in steps] == ["01234567-asked-1"]
    assert ledger.runs == 0
    assert not over(job, ledger)


def test_a_wish_that_is_stopped_or_whose_job_is_removed_before_it_began_ends_as_stopped():
    wish = (T + 5, RunWanted(ID, "01234567-asked-1"))
    stop = (T + 6, StopWanted("01234567-asked-1"))
    end = RunEnded(ID, "01234567-asked-1", T + 5, "stopped", "stopped by a person before it began")
    assert step(HOURLY, T + 7, wish, stop) == Close(end)
    assert step(HOURLY, T + 7, wish, (T + 6, JobRemoved(ID))) == Close(
        replace(end, why="the job was removed before it began")
    )
    other = (T + 5, RunWanted(ID, "01234567-asked-2"))
    assert step(HOURLY, T + 7, wish, other, (T + 6, StopWanted("01234567-asked-2", by="curator"))) == Close(
        replace(end, run="01234567-asked-2", why="stopped by the curator before it began")
    )


def test_a_stop_that_comes_before_its_instant_began_lets_go_of_it():
    stop = (T + HOUR, StopWanted(run_id(ID, T + HOUR), by="model"))
    assert step(HOURLY, T + HOUR, stop) == Skip((T + HOUR,), "stopped by a model before it began")
    assert who("review") == "the review"


def test_a_paused_job_is_never_due_and_one_that_had_all_its_runs_is_over():
    paused = replace(HOURLY, enabled=False)
    assert step(paused, T + 5 * HOUR) is None
    assert next_start(paused, ledger_of(paused)) is None
    twice = replace(HOURLY, repeat=2, deliver=(), misfire="all")
    steps, ledger = played(twice, T + 5 * HOUR)
    assert [each.due for each in steps] == [T + HOUR, T + 2 * HOUR]
    assert over(twice, ledger)
    assert next_start(twice, ledger) is None


def test_once_is_once():
    job = replace(HOURLY, schedule="2026-12-01T08:00:00Z", deliver=())
    (first,), ledger = played(job, T + 10 * DAY)
    assert isinstance(first, Begin)
    assert next_start(job, ledger) is None


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (JobSet(replace(HOURLY, enabled=False)), "the job was paused before it began"),
        (JobSet(replace(HOURLY, schedule="30 * * * *", since=T + 3 * HOUR)), "the job was changed before it began"),
        (JobRemoved(ID), "the job was removed before it began"),
    ],
)
def test_what_was_due_when_the_job_was_paused_changed_or_removed_is_in_the_record(after, why):
    job = after.job if isinstance(after, JobSet) else HOURLY
    ledger = ledger_of(HOURLY, (T + 3 * HOUR, after))
    assert next_start(job, ledger) == T + HOUR
    assert decide(job, ledger, T + 3 * HOUR) == Skip((T + HOUR, T + 2 * HOUR, T + 3 * HOUR), why)


def test_of_what_is_once_nothing_else_is_let_go_of():
    job = replace(HOURLY, schedule="2026-12-01T08:00:00Z")
    steps, ledger = played(job, T + 9 * DAY, (T + 3 * DAY, JobSet(replace(job, enabled=False))))
    assert [type(each) for each in steps] == [Skip]
    assert next_start(replace(job, enabled=False), ledger) is None


def test_a_change_of_anything_but_the_schedule_lets_go_of_nothing():
    job = replace(HOURLY, prompt="Look again.", misfire="all")
    assert step(job, T + 3 * HOUR, (T + 2.5 * HOUR, JobSet(job))) == Begin(run_id(ID, T + HOUR), T + HOUR)


@pytest.mark.parametrize("unread", [{"schedule": "whenever the moon is blue"}, {"zone": "Mars/Olympus"}])
def test_of_a_schedule_that_cannot_be_read_here_nothing_is_known_to_come(unread):
    assert next_known(HOURLY, ledger_of(HOURLY)) == next_due(HOURLY, ledger_of(HOURLY)) == T + HOUR
    job = replace(HOURLY, **unread)
    assert next_known(job, ledger_of(job)) is next_due(job, ledger_of(job)) is None


@pytest.mark.parametrize("unread", [{"schedule": "whenever the moon is blue"}, {"zone": "Mars/Olympus"}])
def test_a_schedule_that_cannot_be_read_here_holds_up_none_that_it_was_changed_into(unread):
    mended = replace(HOURLY, since=T + 1)
    ledger = ledger_of(replace(HOURLY, **unread), (T + 1, JobSet(mended)))
    assert next_start(mended, ledger) == T + HOUR
    assert decide(mended, ledger, T + HOUR) == Begin(run_id(ID, T + HOUR), T + HOUR)


def test_several_changes_are_let_go_of_in_their_order_each_for_its_reason():
    paused = JobSet(replace(HOURLY, enabled=False))
    resumed = replace(HOURLY, since=T + 3 * HOUR)
    facts = [(T + HOUR, paused), (T + 3 * HOUR, JobSet(resumed)), (T + 4 * HOUR, JobRemoved(ID))]
    steps, ledger = played(HOURLY, T + 9 * HOUR, *facts)
    assert [(each.due, each.why.split()[3]) for each in steps if isinstance(each, Skip)] == [
        ((T + HOUR,), "paused"), ((T + 4 * HOUR,), "removed")
    ]  # fmt: skip
    assert ledger.through == T + 4 * HOUR, "nothing is due while it is paused, or after its end"


def test_a_removed_job_is_closed_told_and_settled_once():
    facts = [began(T + HOUR), (T + HOUR + 5, JobRemoved(ID))]
    steps, ledger = played(HOURLY, T + 2 * HOUR, *facts)
    assert [type(each) for each in steps] == [Close, Tell, Settle]
    assert ledger.removed
    assert next_start(HOURLY, ledger) is None
    waiting = [*facts, ended(T + HOUR, "failed"), (T + HOUR + 61, Told(ID, run_id(ID, T + HOUR), "team", "no route"))]
    assert step(HOURLY, T + HOUR + 62, *waiting) is None, "somebody may still have to be told"


def test_a_settled_job_goes_on_where_it_was():
    job = replace(HOURLY, misfire="all", repeat=2 * MANY)
    deeds = [fact for n in range(1, MANY // 2 + 2) for fact in (began(T + n * HOUR), ended(T + n * HOUR, silent=True))]
    now = T + (MANY // 2 + 2) * HOUR
    found = step(job, now, *deeds)
    assert isinstance(found, Settle)
    assert found.fact == Settled(ID, T + 101 * HOUR, 101, run_id(ID, T + 101 * HOUR), "ran", T + 101 * HOUR + 60)
    whole, short = ledger_of(job, *deeds, (now, found.fact)), ledger_of(job, (now, found.fact))
    for ledger in (whole, short):
        assert (ledger.through, ledger.runs, ledger.facts) == (T + 101 * HOUR, 101, 0)
        assert decide(job, ledger, now) == Begin(run_id(ID, now), now)
        assert ledger.last is not None
        assert (ledger.last.run, ledger.last.outcome, ledger.at) == (found.fact.run, "ran", found.fact.at)
    again = ledger_of(job, (now, found.fact), began(now), ended(now))
    assert (again.runs, again.through) == (102, now)


def test_nothing_is_settled_while_something_is_open():
    job = replace(HOURLY, misfire="all")
    deeds = [fact for n in range(1, MANY) for fact in (began(T + n * HOUR), ended(T + n * HOUR, silent=True))]
    failed = [began(T + MANY * HOUR), ended(T + MANY * HOUR, "failed")]
    tried = (T + MANY * HOUR + 61, Told(ID, run_id(ID, T + MANY * HOUR), "team", "no route"))
    assert step(job, T + MANY * HOUR + 62, *deeds, *failed, tried) is None


def test_two_years_of_missed_minutes_are_let_go_of_in_bounded_steps_with_nothing_lost():
    job = replace(HOURLY, schedule="* * * * *")
    now = T + 2 * 365 * DAY
    through, count = T, 0
    for _ in range(5):
        found = decide(job, ledger_of(job, (now, Settled(ID, through))), now)
        assert isinstance(found, Skip)
        assert len(found.due) == MOST
        assert found.why == "made up for by a later run"
        assert found.due == tuple(through + 60 * n for n in range(1, MOST + 1))
        through, count = found.due[-1], count + len(found.due)
    last = decide(job, ledger_of(job, (now, Settled(ID, now - 60 * MOST))), now)
    assert isinstance(last, Skip)
    assert len(last.due) == MOST - 1


@given(st.floats(0, 3e9), st.floats(0, 7_200))
@settings(max_examples=50)
def test_a_start_is_put_off_by_no_more_than_the_jitter_and_by_the_same_for_all(due, jitter):
    assert 0 <= share(ID, due) * jitter <= jitter
    assert share(ID, due) != share("another", due), "each job by its own"
    assert share(ID, T) == 0.04529592301696539, "on every machine"


def test_jitter_puts_a_start_off_never_forward_and_never_past_an_earlier_one():
    job = replace(HOURLY, schedule="* * * * *", jitter=600.0, misfire="all", deliver=())
    start = next_start(job, ledger_of(job))
    assert start is not None
    assert T + 60 <= start <= T + 660
    assert step(job, start - 0.01) is None
    assert step(job, start) == Begin(run_id(ID, T + 60), T + 60)
    starts = [next_start(job, ledger_of(job, (T, Skipped(ID, (T + 60.0 * n,), "")))) for n in range(20)]
    assert len({round(each - 60 * n) for n, each in enumerate(starts) if each}) > 10, "not all alike"
    put_off = [each for _, each in islice(coming(job, ledger_of(job)), 50)]
    assert put_off == sorted(put_off)


def test_what_is_put_off_is_on_time_from_its_start_on():
    job = replace(HOURLY, misfire="skip", grace=60.0, jitter=1_800.0, deliver=())
    start = next_start(job, ledger_of(job))
    assert start is not None
    assert start > T + HOUR + 60, "else nothing is put off by more than the grace"
    assert step(job, start + 60) == Begin(run_id(ID, T + HOUR), T + HOUR)
    assert isinstance(step(job, start + 61), Skip)


def test_a_clock_that_is_set_back_runs_nothing_again_and_one_set_forward_loses_nothing():
    job = replace(HOURLY, misfire="all", deliver=())
    steps, ledger = played(job, T + 3 * HOUR)
    assert len(steps) == 3
    assert decide(job, ledger, T + 3 * HOUR - DAY) is None
    assert decide(job, ledger, T + HOUR) is None
    assert next_start(job, ledger) == T + 4 * HOUR
    assert decide(job, ledger, T + DAY) == Begin(run_id(ID, T + 4 * HOUR), T + 4 * HOUR)


@given(
    st.sampled_from(["*/20 * * * *", "5-20/5 * * * *", "every 90m", "0 9 * * 1-5", "30 2 * * *"]),
    st.sampled_from(MISFIRES), st.sampled_from([0.0, 300.0]), st.sampled_from(["UTC", "Europe/Zurich"]),
    st.lists(st.floats(1, 9 * HOUR), min_size=1, max_size=4),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_whatever_is_missed_every_instant_ends_in_exactly_one_row(schedule, misfire, jitter, zone, sleeps):
    from hermes_kernel.core.schedule.grammar import stored
    from hermes_kernel.core.schedule.instants import instants

    job = Job(ID, "x", schedule, zone, since=T, misfire=misfire, jitter=jitter, deliver=())
    now, facts = T, []
    for sleep in sleeps:
        now += sleep
        ledger = ledger_of(job, *facts)
        while found := decide(job, ledger, now):
            match found:
                case Begin(run, due):
                    assert now >= due
                    facts += [(now, RunBegan(ID, run, due)), (now, RunEnded(ID, run, due, "ran"))]
                case Skip(due, why):
                    facts.append((now, Skipped(ID, due, why)))
                case Settle(fact):
                    facts.append((now, fact))
            ledger = ledger_of(job, *facts)
        rest = next_start(job, ledger)
        assert rest is None or rest > now
    rows = [fact.due for _, fact in facts if isinstance(fact, RunBegan)]
    rows += [due for _, fact in facts if isinstance(fact, Skipped) for due in fact.due]
    coming = instants(stored(schedule, zone), since=T, after=T)
    assert sorted(rows) == [next(coming) for _ in rows], "each once, and none left out"
