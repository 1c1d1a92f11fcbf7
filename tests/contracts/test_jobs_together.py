"""Many who make, change and end jobs at once, in one process and in several: every change counts, no name is twice."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hermes_kernel.core.planned import PLANS, JobRemoved, JobSet
from hermes_kernel.errors import HermesError
from hermes_kernel.world.store import Store
from tests.contracts.planned import HOUR, NOON, House
from tests.contracts.stores import child, counted, done

OTHERS = """
import sys
from pathlib import Path
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.store import Store
from tests.contracts.planned import House
house = House(Path(sys.argv[1]), log=Store(Path(sys.argv[1]) / "home"), new_id=fresh_id)
for n in range(5):
    print(house.jobs.add("every 2h", "the same prompt").name)
house.log.close()
"""


def test_of_many_jobs_that_are_made_at_once_each_has_a_name_of_its_own(tmp_path):
    house = House(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: house.jobs.add("every 2h", "the same prompt"), range(16)))
    assert len({job.name for job in made}) == len(house.jobs.list()) == 16
    assert set(house.names()) == {"the-same-prompt", *(f"the-same-prompt-{n}" for n in range(2, 17))}


def test_of_changes_that_are_made_at_once_none_is_lost(tmp_path):
    house = House(tmp_path)
    house.jobs.add("every 2h", "x", name="it")
    changes = [
        {"budget": 7},
        {"keep": 3},
        {"repeat": 4},
        {"timeout": 60},
        {"grace": 5},
        {"model": "m"},
        {"prompt": "y"},
    ]
    begin = threading.Barrier(len(changes))

    def change(wishes):
        begin.wait()
        house.jobs.change("it", **wishes)

    with ThreadPoolExecutor(len(changes)) as pool:
        list(pool.map(change, changes))
    job = house.jobs.find("it")
    assert (job.budget, job.keep, job.repeat, job.timeout, job.grace) == (7, 3, 4, 60.0, 5.0)
    assert (job.model, job.prompt) == ("m", "y")


def test_processes_that_make_jobs_at_once_make_all_of_them(tmp_path):
    made = [done(each).split() for each in [child(OTHERS, tmp_path) for _ in range(2)]]
    assert len({name for names in made for name in names}) == 10
    house = House(tmp_path, log=Store(tmp_path / "home", ids=counted("later")))
    assert len(house.jobs.list()) == 10
    assert house.agenda.read() == NOON + 2 * HOUR


def test_a_change_of_a_job_that_was_removed_meanwhile_is_refused(tmp_path):
    house = House(tmp_path, "memory")
    house.jobs.add("every 2h", "x", name="it")
    house.jobs.remove("it")
    for verb in (house.jobs.pause, house.jobs.resume, house.jobs.remove, house.jobs.run):
        with pytest.raises(HermesError, match="There is no job 'it'"):
            verb("it")
    assert [type(each.fact) for each in house.log.learnt(PLANS)] == [JobSet, JobRemoved]


def test_a_job_of_a_later_version_is_listed_and_costs_no_other_job_anything(tmp_path):
    house = House(tmp_path, "memory")
    job = house.jobs.add("every 2h", "x", name="mine")
    strange = json.loads(json.dumps({"schedule": "whenever the moon is blue", "zone": "Moon/Tycho"}))
    house.book.record(JobSet(type(job)("f" * 32, "strange", since=NOON, **strange)))
    listed = {each.job.name: each for each in house.jobs.list()}
    assert listed["strange"].sentence == "whenever the moon is blue (not understood here)"
    assert listed["strange"].next == ()
    house.jobs.change("mine", prompt="y")
    assert house.agenda.read() == NOON + 2 * HOUR
    assert house.jobs.remove("strange").name == "strange"
