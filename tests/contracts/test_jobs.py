"""What may be done with jobs, over a log in memory and a store on disk alike."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hermes_kernel.core.planned import ORPHANED, JobSet, RunBegan, RunEnded, Settled, Skipped, StopWanted
from hermes_kernel.core.schedule.due import run_id
from hermes_kernel.core.schedule.job import Parameter
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.faces.telling import listed
from tests.contracts.planned import DAY, HOUR, NOON, SECRET, House


@pytest.fixture(params=["memory", "store"])
def house(request, tmp_path):
    return House(tmp_path, request.param)


def utc(t):
    return f"{datetime.fromtimestamp(t, UTC):%a %H:%M}"


# --- making


def test_a_job_is_what_was_said_and_what_usually_goes_without_saying(house):
    job = house.jobs.add("every monday 9am", "  Sum up the week.\n")
    assert (job.prompt, job.schedule, job.zone, job.since) == ("Sum up the week.", "0 9 * * 1", "UTC", NOON)
    assert (job.folder, job.misfire, job.approvals, job.jobs) == (str(house.work), "once", "deny", False)
    assert (job.deliver, job.tools, job.budget, job.grace, job.timeout) == (("notebook",), None, 0, None, 3_600.0)
    assert job.place, "it runs in the home it was made in"
    assert house.jobs.find(job.name) == job


def test_everything_that_can_be_wished_is_kept(house):
    job = house.jobs.add(
        "every weekday at 18:30", "Look at $names.", name="weekly", zone="Asia/Tokyo",
        parameters={"week": 48, "names": ["a", "b"]}, skills="monthly-report, plotting-well", tools=["python"],
        model="small", budget=9, folder=house.work, repeat=3, misfire="all", grace="10m", jitter="90s", timeout="1h30m",
        deliver="desktop,file:out.md", approvals="allow", jobs=True, keep=2, anywhere=True,
    )  # fmt: skip
    assert job.parameters == (Parameter("week", "48"), Parameter("names", '["a", "b"]'))
    assert (job.notebook, job.prompt, job.zone) == ("", "Look at $names.", "Asia/Tokyo")
    assert (job.skills, job.tools, job.model) == (("monthly-report", "plotting-well"), ("python",), "small")
    assert (job.budget, job.repeat, job.misfire, job.keep) == (9, 3, "all", 2)
    assert (job.grace, job.jitter, job.timeout) == (600.0, 90.0, 5_400.0)
    assert (job.deliver, job.approvals, job.jobs) == (("desktop", "file:out.md"), "allow", True)
    assert job.place == "", "any home that shares the store may run it"
    assert house.jobs.find("weekly") == job, "the store gives back what was said"


def test_a_name_is_made_of_the_first_words_and_numbered_where_it_is_taken(house):
    prompt = "Look at the sales of März; tell me what is new, please"
    assert [house.jobs.add("1h", prompt).name for _ in range(3)] == [
        "look-at-the-sales-of", "look-at-the-sales-of-2", "look-at-the-sales-of-3",
    ]  # fmt: skip
    assert house.jobs.add("1h", "周报").name == "job"
    assert house.jobs.add("1h", "x" * 300).name == "x" * 40
    assert house.jobs.add("1h", "x" * 300).name == "x" * 38 + "-2"
    house.notebook("Weekly Report (final).ipynb")
    assert house.jobs.add("1h", notebook="Weekly Report (final).ipynb").name == "weekly-report-final"


def test_a_name_that_is_taken_is_refused_until_the_job_is_removed(house):
    house.jobs.add("1h", "one", name="mine")
    with pytest.raises(HermesError, match="There is a job mine already"):
        house.jobs.add("1h", "two", name="mine")
    house.jobs.remove("mine")
    assert house.jobs.add("1h", "two", name="mine").prompt == "two"
    assert house.names() == ["mine"]


def test_secrets_are_in_no_prompt_and_no_parameter(house):
    house.notebook()
    job = house.jobs.add("1h", f"Use {SECRET} for it")
    other = house.jobs.add("1h", notebook="report.ipynb", parameters={"key": SECRET})
    assert SECRET not in job.prompt
    assert "[redacted" in json.loads(other.parameters[0].value)


@pytest.mark.parametrize("source", ["week = 1\nwho: str = 'all'", ["%%py\n", "week = 1\n", "who = 2"]])
def test_a_parameter_that_a_notebook_does_not_take_is_refused_with_those_it_does(house, source):
    house.notebook(cells=[{"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": source}])
    assert house.jobs.add("1h", notebook="report.ipynb", parameters={"week": 48, "who": "me"})
    with pytest.raises(HermesError, match=r"report.ipynb takes no parameter wek\. Close to it: week\."):
        house.jobs.add("1h", notebook="report.ipynb", parameters={"wek": 48})
    assert len(house.names()) == 1


@pytest.mark.parametrize("source", ["", "print(1)", "def (", 7, None])
def test_a_notebook_that_does_not_say_which_parameters_it_takes_takes_any(house, source):
    house.notebook(cells=[{"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": source}, 3, {}])
    assert house.jobs.add("1h", notebook="report.ipynb", parameters={"week": 48}).parameters


def test_what_was_understood_is_said_with_the_next_three_times(house):
    job = house.jobs.add("every weekday at 18:30", "x", zone="Europe/Zurich")
    sentence, times = house.jobs.understood(job).splitlines()
    assert "weekday" in sentence
    assert "18:30" in sentence
    assert times.startswith("next: ")
    assert times.count("18:30") == 3


# --- changing


def test_a_change_keeps_what_it_does_not_name(house):
    job = house.jobs.add("every 2h", "one", budget=5)
    house.clock.time += HOUR
    changed = house.jobs.change(job.id, prompt="two", deliver=["none"])
    assert (changed.prompt, changed.deliver, changed.budget) == ("two", ("none",), 5)
    assert (changed.schedule, changed.since, changed.id) == (job.schedule, NOON, job.id)
    assert house.jobs.find(job.id) == changed


@pytest.mark.parametrize(
    ("change", "first"), [({"when": "every 3h"}, "Tue 16:00"), ({"zone": "Asia/Tokyo"}, "Tue 15:00")]
)
def test_another_schedule_counts_from_now(house, change, first):
    job = house.jobs.add("every 2h", "x")
    house.clock.time += HOUR
    changed = house.jobs.change(job.name, **change)
    assert changed.since == NOON + HOUR
    assert utc(house.jobs.list()[0].next[0]) == first


def test_a_change_that_changes_nothing_is_no_fact(house):
    job = house.jobs.add("every 2h", "x")
    house.jobs.change(job.id, prompt="x", when="every 2h")
    house.jobs.resume(job.id)
    assert len(house.log.learnt((JobSet,))) == 1


def test_a_paused_job_has_no_next_time_and_begins_anew_when_it_is_resumed(house):
    job = house.jobs.add("every 2h", "x")
    assert house.jobs.pause(job.name).enabled is False
    assert (house.jobs.list()[0].next, house.jobs.list()[0].state) == ((), "paused")
    house.clock.time += 5 * HOUR
    assert house.jobs.resume(job.name).since == NOON + 5 * HOUR
    assert utc(house.jobs.list()[0].next[0]) == "Tue 19:00"


def test_a_change_counts_that_is_made_when_the_clock_was_set_back(house):
    job = house.jobs.add("every 2h", "x")
    house.clock.time -= DAY
    house.jobs.change(job.name, prompt="y")
    house.jobs.pause(job.name)
    (there,) = house.jobs.list()
    assert (there.job.prompt, there.state) == ("y", "paused")
    house.jobs.resume(job.name)
    assert utc(house.jobs.list()[0].next[0]) == "Mon 14:00"
    house.jobs.remove(job.name)
    assert house.jobs.list() == ()


def test_a_prompt_does_not_become_a_notebook(house):
    house.notebook()
    job = house.jobs.add("1h", "x")
    with pytest.raises(HermesError, match="takes no notebook"):
        house.jobs.change(job.name, notebook="report.ipynb")


def test_a_removed_job_is_in_no_list_and_what_it_did_stays(house):
    job = house.jobs.add("every 2h", "x", name="gone")
    house.book.record(Skipped(job.id, (NOON - HOUR,), "why not"))
    house.jobs.remove("gone")
    assert house.jobs.list() == ()
    assert [(row.name, row.outcome, row.why) for row in house.jobs.runs("gone")] == [("gone", "skipped", "why not")]
    with pytest.raises(HermesError, match="There is no job 'gone'"):
        house.jobs.find("gone")


# --- the agenda


def test_whoever_watches_knows_when_there_is_next_something_to_do(house):
    assert house.agenda.read() is None
    house.jobs.add("every 3h", "later")
    assert house.agenda.read() == NOON + 3 * HOUR
    soon = house.jobs.add("in 20 minutes", "soon")
    assert house.agenda.read() == NOON + 1_200
    assert house.bell.rung("jobs")
    house.jobs.pause(soon.name)
    assert house.agenda.read() == NOON + 3 * HOUR
    house.jobs.run(soon.name)
    assert house.agenda.read() <= NOON, "it is wanted now, though it is paused"


def test_a_job_of_another_home_is_on_no_agenda_of_ours(tmp_path):
    (tmp_path / "other").mkdir()
    mine = House(tmp_path)
    theirs = House(tmp_path / "other", log=mine.log, clock=mine.clock)
    theirs.jobs.add("every 3h", "there", name="there")
    mine.jobs.add("every 5h", "here", name="here")
    assert mine.agenda.read() == NOON + 5 * HOUR
    mine.jobs.add("every 4h", "anywhere", name="anywhere", anywhere=True)
    assert mine.agenda.read() == NOON + 4 * HOUR
    assert mine.names() == ["there", "here", "anywhere"]


# --- runs


def test_a_run_that_is_asked_for_waits_until_somebody_begins_it(house):
    job = house.jobs.add("every 2h", "x", name="it")
    run = house.jobs.run("it", by="model")
    assert run.startswith(run_id(job.id, NOON) + "-asked-")
    (row,) = house.jobs.runs("it")
    assert (row.run, row.outcome, row.asked, row.due, row.name) == (run, "waiting", True, NOON, "it")
    assert house.jobs.list()[0].waiting == (run,)
    house.book.record(RunBegan(job.id, run, NOON, True, "/x.ipynb"))
    assert (house.jobs.list()[0].running, house.jobs.list()[0].state) == (run, "running")
    house.clock.time += 5
    house.book.record(RunEnded(job.id, run, NOON, "ran", session="s"))
    (row,) = house.jobs.runs(run)
    assert (row.outcome, row.seconds, row.session, row.notebook) == ("ran", 5.0, "s", "/x.ipynb")
    assert (house.jobs.list()[0].outcome, house.jobs.list()[0].at) == ("ran", NOON + 5)


def test_a_job_of_a_zone_that_is_not_known_here_is_told_of_like_any_other(house):
    job = replace(house.jobs.add("every 2h", "x", name="it"), zone="Mars/Olympus", schedule="0 9 * * *")
    house.book.record(JobSet(job), RunBegan(job.id, "it-1", NOON), RunEnded(job.id, "it-1", NOON, "ran"))
    told = listed(house.jobs.list())
    assert told.rows[0][1:4] == ("0 9 * * * (not understood here)", "", "ran, Tue 1 Dec 2026 12:00 UTC")


@pytest.mark.parametrize("what", ["cut off", "settled"])
def test_when_the_last_run_ended_is_told_whatever_is_known_of_it(house, what):
    job = house.jobs.add("every 2h", "x", name="it")
    run = run_id(job.id, NOON)
    house.clock.time += 5
    if what == "settled":
        house.book.record(Settled(job.id, NOON, 1, run, "ran", NOON + 5))
    else:
        house.book.record(RunBegan(job.id, run, NOON), RunEnded(job.id, run, NOON, "failed", ORPHANED, guessed=True))
    house.clock.time += 5
    assert house.jobs.list()[0].at == NOON + 5


def test_a_run_that_makes_up_for_an_earlier_time_goes_on_since_it_began(house):
    job = house.jobs.add("every 2h", "x", name="it")
    house.clock.time += 5 * HOUR
    house.book.record(RunBegan(job.id, run_id(job.id, NOON + 2 * HOUR), NOON + 2 * HOUR))
    house.clock.time += 60
    assert house.jobs.list()[0].since == NOON + 5 * HOUR


@pytest.mark.parametrize("by", ["name", "run", "beginning", "id"])
def test_a_run_is_stopped_by_its_own_name_or_that_of_its_job(house, by):
    job = house.jobs.add("every 2h", "x", name="it")
    run = run_id(job.id, NOON)
    house.book.record(RunBegan(job.id, run, NOON))
    which = {"name": "it", "run": run, "beginning": run[:20], "id": job.id}[by]
    assert house.jobs.stop(which) == run
    assert [each.fact for each in house.log.learnt((StopWanted,))] == [StopWanted(run)]
    assert house.bell.rung(run)


def test_what_has_ended_cannot_be_stopped(house):
    job = house.jobs.add("every 2h", "x", name="it")
    run = run_id(job.id, NOON)
    house.book.record(RunBegan(job.id, run, NOON), RunEnded(job.id, run, NOON, "ran"))
    for which in ("it", run):
        with pytest.raises(HermesError, match="At this moment: none"):
            house.jobs.stop(which)
    assert house.log.learnt((StopWanted,)) == ()


def test_removing_a_job_stops_its_run(house):
    job = house.jobs.add("every 2h", "x", name="it")
    run = run_id(job.id, NOON)
    house.book.record(RunBegan(job.id, run, NOON))
    house.jobs.remove("it")
    assert house.bell.rung(run)
    assert [each.fact.run for each in house.log.learnt((StopWanted,))] == [run]


def test_runs_are_listed_newest_first_from_years_ago_and_no_more_than_asked_for(house):
    one, two = house.jobs.add("every 2h", "x", name="one"), house.jobs.add("every 2h", "x", name="two")
    for days in (0, 3, 40, 400, 2_000):
        house.clock.time = NOON + days * DAY
        for job in (one, two):
            house.book.record(Skipped(job.id, (house.clock.time,), f"{days} days"))
    assert [row.why for row in house.jobs.runs("one")] == ["2000 days", "400 days", "40 days", "3 days", "0 days"]
    assert [(row.name, row.why) for row in house.jobs.runs(limit=3)] == [
        ("two", "2000 days"), ("one", "2000 days"), ("two", "400 days"),
    ]  # fmt: skip


# --- finding


def test_a_job_is_found_by_its_name_its_id_and_four_letters_of_it(house):
    job = house.jobs.add("1h", "x", name="it")
    assert [house.jobs.find(which) for which in ("it", job.id, job.id[:8])] == [job] * 3
    house.jobs.add("1h", "y", name="other")
    with pytest.raises(HermesError, match="several ids: it .*, other"):
        house.jobs.find(job.id[:4])


@pytest.mark.parametrize(
    ("which", "said"),
    [("salesreport", "Close to it: sales-report"), ("zzz", "There are: chores, sales-report"), ("000", "There are: "),
     ("", "There is no job ''"), (None, "There is no job None"), ("a\nb", "There is no job 'a")],
)  # fmt: skip
def test_a_job_that_there_is_not_is_answered_with_those_that_come_close(house, which, said):
    house.jobs.add("1h", "x", name="sales-report")
    house.jobs.add("1h", "x", name="chores")
    for verb in (house.jobs.find, house.jobs.pause, house.jobs.remove, house.jobs.run):
        with pytest.raises(HermesError) as refused:
            verb(which)
        assert said in str(refused.value)


def test_a_job_that_has_had_its_runs_is_over(house):
    job = house.jobs.add("every 2h", "x", repeat=1)
    assert len(house.jobs.list()[0].next) == 1
    run = run_id(job.id, NOON + 2 * HOUR)
    house.clock.time += 2 * HOUR
    house.book.record(RunBegan(job.id, run, NOON + 2 * HOUR), RunEnded(job.id, run, NOON + 2 * HOUR, "failed", "no"))
    (it,) = house.jobs.list()
    assert (it.over, it.state, it.next, it.outcome, it.why, it.runs) == (True, "over", (), "failed", "no", 1)


def had_its_run(house, job):
    """A moment after its first time."""
    run = run_id(job.id, NOON + DAY)
    house.clock.time = NOON + DAY
    house.book.record(RunBegan(job.id, run, NOON + DAY), RunEnded(job.id, run, NOON + DAY, "ran"))


@pytest.mark.parametrize("misfire", ["once", "skip", "all"])
def test_a_job_that_was_over_has_its_further_runs_from_then_on_and_none_for_the_time_between(house, misfire):
    job = house.jobs.add("0 12 * * *", "x", repeat=1, misfire=misfire)
    had_its_run(house, job)
    house.clock.time += 30 * DAY + HOUR
    house.jobs.change(job.id, repeat=3)
    coming = NOON + 32 * DAY
    assert house.jobs.list()[0].next == (coming, coming + DAY)
    assert house.agenda.read() == coming, "nothing is due before"


def test_the_same_holds_where_it_is_over_by_the_time_somebody_has_agreed(house):
    job = house.jobs.add("0 12 * * *", "x", repeat=1)
    asked = house.jobs.changed(job, repeat=3)
    had_its_run(house, job)
    house.clock.time += 3 * DAY + HOUR
    house.jobs.keep(asked, job)
    assert house.agenda.read() == NOON + 5 * DAY


def test_no_more_times_are_told_than_a_job_has_runs_left(house):
    job = house.jobs.add("0 12 * * *", "x", repeat=2)
    assert house.jobs.understood(job).endswith("\nnext: Wed 2 Dec 2026 12:00 UTC, Thu 3 Dec 2026 12:00 UTC")
    had_its_run(house, job)
    assert house.jobs.understood(job).endswith("\nnext: Thu 3 Dec 2026 12:00 UTC")
    job = house.jobs.change(job.id, repeat=1, when="every day at 10:00")
    assert house.jobs.understood(job).endswith("\nnext: never: it has had its 1 run, a higher `repeat` gives it more")
    assert house.jobs.list()[0].state == "over"
