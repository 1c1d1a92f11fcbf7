"""What no job can be is refused by its name, with what is allowed; nothing is written, and nothing there is changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hermes_kernel.core.planned import LEDGER, PLANS
from hermes_kernel.errors import HermesError
from tests.contracts.planned import House

ENDLESS: list[object] = []
ENDLESS.append(ENDLESS)
URL = "slack://xoxb-very-secret-token/AAA/BBB"
GIVEN = {"prompt": "x"}

REFUSED = [
    ({"prompt": ""}, ["prompt is empty"]),
    ({"prompt": " \n\t"}, ["prompt is empty"]),
    ({"prompt": None}, ["prompt is empty"]),
    ({"prompt": 7}, ["prompt is empty"]),
    ({"prompt": "x" * 100_001}, ["prompt has 100,001 characters", "100,000"]),
    ({"prompt": "x", "notebook": "report.ipynb"}, ["a prompt or runs a notebook, not both"]),
    ({"when": ""}, []),
    ({"when": None}, ["When is it to run?"]),
    ({"when": 60}, ["When is it to run?"]),
    ({"when": "every 0m"}, ["every"]),
    ({"when": "0 9 31 2 *"}, []),
    ({"when": "2001-01-01T09:00"}, ["2001"]),
    ({"when": "soon\x00ish"}, []),
    ({"when": "; rm -rf /"}, []),
    ({"when": "9" * 5_000}, []),
    ({"zone": "Mars/Olympus"}, ["Mars/Olympus"]),
    ({"zone": "../../etc/passwd"}, []),
    ({"zone": 5}, []),
    ({"name": ""}, ["name cannot be ''", "lower-case letters"]),
    ({"name": "Sales Report"}, ["name cannot be 'Sales Report'"]),
    ({"name": "../../etc"}, ["name cannot be"]),
    ({"name": "x" * 41}, ["1 to 40"]),
    ({"name": "a\nb"}, ["name cannot be 'a\\nb'"]),
    ({"name": "<img src=x>"}, ["name cannot be"]),
    ({"name": "ａｂｃ"}, ["name cannot be"]),
    ({"name": 5}, ["name cannot be 5"]),
    ({"name": "taken"}, ["There is a job taken already"]),
    ({"notebook": "missing.ipynb"}, ["There is no notebook", "missing.ipynb"]),
    ({"notebook": "plain.txt"}, ["must end in .ipynb"]),
    ({"notebook": "broken.ipynb"}, ["is no notebook: it is not JSON"]),
    ({"notebook": "old.ipynb"}, ["is no notebook of format 4"]),
    ({"notebook": "list.ipynb"}, ["is no notebook of format 4"]),
    ({"notebook": "folder.ipynb"}, ["cannot be read"]),
    ({"notebook": "pipe.ipynb"}, ["cannot be read"]),
    ({"notebook": ""}, ["notebook cannot be ''"]),
    ({"notebook": "a\0b.ipynb"}, ["notebook cannot be"]),
    ({"notebook": "~nobody-of-that-name/x.ipynb"}, ["notebook cannot be"]),
    ({"notebook": f"{'x' * 300}.ipynb"}, ["cannot be read"]),
    ({"notebook": "report.ipynb", "budget": 5}, ["budget is for a prompt", "%%hermes --budget 5"]),
    ({"notebook": "report.ipynb", "model": "small"}, ["model is for a prompt"]),
    ({"notebook": "report.ipynb", "tools": []}, ["tools is for a prompt"]),
    ({"notebook": "report.ipynb", "skills": ["plotting-well"]}, ["skills is for a prompt"]),
    ({"parameters": "week=48"}, ["parameters cannot be 'week=48'", "by name"]),
    ({"parameters": [1]}, ["parameters cannot be [1]"]),
    ({"parameters": {"_\uff3fimport__": 1}}, ["A parameter cannot be called '_\\uff3fimport__'"]),
    ({"parameters": {"\uff49f": 1}}, ["A parameter cannot be called '\\uff49f'"]),
    ({"parameters": {"a b": 1}}, ["A parameter cannot be called 'a b'"]),
    ({"parameters": {"class": 1}}, ["A parameter cannot be called 'class'"]),
    ({"parameters": {"x = 1; import os": 1}}, ["A parameter cannot be called"]),
    ({"parameters": {"__builtins__": 1}}, ["A parameter cannot be called"]),
    ({"parameters": {5: 1}}, ["A parameter cannot be called 5"]),
    ({"parameters": {"x": float("nan")}}, ["The parameter x cannot be nan", "JSON"]),
    ({"parameters": {"x": float("inf")}}, ["The parameter x cannot be inf"]),
    ({"parameters": {"x": {1: 2}}}, ["The parameter x cannot be {1: 2}"]),
    ({"parameters": {"x": object()}}, ["The parameter x cannot be a object"]),
    ({"parameters": {"x": b"raw"}}, ["The parameter x cannot be"]),
    ({"parameters": {"x": ENDLESS}}, ["The parameter x cannot be"]),
    ({"parameters": {"x": 10**5_000}}, ["The parameter x cannot be"]),
    ({"parameters": {"x": "y" * 100_001}}, ["parameters have", "100,000"]),
    ({"skills": "no-such-skill"}, ["There is no skill 'no-such-skill'", "monthly-report"]),
    ({"skills": ["plotting-wel"]}, ["Close to it: plotting-well"]),
    ({"skills": [5]}, ["skills cannot have 5 in it"]),
    ({"skills": ["a\x1b[31m"]}, ["skills cannot have"]),
    ({"tools": "pythn"}, ["There is no tool 'pythn' in a run", "Close to it: python"]),
    ({"tools": 5}, ["tools cannot have 5 in it"]),
    ({"model": "a\nb"}, ["model cannot be"]),
    ({"model": "x" * 301}, ["model cannot be"]),
    ({"model": 5}, ["model cannot be 5"]),
    ({"budget": 0}, ["budget of 0", "1 model call or more"]),
    ({"budget": -3}, ["budget of -3"]),
    ({"budget": True}, ["budget cannot be True"]),
    ({"budget": "9"}, ["budget cannot be '9'"]),
    ({"folder": "no-such-folder"}, ["folder cannot be", "there is no such folder"]),
    ({"folder": "plain.txt"}, ["there is no such folder"]),
    ({"folder": "a\nb"}, ["folder cannot be"]),
    ({"repeat": -1}, ["repeat cannot be -1", "from 0 to"]),
    ({"repeat": 10**30}, ["repeat cannot be"]),
    ({"repeat": 1.5}, ["repeat cannot be 1.5"]),
    ({"misfire": "sometimes"}, ["misfire cannot be 'sometimes'", "skip, once or all"]),
    ({"misfire": ["once"]}, ["skip, once or all"]),
    ({"grace": -1}, ["grace cannot be -1", "90s"]),
    ({"grace": "a while"}, ["grace cannot be 'a while'"]),
    ({"grace": float("nan")}, ["grace cannot be nan"]),
    ({"jitter": "2h"}, ["jitter cannot be 7200 s", "3600 s at most"]),
    ({"jitter": -1}, ["jitter cannot be -1"]),
    ({"jitter": "1h" * 1_000}, ["jitter cannot be"]),
    ({"timeout": 0.5}, ["timeout cannot be 0.5", "at least 1 second, or 0"]),
    ({"timeout": "8d"}, ["timeout cannot be '8d'", "7d at most"]),
    ({"timeout": 10**400}, ["timeout cannot be"]),
    ({"deliver": "nowhere"}, ["There is no target 'nowhere'", "notebook"]),
    ({"deliver": ["none", "desktop"]}, ["deliver cannot be none and desktop at once"]),
    ({"deliver": [None]}, ["deliver cannot have None in it"]),
    ({"deliver": "file:"}, ["takes the path of a file"]),
    ({"deliver": [f"{URL}\n"]}, ["deliver cannot have an address in it"]),
    ({"approvals": "ask"}, ["approvals cannot be 'ask'", "deny or allow"]),
    ({"jobs": 1}, ["jobs cannot be 1", "True or False"]),
    ({"keep": 0}, ["keep cannot be 0", "from 1 to"]),
    ({"anywhere": "yes"}, ["anywhere cannot be 'yes'"]),
    ({"enabled": False}, ["A job has no 'enabled'"]),
    ({"id": "me"}, ["A job has no 'id'"]),
    ({"promt": "x"}, ["A job has no 'promt'", "Close to it: prompt"]),
]  # fmt: skip


@pytest.fixture
def house(tmp_path):
    made = House(tmp_path, "memory")
    made.jobs.add("every 2h", "there before", name="taken")
    made.notebook()
    made.notebook("old.ipynb", nbformat=3)
    (made.work / "list.ipynb").write_text("[]")
    (made.work / "broken.ipynb").write_text("{")
    (made.work / "plain.txt").write_text("{}")
    (made.work / "folder.ipynb").mkdir()
    os.mkfifo(made.work / "pipe.ipynb")
    return made


def everything(house):
    facts = house.log.learnt((*PLANS, *LEDGER))
    files = {path: path.read_bytes() for path in house.home.rglob("*") if path.is_file()}
    return facts, files


def numbered(cases):
    """Each case called by its number and what it is about."""
    return [pytest.param(wish, said, id=f"{n}-{'-'.join(wish)}") for n, (wish, said) in enumerate(cases, 1)]


@pytest.mark.parametrize(("wish", "said"), numbered(REFUSED))
def test_what_no_job_can_be_is_refused_by_its_name_and_nothing_is_written(house, wish, said):
    before = everything(house)
    wished = {"when": "every 2h", **({} if "notebook" in wish else GIVEN), **wish}
    with pytest.raises(HermesError) as refused:
        house.jobs.add(wished.pop("when"), wished.pop("prompt", ""), **wished)
    told = str(refused.value)
    assert [part for part in said if part not in told] == [], told
    assert told.count("\n") <= 1
    assert len(told) < 800
    assert "secret" not in told
    assert all(character.isprintable() or character == "\n" for character in told)
    assert everything(house) == before


@pytest.mark.parametrize(
    ("wish", "said"),
    numbered(pair for pair in REFUSED if not {"when", "zone", "notebook", "prompt"} & pair[0].keys()),
)
def test_what_no_job_can_be_cannot_be_made_of_one_either(house, wish, said):
    job = house.jobs.add("every 2h", "mine", name="mine")
    before = everything(house)
    with pytest.raises(HermesError) as refused:
        house.jobs.change("mine", **wish)
    assert [part for part in said if part not in str(refused.value)] == []
    assert everything(house) == before
    assert house.jobs.find("mine") == job


def test_an_address_that_a_person_gives_is_kept_apart_and_the_job_knows_a_name(house):
    job = house.jobs.add("every 2h", "x", deliver="json://user:very-secret@127.0.0.1:9/hook")
    assert job.deliver == ("json-1",)
    kept = house.home / "schedule" / "targets.json"
    assert "very-secret" in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0
    assert "very-secret" not in repr(house.log.learnt(PLANS))


def test_an_address_that_a_model_gives_is_refused(house):
    before = everything(house)
    with pytest.raises(HermesError, match="a person's to give"):
        house.jobs.add("every 2h", "x", deliver=URL, by="model")
    assert everything(house) == before


def test_a_home_that_cannot_be_written_is_said_in_a_line(tmp_path):
    house = House(tmp_path, "memory")
    house.home.mkdir()
    (house.home / "schedule").write_text("in the way")
    with pytest.raises(HermesError, match="cannot be written") as refused:
        house.jobs.add("every 2h", "x")
    assert "\n" not in str(refused.value)
    assert house.log.learnt(PLANS) == ()


def test_what_is_cut_off_in_a_prompt_is_mended_and_its_text_is_kept_word_for_word(house):
    text = "%%bash\nrm -rf /\n<script>alert(1)</script> \ud800 {{7*7}} $$HOME `id` '''"
    assert house.jobs.add("every 2h", text).prompt == text.replace("\ud800", "\ufffd")


def test_a_notebook_is_found_from_the_working_folder_and_a_link_is_followed(house, tmp_path):
    away = tmp_path / "away"
    away.mkdir()
    (house.work / "link.ipynb").symlink_to(house.work / "report.ipynb")
    assert house.jobs.add("every 2h", notebook="link.ipynb").notebook == str(house.work / "report.ipynb")
    assert house.jobs.add("every 2h", notebook=Path("report.ipynb"), folder=away).folder == str(away)
