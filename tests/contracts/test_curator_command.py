"""``hermes-kernel curator``: what a terminal can do with skills that nobody uses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hermes_kernel.cli import main
from hermes_kernel.learning.skills.marks import Marks
from tests.contracts.curated import held, text


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A home with one skill of the agent's, whose name is hostile, and one of a person's."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    for name in ("HERMES_BASE_URL", "HERMES_MODEL", "OPENAI_API_KEY", "HERMES_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("plot_sales", "mine"):
        (tmp_path / "skills" / name).mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").write_text(text(name))
    Marks(tmp_path / "skills").change("plot_sales", origin="agent")
    return tmp_path


@pytest.fixture
def said(home, capsys):
    def say(*words: str):
        code = main(["curator", *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return say


LATER = ("--as-of", "2099-03-01T12:00Z", "--no-review")
LATEST = ("--as-of", "2099-09-01", "--no-review")


def test_a_skill_is_planned_put_away_reported_taken_back_and_restored(said, home):
    before = held(home / "skills")
    assert "made by the agent: 1 active" in said()[1]
    assert "plot_sales: active → stale" in said("run", "--dry-run", *LATER)[1]
    assert said("run", *LATER)[1].splitlines()[0].endswith(": 1 made stale.")
    assert "skills/plot_sales → skills/.archive/plot_sales" in said("run", "--dry-run", *LATEST)[1]
    assert said("run", *LATEST)[0] == 0
    assert (home / "skills/.archive/plot_sales/SKILL.md").is_file()
    assert "skills/plot_sales → skills/.archive/plot_sales: never used" in said("report")[1]
    assert "1 skill put back as before" in said("rollback")[1]
    assert set(held(home / "skills")) == set(before)
    assert said("run", *LATEST)[0] == 0
    assert "Restored the skill plot_sales" in said("restore", "plot_sales")[1]
    assert (home / "skills/plot_sales/SKILL.md").is_file()


def test_the_plan_is_asked_for_by_its_name_as_in_a_notebook(said):
    code, out, _ = said("plan")
    assert code == 0
    assert "Nothing to do." in out
    assert "never move" in out


def test_a_dry_run_writes_nothing_at_all(said, home):
    before = held(home, all=True)
    names = sorted(home.rglob("*"))
    assert said("run", "--dry-run", *LATER)[0] == 0
    assert held(home, all=True) == before
    assert sorted(home.rglob("*")) == names


def test_each_answers_a_program_in_json(said):
    assert json.loads(said("--json")[1])["last"] is None
    assert json.loads(said("status", "--json")[1])["due"] is False
    planned = json.loads(said("run", "--dry-run", "--json", *LATER)[1])
    assert [step["after"] for step in planned["steps"]] == ["stale"]
    run = json.loads(said("run", "--json", *LATER)[1])
    assert (run["status"], [step["outcome"] for step in run["steps"]]) == ("done", ["done"])
    assert json.loads(said("report", "--json")[1]) == run
    assert json.loads(said("rollback", "--json")[1])["of"] == run["id"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("run", "--as-of", "soon"), 2, "--as-of takes an ISO date or time"),
        (("report",), 1, "There is no run 'last'"),
        (("report", "1999"), 1, "There is no run '1999'"),
        (("rollback",), 1, "There is no run to take back."),
        (("restore", "nothing"), 1, "No skill 'nothing' is archived"),
        (("restore", "mine"), 1, "is not archived: it is active"),
        (("accept", "x"), 1, "No proposal is called 'x'"),
    ],
)
def test_what_cannot_be_done_is_one_line(said, words, code, says):
    got, out, err = said(*words)
    assert (got, out) == (code, "")
    assert says in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("words", [("restor", "x"), ("run", "--review", "--no-review"), ("restore",)])
def test_what_is_said_wrongly_is_2(said, words):
    with pytest.raises(SystemExit) as left:
        said(*words)
    assert left.value.code == 2
