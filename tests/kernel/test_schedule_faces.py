"""Jobs in real kernels: made, seen, run and stopped from notebooks, in the words of the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing

import nbformat
import pytest

from hermes_kernel.core.planned import RunEnded, StopWanted
from hermes_kernel.testing import Server, forever, say, stall
from hermes_kernel.world.store.opening import open_store
from tests.kernel.conftest import ROOT, Kernel, Ran
from tests.soon import SOON

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

EVIL = "<img src=x onerror=alert(1)> & [x](javascript:alert(1)) `%%bash`"
PATIENCE = 90  # seconds; nothing is tested by them
TICKS = "from hermes_kernel.scheduling.ticks import _begun as _ticks"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory) -> Iterator[Kernel]:
    """A kernel in a home of its own, in which nobody watches: what runs is what a test has asked for."""
    home = tmp_path_factory.mktemp("home")
    (home / "kernel.toml").write_text("schedule_watch = false\n")
    made = Kernel("hermes", sys.executable, home)
    done(made, made.python("import os; os.environ['TZ'] = 'Europe/Zurich'"))
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _empty(request) -> Iterator[None]:
    """No job outlives its test, nor does a tick, which would do the next one's work with this one's settings."""
    yield
    if "kernel" in request.fixturenames:
        kernel = request.getfixturevalue("kernel")
        kernel.run(kernel.python(f"{TICKS}\n[each.wait({PATIENCE}) for each in _ticks]"), timeout=PATIENCE + 30)
        code = (
            "for each in (%hermes jobs).value: get_ipython().run_line_magic('hermes', f'schedule remove {each.job.id}')"
        )
        kernel.run(kernel.python("them = %hermes jobs"))
        kernel.run(kernel.python(code.replace("(%hermes jobs)", "them")))


def done(kernel: Kernel, cell: str) -> Ran:
    """A cell that does what it is to do."""
    ran = kernel.run(cell)
    assert ran.status == "ok", ran.error
    return ran


def shell(kernel: Kernel, *words: str) -> str:
    """What the command line says in the same home."""
    names = ("HERMES_", "OPENAI_")
    ours = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    ours |= {"HERMES_HOME": str(kernel.home), "TZ": "Europe/Zurich", "PYTHONPATH": str(ROOT)}
    asked = [sys.executable, "-m", "hermes_kernel", "schedule", *words]
    ran = subprocess.run(asked, capture_output=True, text=True, env=ours, cwd=kernel.home, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_job_is_made_in_a_line_told_as_it_was_understood_and_is_a_value(kernel):
    ran = kernel.run('%hermes schedule "every monday 9am" "What\'s new?" --name news --misfire all --deliver desktop')
    assert ran.status == "ok", ran.error
    assert "monday" in ran.text.lower()
    assert ran.text.count("09:00 CE") == 3
    assert "each missed time is run later, the oldest first" in ran.text
    assert "Nobody watches over jobs now" in ran.text, "for it is off in this home"
    kernel.run(kernel.python("them = %hermes jobs"))
    assert kernel.value("[(s.job.name, s.job.prompt, s.job.misfire, s.job.deliver) for s in them.value]") == repr(
        [("news", "What's new?", "all", ("desktop",))]
    )


def test_the_rest_of_a_cell_may_be_the_prompt(kernel):
    ran = kernel.run(
        '%%hermes --schedule "every weekday at 18:30" --name report\nLook at the sales.\n\nThen write a report.'
    )
    assert ran.status == "ok", ran.error
    assert "18:30" in ran.text
    assert kernel.value("(_.name, _.prompt)") == repr(("report", "Look at the sales.\n\nThen write a report."))


def test_a_notebook_and_a_shell_say_the_same(kernel):
    kernel.run('%hermes schedule "every monday 9am" "What is new?" --name news')
    kernel.run('%hermes schedule "in 90 minutes" "Stretch" --name stretch --jitter 5m')
    assert kernel.run("%hermes jobs").shown()[0].strip() == shell(kernel, "list").strip()
    assert kernel.run("%hermes jobs news").shown()[0].strip() == shell(kernel, "show", "news").strip()
    assert kernel.run("%hermes runs").shown()[0].strip() == shell(kernel, "runs").strip()
    asked = "schedule next 'every month on the 1st at 07:00' --from 2027-01-01 -n 3"
    assert kernel.run(f"%hermes {asked}").shown()[0].strip() == shell(kernel, "next", *json_words(asked)).strip()


def json_words(asked: str) -> list[str]:
    return ["every month on the 1st at 07:00", *asked.rpartition("'")[2].split()]


def test_what_others_wrote_is_words_in_a_notebook(kernel):
    ran = kernel.run(f"%hermes schedule '2h' {EVIL!r} --name evil")
    assert ran.status == "ok", ran.error
    pages = [ran.shown("text/html"), kernel.run("%hermes jobs evil").shown("text/html")]
    for (page,) in pages:
        assert "<img" not in page
        assert "&lt;img" in page


def test_what_cannot_be_done_is_a_line_or_two(kernel):
    for line, says in (
        ('schedule "every 0m" "x"', "every"),
        ('schedule "every monday 9am"', "prompt is empty"),
        ('schedule "every monday 9am" "x" y', "unrecognized arguments: y"),
        ('schedule every monday 9am "x"', "unrecognized arguments"),
        ('schedule "every monday 9am "x"', "A quote is not closed"),
        ('schedule "every 2h" "x" --nam n', "unrecognized arguments: --nam n"),
        ('schedule "every 2h" "x" --misfire sometimes', "it must be skip, once or all"),
        ('schedule "every 2h" "x" -p week', "NAME=VALUE"),
        ("schedule pause nobody", "There is no job 'nobody'"),
        ("schedule pausee nobody", "There is no `schedule pausee`. Close to it: `schedule pause`."),
        ("schedule next", "WHEN"),
        ("schedule next soonish", "soonish"),
        ("schedule targets fly", "invalid choice: 'fly'"),
        ("jobs nobody", "There is no job 'nobody'"),
        ("runs nobody", "There is no job or run 'nobody'"),
        ("runs stop nobody", "No run 'nobody' goes on"),
    ):
        ran = kernel.run(f"%hermes {line}")
        assert ran.status == "error", line
        assert says in ran.error, (line, ran.error)
        assert "Traceback" not in ran.error
        assert len(ran.error.splitlines()) <= 2, ran.error
    for line, says in (
        ("--schedule", "needs a time in quotes"),
        ('--schedule "2h"', "prompt is empty"),
        ("--budget 3 --schedule 2h", "comes first"),
    ):
        ran = kernel.run(f"%%hermes {line}\n")
        assert says in ran.error, ran.error
    assert "There are no jobs." in kernel.run("%hermes jobs").text


def test_the_help_lists_all_that_can_be_said(kernel):
    told = kernel.run("%hermes help schedule").text
    for words in (
        '%hermes schedule "WHEN" "PROMPT"',
        "%%hermes --schedule",
        "--misfire",
        "schedule next WHEN",
        "schedule targets",
    ):
        assert words in told


def test_tab_knows_the_jobs_there_are(kernel):
    kernel.run('%hermes schedule "2h" "x" --name tea-time')
    kernel.client.complete("%hermes schedule pause te")
    reply = kernel.client.get_shell_msg(timeout=30)["content"]
    assert reply["matches"] == ["tea-time"]


def test_a_run_goes_on_beside_the_notebook_and_is_seen_there(kernel):
    with Server([forever(say(f"All is **well**. {EVIL}"))]) as server:
        done(kernel, kernel.python(f"os.environ['HERMES_BASE_URL'] = {server.url!r}"))
        done(kernel, '%hermes schedule "2099-01-01T12:00" "How is it?" --name how')
        began = time.monotonic()
        done(kernel, kernel.python("asked = %hermes schedule run how"))
        assert time.monotonic() - began < 10, "it returns at once"
        run = kernel.value("asked.value").strip("'")
        page = until(kernel, run, "outcome +ran")
    assert "All is **well**." in page
    (shown,) = kernel.run(f"%hermes runs {run}").shown("text/html")
    assert "&lt;img" in shown
    assert "<img" not in shown
    notebook = re.search(r"^notebook +(.+)$", page, re.MULTILINE)[1]
    assert "How is it?" in nbformat.writes(nbformat.read(notebook, as_version=4))
    assert json.loads(shell(kernel, "runs", run, "--json"))["outcome"] == "ran"


def test_a_run_is_stopped_from_another_kernel_at_once_and_recorded_as_such(kernel):
    other = Kernel("python3", sys.executable, kernel.home)
    try:
        with Server([forever(stall(["Let me think", " more."], after=1, seconds=float("inf")))]) as server:
            done(kernel, kernel.python(f"os.environ['HERMES_BASE_URL'] = {server.url!r}"))
            done(kernel, '%hermes schedule "2099-01-01T12:00" "Think forever" --name thinker')
            done(kernel, kernel.python("asked = %hermes schedule run thinker"))
            run = kernel.value("asked.value").strip("'")
            assert server.await_requests(1, PATIENCE), "the run asks the model"
            assert "running" in other.run(f"%hermes runs {run}").text
            stopped = other.run(f"%hermes runs stop {run}")
            assert stopped.status == "ok", stopped.error
            page = until(other, run, "outcome +stopped")
    finally:
        other.close()
    assert "stopped by" in page
    with closing(open_store(kernel.home, "")) as store:
        facts = store.learnt((StopWanted, RunEnded), 0)
    (asked,) = (each.t for each in facts if isinstance(each.fact, StopWanted) and each.fact.run == run)
    (ended,) = (each for each in facts if isinstance(each.fact, RunEnded) and each.fact.run == run)
    print(f"stopped {ended.t - asked:.2f} s after it was asked for")
    assert ended.fact.outcome == "stopped"
    assert ended.t - asked < SOON


def until(kernel: Kernel, run: str, sign: str) -> str:
    """The page of a run, once it says so."""
    end = time.monotonic() + PATIENCE
    while not re.search(sign, page := kernel.run(f"%hermes runs {run}").shown()[0]):
        assert time.monotonic() < end, page
        time.sleep(0.2)
    return page
