"""What every runner does (the real one through a kernel and a scripted server), and how the real one judges a run."""

from __future__ import annotations

import asyncio
import stat
import time
from contextlib import closing
from dataclasses import replace

import pytest

from hermes_kernel.core.planned import OUTCOMES, RunBegan
from hermes_kernel.scheduling.ports import Ran
from hermes_kernel.scheduling.running import NotebookRunner
from hermes_kernel.testing import Server, call, filtered, forever, late, say
from hermes_kernel.testing.clock import FastClock
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import MemoryLog, Store
from tests.contracts.own_kernels import ROBBERIES, python_spec, robbed_spec
from tests.contracts.runs import DUE, ScriptedRunner, environ, job, parameters, read, real, shown, template, work
from tests.disks import small_disk
from tests.soon import SOON

pytestmark = pytest.mark.slow

ANSWER = "Nothing is **new**."
SCRIPT = {
    "What is new?": Ran("ran", text=ANSWER, session="s1"),
    "Fail.": Ran("failed", "The model refused to answer."),
}


def answers(request):
    asked = str(request.messages[-1]["content"])
    return filtered() if "Fail." in asked else late(say("Never."), 30) if "Wait." in asked else say(ANSWER)


@pytest.fixture(params=["scripted", "real"])
def runner(request, tmp_path):
    if request.param == "scripted":
        yield ScriptedRunner(SCRIPT)
        return
    with Server(answers) as server:
        yield real(tmp_path / "home", server)


async def test_a_run_is_a_notebook_and_says_what_the_agent_said(runner, tmp_path):
    done = work(tmp_path / "home", job("What is new?"))
    ran = await runner.run(done, Stop())
    assert (ran.outcome, ran.why, ran.text) == ("ran", "", ANSWER)
    assert ran.session
    assert "What is new?" in read(done.notebook).cells[-1].source


async def test_one_that_failed_says_why_in_a_line_and_is_a_notebook_too(runner, tmp_path):
    done = work(tmp_path / "home", job("Fail."))
    ran = await runner.run(done, Stop())
    assert ran.outcome == "failed"
    assert ran.why
    assert "\n" not in ran.why
    assert any("Fail." in cell.source for cell in read(done.notebook).cells)


@pytest.mark.parametrize("wait", [0.0, 2.5])
async def test_a_stop_ends_it_within_a_second_and_what_there_is_is_kept(runner, tmp_path, wait):
    done, stop = work(tmp_path / "home", job("Wait.")), Stop()
    going = asyncio.ensure_future(runner.run(done, stop))
    await asyncio.sleep(wait)
    pressed = time.perf_counter()
    stop.press("model")
    ran = await going
    assert time.perf_counter() - pressed < SOON
    assert (ran.outcome, ran.why) == ("stopped", "stopped by model")
    assert any("Wait." in cell.source for cell in read(done.notebook).cells)


def test_outcomes_are_words_of_the_record():
    assert {each.outcome for each in SCRIPT.values()} < set(OUTCOMES)


# --- what the real one says of a run


async def play(home, given, *steps, **how):
    """The run of a job, and its notebook."""
    done = work(home, given)
    with Server([*steps, forever(say("More."))]) as server:
        ran = await real(home, server, **how).run(done, Stop())
    return ran, done.notebook


async def test_a_used_up_budget_is_a_run_that_says_so(tmp_path):
    step = call("python", {"code": "1 + 1"})
    ran, _ = await play(tmp_path / "home", job("Count.", budget=1), step, say("Two, so far."))
    assert (ran.outcome, ran.why, ran.text) == ("ran", "the budget was used up", "Two, so far.")


async def test_an_agent_that_says_nothing_failed(tmp_path):
    with Server(forever(say(""))) as server:
        ran = await real(tmp_path / "home", server).run(work(tmp_path / "home", job("Speak.")), Stop())
    assert ran.outcome == "failed"
    assert ran.why
    assert ran.text == ""


async def test_a_run_that_takes_too_long_failed(tmp_path):
    ran, path = await play(tmp_path / "home", job("Wait.", timeout=3), late(say("Never."), 60))
    assert (ran.outcome, ran.why) == ("failed", "took longer than 3 s")
    assert "took longer than 3 s" in read(path).cells[-1].source


async def test_parameters_and_options_reach_the_agent(tmp_path):
    given = job(
        "What of $city in week $week?", parameters=parameters(city='Zürich "West"\n', week=48), tools=(), budget=3
    )
    with Server([forever(say("Snow."))]) as server:
        done = work(tmp_path / "home", given)
        ran = await real(tmp_path / "home", server).run(done, Stop())
        asked = server.requests[0]
    assert ran.text == "Snow."
    assert "48" in asked.messages[-1]["content"]
    assert "Zürich" in asked.messages[-1]["content"]
    assert not asked.body.get("tools")


async def test_dangerous_tools_are_denied_and_nobody_is_asked(tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    step = call("terminal", {"command": f"rm -rf {victim}"})
    ran, _ = await play(tmp_path / "home", job("Clean up."), step, say("It was not allowed."))
    assert (ran.outcome, ran.text) == ("ran", "It was not allowed.")
    assert victim.is_dir()


async def test_nothing_secret_of_the_environment_is_in_the_notebook_or_the_report(tmp_path):
    secret = "correct-horse-battery"
    path = template(
        tmp_path / "t.ipynb", "import os", "print(os.environ['MY_API_KEY'])", "{'k': os.environ['MY_API_KEY']}"
    )
    ran, notebook = await play(tmp_path / "home", job(notebook=str(path)), MY_API_KEY=secret)
    assert ran.outcome == "ran", ran.why
    assert secret not in notebook.read_text() + ran.text
    assert "redacted" in notebook.read_text()


async def test_the_notebook_is_its_owners_alone_and_the_job_works_beside_it(tmp_path):
    path = template(tmp_path / "elsewhere.ipynb", "import os; print(os.getcwd())")
    ran, notebook = await play(tmp_path / "home", job(notebook=str(path)))
    assert ran.text == str(tmp_path)
    ran, notebook = await play(tmp_path / "home", job(notebook=str(path), folder=str(tmp_path / "home")))
    assert ran.text == str(tmp_path / "home")
    assert stat.S_IMODE(notebook.stat().st_mode) == 0o600
    assert stat.S_IMODE(notebook.parent.stat().st_mode) == 0o700


# --- notebooks as jobs


async def test_the_notebooks_of_a_removed_job_stay_when_another_has_its_name(tmp_path):
    home, runner = tmp_path / "home", real(tmp_path / "home")
    ours = job(notebook=str(tmp_path / "gone.ipynb"), keep=2)
    theirs = replace(ours, id="0123456789abcdef", keep=50)
    made = []
    with closing(Store(home)) as store:
        for day, each in enumerate((*[theirs] * 3, *[ours] * 4)):
            done = work(home, each, f"run-{day}", DUE - (40 - day) * 86_400)
            store.append("jobs", RunBegan(each.id, done.run, done.due, notebook=str(done.notebook)))
            assert (await runner.run(done, Stop())).outcome == "failed"
            made.append(done.notebook)
    assert sorted(made[0].parent.glob("*.ipynb")) == [*made[:3], *made[-2:]]


async def test_a_notebook_is_run_as_it_is_with_the_parameters_of_the_job(tmp_path):
    path = template(tmp_path / "r.ipynb", "week = 1\nyear = 2026", "print(year, week)", tags={0: "parameters"})
    before = path.read_bytes()
    ran, _ = await play(tmp_path / "home", job(notebook=str(path), parameters=parameters(week=48)))
    assert (ran.outcome, ran.text) == ("ran", "2026 48")
    assert path.read_bytes() == before


async def test_prompts_in_a_notebook_are_asked_and_the_last_answer_is_the_report(tmp_path):
    path = template(tmp_path / "r.ipynb", "%%py\nn = 41", "Add one to $n.", kernel="hermes")
    ran, notebook = await play(
        tmp_path / "home", job(notebook=str(path), parameters=parameters(x=1)), say("It is *42*.")
    )
    assert (ran.outcome, ran.text) == ("ran", "It is *42*.")
    assert "It is *42*." in shown(notebook)


async def test_a_cell_that_fails_and_one_that_ends_its_kernel_are_failed_runs(tmp_path):
    path = template(tmp_path / "r.ipynb", "print('before')", "1 / 0", "print('after')")
    ran, notebook = await play(tmp_path / "home", job(notebook=str(path)))
    assert (ran.outcome, ran.why) == ("failed", "a cell failed: ZeroDivisionError: division by zero")
    assert "before" in shown(notebook)
    assert "after" not in shown(notebook)
    path = template(tmp_path / "r.ipynb", "import os; os._exit(3)")
    ran, notebook = await play(tmp_path / "home", job(notebook=str(path)))
    assert (ran.outcome, ran.why) == ("failed", "the kernel died")


FLOODS = [
    "while True: print('x' * 100_000)",
    "while True: display({'text/plain': 'x' * 1_000_000}, raw=True)",
    "print('x' * 60_000_000)",
]


@pytest.mark.parametrize("flood", FLOODS)
async def test_a_run_that_shows_without_end_is_ended_and_leaves_the_beginning(tmp_path, flood):
    path = template(tmp_path / "r.ipynb", "print('before')", flood, "print('after')")
    ran, notebook = await asyncio.wait_for(play(tmp_path / "home", job(notebook=str(path))), 100)
    assert (ran.outcome, ran.why) == (
        "failed", "it showed more than 50 million characters: the beginning is in the notebook",
    )  # fmt: skip
    assert notebook.stat().st_size < 2_000_000
    assert "before" in shown(notebook)
    assert "after" not in shown(notebook)


async def test_what_is_shown_in_the_place_of_what_was_before_may_be_without_end(tmp_path):
    again = "for _ in range(80): clear_output(); print('x' * 1_000_000)"
    path = template(tmp_path / "r.ipynb", f"from IPython.display import clear_output\n{again}", "'after'")
    ran, _ = await play(tmp_path / "home", job(notebook=str(path)))
    assert (ran.outcome, ran.text) == ("ran", "'after'")


async def test_input_waits_for_nobody(tmp_path):
    path = template(tmp_path / "r.ipynb", "input('Who are you?')")
    ran, _ = await play(tmp_path / "home", job(notebook=str(path)))
    assert ran.outcome == "failed"
    assert "StdinNotImplementedError" in ran.why


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"notebook": "/nowhere/r.ipynb"}, "there is no notebook"),
        ({"prompt": "Hi.", "folder": "/nowhere"}, "/nowhere is not there"),
        ({"prompt": "Hi.", "parameters": parameters(**{"a b": 1})}, "name of a parameter"),
        ({"prompt": "Hi.", "model": "a\nb"}, "--model cannot be"),
    ],
)
async def test_what_cannot_be_run_is_a_failed_run_in_one_line_and_a_notebook_that_says_so(tmp_path, changes, said):
    done = work(tmp_path / "home", job(**changes))
    ran = await real(tmp_path / "home").run(done, Stop())
    assert ran.outcome == "failed"
    assert said in ran.why
    assert "\n" not in ran.why
    assert said in read(done.notebook).cells[-1].source


@pytest.mark.parametrize("name", ["no-such-kernel", "../../../etc", "a\nb", "x" * 5000])
async def test_a_kernel_that_is_not_there_is_a_failed_run(tmp_path, name):
    path = template(tmp_path / "r.ipynb", "1", kernel=name)
    ran = await real(tmp_path / "home").run(work(tmp_path / "home", job(notebook=str(path))), Stop())
    assert ran.outcome == "failed"
    assert ran.why.startswith("there is no kernel")
    assert len(ran.why) < 200


async def test_a_kernel_that_ends_as_it_starts_is_a_failed_run_that_says_its_last_words(tmp_path, monkeypatch):
    python_spec(tmp_path, "soup", "import sys; sys.exit('no module named soup')")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    path = template(tmp_path / "r.ipynb", "1", kernel="soup")
    ran = await real(tmp_path / "home").run(work(tmp_path / "home", job(notebook=str(path))), Stop())
    assert (ran.outcome, ran.why) == ("failed", "The kernel soup did not start: no module named soup")


@pytest.mark.parametrize(("port", "most"), ROBBERIES)
async def test_a_kernel_whose_ports_are_taken_before_it_binds_them_is_started_again(tmp_path, monkeypatch, port, most):
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    starts = robbed_spec(tmp_path, "robbed", most, port)
    path = template(tmp_path / "r.ipynb", "print(6 * 7)", kernel="robbed")
    ran = await real(tmp_path / "home").run(work(tmp_path / "home", job(notebook=str(path))), Stop())
    assert (ran.outcome, len(starts.read_text())) == ("ran" if most == 2 else "failed", 3)
    assert ("Address already in use" in ran.why) == (most == 3)


async def test_a_kernel_that_runs_without_one_of_its_ports_is_not_started_again(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    starts = robbed_spec(tmp_path, "robbed", 9, "hb_port")
    path = template(tmp_path / "r.ipynb", "print(6 * 7)", kernel="robbed")
    ran = await real(tmp_path / "home").run(work(tmp_path / "home", job(notebook=str(path))), Stop())
    assert (ran.outcome, starts.read_text()) == ("ran", "x")


async def test_the_notebook_of_a_run_can_be_run_again_from_top_to_bottom(tmp_path):
    home = tmp_path / "home"
    with Server([say("It is 42."), say("It is 43.")]) as server:
        first = work(home, job("What is $n and one?", parameters=parameters(n=41)))
        assert (await real(home, server).run(first, Stop())).text == "It is 42."
        again = work(home, job(notebook=str(first.notebook), parameters=parameters(n=42)), "again")
        assert (await real(home, server).run(again, Stop())).text == "It is 43."
        assert [
            "41" in server.requests[0].messages[-1]["content"],
            "42" in server.requests[1].messages[-1]["content"],
        ] == [True, True]


async def test_two_that_run_side_by_side_are_told_apart(tmp_path):
    home = tmp_path / "home"

    def echo(request):
        return say("A!" if "Say A." in str(request.messages[-1]["content"]) else "B!")

    with Server(echo) as server:
        runner = real(home, server)
        both = [work(home, job(f"Say {which}.", name=which.lower()), which) for which in "AB"]
        ran = await asyncio.gather(*(runner.run(each, Stop()) for each in both))
    assert [each.text for each in ran] == ["A!", "B!"]
    assert ran[0].session != ran[1].session


async def test_a_folder_of_runs_that_is_a_link_is_not_written_through(tmp_path):
    (tmp_path / "home/runs").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "home/runs/brief").symlink_to(tmp_path / "elsewhere")
    ran = await real(tmp_path / "home", clock=FastClock()).run(work(tmp_path / "home", job("Hi.")), Stop())
    assert ran.outcome == "failed"
    assert "is a link" in ran.why
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_a_full_disk_is_a_failed_run_that_says_so_and_what_was_saved_stands(tmp_path):
    path = template(tmp_path / "r.ipynb", "print('before')", "print('x' * 3_000_000)")
    with small_disk(tmp_path, "2m") as disk:
        done = work(disk, job(notebook=str(path)))
        ran = await NotebookRunner(disk, MemoryLog(), SystemClock(), environ=environ()).run(done, Stop())
        assert (ran.outcome, "is full" in ran.why) == ("failed", True)
        assert "before" in shown(done.notebook)
        assert [each.name for each in done.notebook.parent.iterdir()] == [done.notebook.name]


async def test_a_home_that_cannot_be_written_is_a_failed_run(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home/runs").write_text("no folder")
    ran = await NotebookRunner(tmp_path / "home", MemoryLog(), SystemClock()).run(
        work(tmp_path / "home", job("Hi.")), Stop()
    )
    assert ran.outcome == "failed"
    assert "\n" not in ran.why
