"""``hermes-kernel schedule`` and ``tick``: what a person at a terminal, a cron line or a program sees and gets."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from hermes_kernel.cli import main
from hermes_kernel.cli.schedule import hands
from hermes_kernel.core.planned import JobSet, RunBegan, RunEnded, Told
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling import ticks
from hermes_kernel.scheduling.agenda import NOW
from hermes_kernel.scheduling.book import Book
from hermes_kernel.scheduling.faces import doing
from hermes_kernel.scheduling.faces.telling import ticked
from hermes_kernel.scheduling.faces.verbs import VERBS
from hermes_kernel.scheduling.posts import QUEUE, Post
from hermes_kernel.testing import Server, forever, say, status
from hermes_kernel.world.ids import fresh_id

ROOT = Path(__file__).parents[1]
EVIL = "<script>alert(1)</script>\x1b[2J [click](javascript:alert(1))"


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """A home of its own, on a machine in Zurich, in a folder with a notebook."""
    for name in ("HERMES_BASE_URL", "HERMES_MODEL", "OPENAI_API_KEY", "HERMES_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HERMES_LEARNING", "off")
    monkeypatch.setenv("TZ", "Europe/Zurich")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    cells = [
        nbformat.v4.new_code_cell("week, who = 1, None", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell("print('week', week)"),
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), "report.ipynb")
    return tmp_path / "home"


@pytest.fixture
def said(home, capsys):
    def run(*words: str):
        code = main(list(words))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    def schedule(*words: str):
        return run("schedule", *words)

    schedule.any = run
    schedule.json = lambda *words: json.loads(run("schedule", *words, "--json")[1])
    return schedule


# --- times


def test_a_time_is_explained_without_making_anything(said, home):
    code, out, err = said("next", "every monday 9am", "--from", "2026-12-01", "--tz", "Europe/Zurich", "-n", "3")
    assert (code, err) == (0, "")
    assert [line.rstrip() for line in out.splitlines()[1:4]] == [
        "Mon 7 Dec 2026 09:00 CET   2026-12-07T08:00:00Z",
        "Mon 14 Dec 2026 09:00 CET  2026-12-14T08:00:00Z",
        "Mon 21 Dec 2026 09:00 CET  2026-12-21T08:00:00Z",
    ]
    assert "monday" in out.splitlines()[-1].lower()
    assert not home.exists()


def test_a_time_is_explained_to_a_program(said):
    told = said.json("next", "every monday 9am", "--from", "2026-12-01T00:00Z", "--tz", "Europe/Zurich", "-n", "2")
    assert set(told) == {"schedule", "zone", "sentence", "next"}
    assert (told["schedule"], told["zone"]) == ("0 9 * * 1", "Europe/Zurich")
    assert told["next"] == ["2026-12-07T08:00:00Z", "2026-12-14T08:00:00Z"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("next", "every 0m"), "every"),
        (("next", "0 9 31 2 *"), "0 9 31 2 *"),
        (("next", "2020-01-01T09:00"), "2020-01-01 09:00 has passed"),
        (("next", "every monday 9am", "--from", "soon"), "--from takes an ISO date or time"),
        (("next", "every monday 9am", "--tz", "Mars/Olympus"), "Mars"),
        (("add", "every monday 9am"), "prompt is empty"),
        (("add", "every monday 9am", "  "), "prompt is empty"),
        (("add", "whenever", "Hello"), "whenever"),
        (("add", "every 2h", "Hello", "--name", "A B"), "name cannot be 'A B'"),
        (("add", "every 2h", "Hello", "--misfire", "sometimes"), "it must be skip, once or all"),
        (("add", "every 2h", "Hello", "--approvals", "maybe"), "it must be deny or allow"),
        (("add", "every 2h", "Hello", "--budget", "0"), "budget of 0"),
        (("add", "every 2h", "Hello", "--budget", "x"), "'x'"),
        (("add", "every 2h", "Hello", "--keep", "0"), "keep cannot be 0"),
        (("add", "every 2h", "Hello", "--grace", "soon"), "grace cannot be 'soon'"),
        (("add", "every 2h", "Hello", "--jitter", "5h"), "jitter cannot be"),
        (("add", "every 2h", "Hello", "--timeout", "x"), "timeout cannot be 'x'"),
        (("add", "every 2h", "Hello", "--folder", "nowhere"), "there is no such folder"),
        (("add", "every 2h", "Hello", "--skill", "flying"), "There is no skill 'flying'"),
        (("add", "every 2h", "Hello", "--tools", "teleport"), "There is no tool 'teleport'"),
        (("add", "every 2h", "Hello", "--deliver", "moon"), "'moon'"),
        (("add", "every 2h", "absent.ipynb"), "There is no notebook"),
        (("add", "every 2h", "Hello", "--notebook", "report.ipynb"), "not both"),
        (("add", "every 2h", "report.ipynb", "-p", "class=1"), "A parameter cannot be called 'class'"),
        (("show", "nobody"), "There is no job 'nobody'"),
        (("pause", "nobody"), "There is no job 'nobody'"),
        (("resume", "nobody"), "There is no job 'nobody'"),
        (("remove", "nobody"), "There is no job 'nobody'"),
        (("run", "nobody"), "There is no job 'nobody'"),
        (("change", "nobody", "--when", "2h"), "There is no job 'nobody'"),
        (("change", "nobody"), "change takes what is to be different"),
        (("stop", "nobody"), "No run 'nobody' goes on"),
        (("runs", "nobody"), "There is no job or run 'nobody'"),
        (("target", "add", "team"), "It is written: targets"),
        (("target", "add", "team", "telepathy://x"), "telepathy"),
        (("target", "remove", "team"), "There is no target 'team'"),
        (("target", "test", "team"), "There is no target 'team'"),
        (("target", "list", "team"), "It is written: targets"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_a_line_or_two_that_say_why(said, words, says):
    code, out, err = said(*words)
    assert (code, out) == (1, "")
    assert says in err
    assert len(err.splitlines()) <= 2
    assert "Traceback" not in err
    if words[0] == "add":
        assert said()[1].startswith("There are no jobs."), "nothing was made"


@pytest.mark.parametrize(
    "words",
    [("ad", "x"), ("add",), ("show",), ("next", "2h", "-n", "0"), ("runs", "-n", "x"), ("add", "2h", "x", "--nam", "n", "--what"),
     ("add", "2h", "x", "-p", "week"), ("add", "2h", "x", "--tools", ","), ("target", "move", "x"), ("list", "x")],
)  # fmt: skip
def test_what_is_said_wrongly_is_2(said, words):
    with pytest.raises(SystemExit) as left:
        said(*words)
    assert left.value.code == 2


# --- jobs


def test_a_job_is_told_as_it_was_understood_with_its_next_times_and_what_becomes_of_missed_ones(said):
    code, out, _ = said("add", "every monday 9am", "What is new?", "--name", "news")
    rows = dict(line.split(None, 1) for line in out.splitlines()[:4])
    assert (code, rows["job"], rows["does"]) == (0, "news", "What is new?")
    assert "monday" in rows["when"].lower()
    assert rows["next"].count("09:00 CE") == 3
    assert "the latest missed time runs as soon as something is" in out
    assert "Nobody watches over jobs now" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("every 2h", "x", "--misfire", "all"), "each missed time is run later, the oldest first"),
        (("every 2h", "x", "--misfire", "skip", "--grace", "10m"), "a time is skipped, unless something is there within its grace of 10 min"),
        (("in 2h", "x"), "it runs as soon as something is"),
        (("in 2h", "x", "--misfire", "skip"), "a time is skipped"),
    ],
)  # fmt: skip
def test_what_becomes_of_a_missed_time_is_said_when_a_job_is_made(said, words, says):
    assert says in said("add", *words)[1]


def test_everything_that_is_said_of_a_job_is_kept(said, tmp_path):
    made = said.json(
        "add", "every 6h", "Look", "--name", "looker", "--zone", "Asia/Kathmandu", "--tools", "python,terminal", "--model",
        "small", "--budget", "7", "--folder", str(tmp_path), "--repeat", "3", "--misfire", "all", "--grace", "10m",
        "--jitter", "90s", "--timeout", "1h30m", "--deliver", "file:out/{date}.md", "--deliver", "desktop", "--approvals", "allow",
        "--jobs", "--keep", "9", "--anywhere",
    )["job"]  # fmt: skip
    assert made | {"id": "", "since": ""} == {
        "id": "", "name": "looker", "schedule": "every 6h", "zone": "Asia/Kathmandu", "since": "", "prompt": "Look",
        "notebook": "", "parameters": [], "skills": [], "tools": ["python", "terminal"], "model": "small", "budget": 7,
        "folder": str(tmp_path), "enabled": True, "repeat": 3, "misfire": "all", "grace": 600.0, "jitter": 90.0,
        "timeout": 5400.0, "deliver": ["file:out/{date}.md", "desktop"], "approvals": "allow", "jobs": True, "keep": 9, "place": "", "digest": "",
    }  # fmt: skip
    assert said.json("show", "looker")["job"] == said.json("list")[0]["job"] == made


def test_a_notebook_is_a_job_with_values_on_top(said, tmp_path):
    job = said.json("add", "every monday 9am", "report.ipynb", "-p", "week=48", "-p", "who=Ann")["job"]
    assert job["notebook"] == str(tmp_path / "work/report.ipynb")
    assert [(each["name"], json.loads(each["value"])) for each in job["parameters"]] == [("week", 48), ("who", "Ann")]
    assert (job["prompt"], job["name"]) == ("", "report")
    assert "with week=48, who=" in said("show", "report")[1]


def test_a_long_prompt_is_shown_to_its_last_line(said):
    prompt = "\n".join(f"Step {n}: look once more." for n in range(40))
    said("add", "every monday 9am", prompt, "--name", "long")
    assert prompt in said("show", "long")[1]


def test_a_prompt_that_only_speaks_of_a_notebook_is_a_prompt(said):
    job = said.json("add", "every monday 9am", "Summarise report.ipynb")["job"]
    assert (job["prompt"], job["notebook"]) == ("Summarise report.ipynb", "")


def test_a_job_is_listed_changed_paused_resumed_and_removed(said):
    said("add", "every monday 9am", "What is new?", "--name", "news", "--tools", "python")
    head, row = said()[1].splitlines()
    assert head.split() == ["job", "when", "next", "last", "state"]
    assert (row.split()[0], row.split()[-1]) == ("news", "on")
    said("change", "news", "--when", "every friday 17:00", "--tools", "all", "--grace", "usual", "--name", "friday")
    job = said.json("show", "friday")["job"]
    assert (job["schedule"], job["tools"], job["grace"], job["prompt"]) == ("0 17 * * 5", None, None, "What is new?")
    assert "friday is paused" in said("pause", "friday")[1]
    paused = said.json("list")[0]
    assert (paused["state"], paused["next"]) == ("paused", [])
    assert said("resume", "friday")[0] == 0
    assert said.json("list")[0]["state"] == "on"
    assert "friday is removed" in said("remove", job["id"][:6])[1]
    assert said.json("list") == []


def test_another_time_of_a_job_that_has_had_its_runs_promises_none(said):
    said("add", "every monday 9am", "What is new?", "--name", "news", "--repeat", "1")
    with hands() as held:
        job = held.jobs.find("news").id
        Book(held.store, fresh_id).record(
            RunBegan(job, f"{job[:8]}-run", 1.0), RunEnded(job, f"{job[:8]}-run", 1.0, "ran")
        )
    code, out, _ = said("change", "news", "--when", "every friday 17:00")
    assert code == 0
    assert "never: it has had its 1 run, a higher `repeat` gives it more" in out
    assert "If nothing is there to run it then" not in out
    assert said.json("change", "news", "--repeat", "2")["next"][1:] == []


def test_what_a_person_wrote_reaches_a_terminal_as_words(said):
    said("add", "every monday 9am", EVIL, "--name", "evil")
    for words in (("show", "evil"), ("list",), ("change", "evil", "--keep", "3")):
        assert "\x1b" not in said(*words)[1]


def test_the_json_of_a_job_has_the_keys_that_are_documented(said):
    said("add", "every monday 9am", "What is new?", "--name", "news")
    standing = {"job", "sentence", "state", "next", "outcome", "at", "why", "running", "waiting", "runs"}
    assert set(said.json("list")[0]) == standing
    assert set(said.json("show", "news")) == standing | {"recent"}
    assert set(said.json("pause", "news")) >= {"id", "name", "schedule", "zone", "since"}
    assert said.json("runs") == []
    assert said.json("targets") == []


# --- targets


@pytest.mark.parametrize(
    "words",
    [
        ("show", "{}"), ("runs", "{}"), ("stop", "{}"), ("target", "test", "{}"), ("target", "remove", "{}"),
        ("target", "add", "{}", "x"), ("target", "add", "x", "{}"), ("add", "2h", "x", "--deliver", "{}"),
        ("add", "2h", "x", "--deliver", "none", "--deliver", "{}"), ("add", "2h", "x", "--name", "{}"),
    ],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("address", ["slakc://xoxb-s3cr3tword/A/B", "slack:/xoxb-s3cr3tword"])
def test_an_address_in_the_wrong_place_is_not_said_again(said, words, address):
    code, out, err = said(*(word.format(address) for word in words))
    assert (code, out) == (1, "")
    assert "s3cr3tword" not in err


def test_an_address_is_read_where_no_other_user_of_the_machine_sees_it(said, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("json://user:s3cr3tword@127.0.0.1:9/hook\n"))
    assert said("target", "add", "team", "-")[0] == 0
    assert [each["address"] for each in said.json("targets")] == ["json://127.0.0.1/…"]
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert said("target", "add", "other", "-")[0] == 1


def test_a_target_is_named_shown_without_its_secrets_and_forgotten(said, home):
    assert said("target", "add", "team", "json://user:s3cr3tword@127.0.0.1:9/hook")[0] == 0
    shown = said("target", "list")[1]
    assert "team" in shown
    assert "s3cr3tword" not in shown + json.dumps(said.json("targets"))
    assert [set(each) for each in said.json("target")] == [{"name", "address", "set"}]
    said("add", "every monday 9am", "What is new?", "--deliver", "team")
    assert said.json("list")[0]["job"]["deliver"] == ["team"]
    code, out, err = said("target", "test", "team")
    assert (code, out) == (1, "")
    assert "team was not reached" in err
    assert "s3cr3tword" not in err
    assert "no target any more" in said("target", "remove", "team")[1]
    assert said.json("targets") == []


# --- runs


@pytest.fixture
def served(home, monkeypatch):
    """``served(*steps)``: a model that answers so."""
    servers: list[Server] = []

    def start(*steps) -> Server:
        server = Server([*steps]).start()
        servers.append(server)
        for name, value in (("BASE_URL", server.url), ("MODEL", "scripted"), ("API_KEY", "none")):
            monkeypatch.setenv(f"HERMES_{name}", value)
        return server

    yield start
    for server in servers:
        server.stop()


def test_nothing_is_due_and_when_something_is(said):
    code, out, err = said.any("tick")
    assert (code, out, err) == (0, "nothing to do; nothing is planned\n", "")
    said("add", "2099-01-01T12:00", "Hello")
    assert said.any("tick")[1] == "nothing to do; next look: Thu 1 Jan 2099 12:00 CET\n"
    assert json.loads(said.any("tick", "--json")[1]) == {"handled": [], "next": "2099-01-01T11:00:00Z"}


def test_an_agenda_that_a_full_disk_did_not_take_is_not_told_as_nothing_planned():
    assert ticked((), NOW).note == "nothing to do; next look: now"
    assert ticked((), None).note == "nothing to do; nothing is planned"


def test_a_tick_beside_another_one_says_when_it_is_looked_again_and_not_that_nothing_is_due(said):
    said("add", "every monday 9am", "How is it?", "--name", "how")
    with hands() as held:
        held.jobs.run("how")
        with closing(held.store.claim(held.jobs.find("how").id)):
            code, out, err = said.any("tick")
    assert (code, err) == (0, "")
    assert out.startswith("nothing to do; next look: ")


def test_a_run_that_was_asked_for_is_done_by_a_tick_and_told_from_every_side(said, served, home, tmp_path):
    served(forever(say("All is **well**.")))
    said("add", "every monday 9am", "How is it?", "--name", "how", "--deliver", f"file:{tmp_path}/told.md")
    found = run_by_tick(said, "how")
    assert (found["outcome"], found["report"].strip(), found["asked"]) == ("ran", "All is **well**.", True)
    assert found["targets"] == [{"target": f"file:{tmp_path}/told.md", "failed": ""}]
    assert "All is **well**." in (tmp_path / "told.md").read_text()
    assert nbformat.read(found["notebook"], as_version=4)["cells"]
    rows = said("runs", "how")[1].splitlines()
    assert rows[0].split() == ["job", "run", "due", "outcome", "took", "why"]
    job, name = rows[1].split()[:2]
    assert (job, said.json("runs", name)["run"]) == ("how", found["run"])
    assert len(name) < 20
    assert rows[-1] == "`schedule runs RUN` shows all about one, and where its notebook is."
    page = said("runs", found["run"])[1]
    for told in ("All is **well**.", found["notebook"], "told.md", "asked for"):
        assert told in page
    shown = said("show", "how")[1]
    assert shown.count("ran, ") == 1
    assert "0 at its times, besides those asked for" in shown
    assert {"run", "job", "due", "outcome", "why", "notebook", "report", "targets", "seconds"} <= set(found)


def test_a_run_that_fails_is_recorded_and_the_tick_has_done_its_work(said, served, tmp_path):
    served(forever(status(401)))
    said("add", "every monday 9am", "How is it?", "--name", "how", "--deliver", f"file:{tmp_path}/told.md")
    found = run_by_tick(said, "how")
    assert found["outcome"] == "failed"
    assert found["why"]
    assert "failed" in (tmp_path / "told.md").read_text()


def run_by_tick(said, name: str) -> dict:
    """Somebody wants it to run, and the next tick does it."""
    with hands() as held:
        run = held.jobs.run(name)
    code, out, err = said.any("tick")
    assert (code, err) == (0, "")
    assert name in out.splitlines()[0]
    assert out.splitlines()[-1].startswith("next look: Mon ")
    return said.json("runs", run)


def test_who_waits_for_a_run_is_told_how_it_ended_and_by_the_exit_code(said, served):
    served(forever(say("All is well.")))
    said("add", "every monday 9am", "How is it?", "--name", "how")
    code, out, _ = said("run", "how", "--wait")
    assert code == 0
    assert "All is well." in out
    assert [each.wait(30) for each in ticks._begun] == [0], "the tick that was begun for it leaves, too"


def test_who_waits_for_a_run_that_nobody_may_do_here_is_told_so(said):
    said("add", "every monday 9am", "How is it?", "--name", "how")
    with hands() as held:
        Book(held.store, fresh_id).record(JobSet(replace(held.jobs.find("how"), place="another home")))
    code, out, err = said("run", "how", "--wait")
    assert (code, out) == (1, "")
    assert "is waiting, and nobody runs it: `hermes-kernel doctor` says more." in err


def test_who_waits_for_a_run_that_a_tick_of_somebody_else_does_waits(said):
    said("add", "every monday 9am", "How is it?", "--name", "how")
    with hands() as held, hands() as other:
        run, job = held.jobs.run("how"), held.jobs.find("how").id
        claim = other.store.claim(job)
        assert doing.ended(held, run) is None
        claim.close()
        with pytest.raises(HermesError, match="nobody runs it"):
            doing.ended(held, run)


def test_who_waits_for_a_run_that_waits_for_a_slot_behind_those_of_another_tick_waits(said, home):
    said("add", "every monday 9am", "How is it?", "--name", "how")
    with hands() as held:
        run, queue = held.jobs.run("how"), Post(home, QUEUE)
        assert queue.take()
        assert doing.ended(held, run) is None
        queue.leave()
        with pytest.raises(HermesError, match="nobody runs it"):
            doing.ended(held, run)


def test_who_waits_for_a_run_waits_until_its_report_was_sent_too(said):
    said("add", "every monday 9am", "How is it?", "--name", "how", "--deliver", "file:told.md")
    with hands() as held, hands() as other:
        run, job = held.jobs.run("how"), held.jobs.find("how").id
        book = Book(other.store, fresh_id)
        with closing(other.store.claim(job)):
            book.record(RunBegan(job, run, 1.0, asked=True), RunEnded(job, run, 1.0, "ran", text="All is well."))
            assert doing.ended(held, run) is None
            book.record(Told(job, run, "file:told.md"))
            assert doing.ended(held, run).outcome == "ran"


def test_a_scheduler_says_that_it_is_at_work_is_told_of_and_ends_cleanly_when_it_is_asked_to(said, home):
    asked = [sys.executable, "-m", "hermes_kernel", "scheduler"]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as scheduler:
        assert scheduler.stdout.readline() == f"the scheduler of {home} is at work\n"
        assert "Nobody watches" not in said("add", "every monday 9am", "What is new?")[1]
        code, out, err = said.any("scheduler")
        assert (code, out) == (1, "")
        assert "is the scheduler of" in err
        scheduler.send_signal(signal.SIGTERM)
        rest, trouble = scheduler.communicate(timeout=30)
    assert (scheduler.returncode, trouble) == (0, "")
    assert rest.splitlines()[-1] == f"the scheduler of {home} has ended (SIGTERM)"


@pytest.mark.parametrize(
    "words",
    [
        ("add", "in 1h", "Clean up.", "--approvals", "allow", "--jobs"),
        ("change", "news", "--approvals", "allow"),
        ("run", "news"),
        ("remove", "news"),
        ("targets", "add", "team", "json://evil.example.com/hook"),
    ],
    ids=" ".join,
)
def test_a_run_changes_no_jobs_by_commands_unless_it_may_do_all_that_a_person_may(said, monkeypatch, words):
    said("add", "every monday 9am", "What is new?", "--name", "news")
    before = said.json("list")
    monkeypatch.setenv("HERMES_RUN", "abcdef01-20261207T080000Z")
    for writes, approvals in (("off", "deny"), ("on", "deny"), ("off", "allow")):
        monkeypatch.setenv("HERMES_SCHEDULE_WRITES", writes)
        monkeypatch.setenv("HERMES_APPROVALS", approvals)
        code, out, err = said(*words)
        assert (code, out) == (1, "")
        assert "This is the run abcdef01-20261207T080000Z of a job" in err
    assert said.json("list") == before, "looking is always allowed"
    assert said.json("targets") == []
    monkeypatch.setenv("HERMES_SCHEDULE_WRITES", "on")
    assert said("pause", "news")[0] == 0


def test_a_store_that_cannot_be_used_is_1(said, home):
    home.mkdir()
    (home / "store").write_text("in the way")
    code, out, err = said.any("tick")
    assert (code, out) == (1, "")
    assert 0 < len(err.splitlines()) <= 2


def test_each_word_is_explained(capsys):
    for verb in VERBS:
        with pytest.raises(SystemExit) as left:
            main(["schedule", verb, "--help"])
        assert left.value.code == 0
    assert capsys.readouterr().out.count("usage: hermes-kernel schedule") == len(VERBS)
