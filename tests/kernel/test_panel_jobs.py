"""The panels of jobs and of runs, pressed as in a page: what comes next, what came of it, run, stop, at other times."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import closing

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from hermes_kernel.core.planned import JobSet, RunBegan, RunEnded, StopWanted
from hermes_kernel.core.schedule.due import run_id
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.run_names import short
from hermes_kernel.scheduling.book import Book
from hermes_kernel.testing import Server, forever, stall
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.store.opening import open_store
from tests.kernel.conftest import KINDS, Kernel
from tests.kernel.pressing import Page

EVIL = "<img src=x onerror=alert(1)> <script>alert(2)</script> [x](javascript:alert(3)) \u202eevil"
LATER = "2099-01-01T12:00"
NUMBERS = itertools.count()
TICKS = "from hermes_kernel.scheduling.ticks import _begun as _ticks"


@pytest.fixture(scope="module", params=KINDS)
def kernel(request, tmp_path_factory) -> Iterator[Kernel]:
    """A kernel in a home in which nobody watches: what runs is what a test has asked for."""
    home = tmp_path_factory.mktemp("home")
    (home / "kernel.toml").write_text("schedule_watch = false\n")
    made = Kernel(*request.param, home)
    made.run(made.python("import os; os.environ['TZ'] = 'Europe/Zurich'"))
    yield made
    made.close()


class Record:
    """The same store as another process writes it."""

    def __init__(self, kernel: Kernel) -> None:
        self.home = kernel.home
        self.name = f"news-{next(NUMBERS)}"  # what was run is on record also when its job is removed

    def tell(self, *facts) -> None:
        with closing(open_store(self.home)) as store:
            Book(store, fresh_id).record(*facts)

    def job(self, name: str = "", prompt: str = "What is new?", **more) -> Job:
        made = Job(fresh_id(), name or self.name, "0 9 * * 1", "Europe/Zurich", time.time(), prompt, **more)
        self.tell(JobSet(made))
        return made

    def began(self, job: Job, notebook: str = "", ago: float = 60) -> RunBegan:
        due = float(int(time.time() - ago))
        fact = RunBegan(job.id, run_id(job.id, due), due, notebook=notebook)
        self.tell(fact)
        return fact

    def ended(self, began: RunBegan, outcome: str = "ran", **more) -> None:
        self.tell(RunEnded(began.job, began.run, began.due, outcome, **more))

    def of(self, kind):
        with closing(open_store(self.home)) as store:
            return [each.fact for each in store.learnt((kind,), 0)]

    def jobs(self):
        with closing(open_store(self.home)) as store:
            return Book(store, fresh_id).jobs()


@pytest.fixture
def record(kernel) -> Iterator[Record]:
    """No job outlives its test."""
    made = Record(kernel)
    yield made
    for job in made.jobs():
        kernel.run(f"%hermes schedule remove {job}")


def opened(kernel: Kernel, line: str, words: str) -> Page:
    page = Page(kernel).show(line)
    page.says(words)
    page.quiet()
    return page


# --- jobs


def test_a_job_is_seen_with_its_next_times_in_its_zone_and_what_came_of_it_last(kernel, record):
    record.ended(record.began(record.job()), "failed", why="The model was away.")
    page = opened(kernel, "%hermes jobs", "every Monday at 09:00")
    assert page.html().count("09:00 CE") >= 3
    page.says("failed, ")
    page.says("The model was away.")
    page.says("What is new?")
    (row,) = page.labels("Jobs")
    assert row.split()[:2] == [record.name, "on"]
    assert row.endswith("last failed")
    page.offers("Run now")
    page.lacks("Stop")


def test_it_is_paused_resumed_and_removed_by_a_second_press(kernel, record):
    job = record.job()
    page = opened(kernel, "%hermes jobs", "every Monday")
    page.press("Pause")
    page.says(f"{record.name} is paused")
    assert record.jobs()[job.id].enabled is False
    page.press("Resume")
    page.offers("Pause")
    page.press("Remove")
    page.press("Remove it: press again")
    page.says(f"{record.name} is removed.")
    assert record.jobs() == {}
    page.says("There are no jobs.")


def test_other_times_are_said_back_as_one_types_and_kept_when_they_are_saved(kernel, record):
    job = record.job()
    page = opened(kernel, "%hermes jobs", "every Monday")
    page.press("Other times…")
    page.offers("When")
    page.type("When", "every friday 17:0")
    page.quiet()
    page.type("When", "every friday 17:30")
    page.says("Every Friday at 17:30 (Europe/Zurich).")
    assert page.html().count("17:30 CE") == 3
    assert record.jobs()[job.id].schedule == job.schedule, "nothing is changed by typing"
    page.press("Save")
    page.says(f"{record.name} runs at other times from now on.")
    assert record.jobs()[job.id].schedule == "30 17 * * 5"
    page.lacks("When")


def test_a_time_that_is_none_says_so_below_and_cannot_be_saved(kernel, record):
    job = record.job()
    page = opened(kernel, "%hermes jobs", "every Monday")
    page.press("Other times…")
    page.offers("When")
    page.type("When", f"soonish {EVIL}")
    page.says("soonish")
    page.until(lambda page: page._state("Save").get("disabled"), "Save is disabled")
    assert "<img" not in page.html()
    page.press("Save")
    page.says("Nothing was changed yet")
    assert record.jobs()[job.id].schedule == job.schedule


def test_what_another_changed_meanwhile_is_not_written_over(kernel, record):
    job = record.job()
    page = opened(kernel, "%hermes jobs", "every Monday")
    page.press("Other times…")
    page.offers("When")
    page.type("When", "every friday 17:30")
    page.says("Every Friday")
    kernel_says = kernel.run(f"%hermes schedule change {record.name} --when 'every sunday 8am'")
    assert kernel_says.status == "ok", kernel_says.error
    page.press("Save")
    page.says(f"{record.name} was changed meanwhile by somebody else")
    assert record.jobs()[job.id].schedule == "0 8 * * 0"
    assert page.value("When") == "every friday 17:30"
    page.says("every Sunday at 08:00")


def test_a_run_that_goes_on_is_looked_at_again_by_itself_and_never_after_it_ended(kernel, record):
    job = record.job()
    began = record.began(job)
    page = opened(kernel, "%hermes jobs", "so far")
    assert page.labels("Jobs")[0].split()[:2] == [record.name, "running"]
    page.offers("Stop")
    record.ended(began, "ran")
    page.until(lambda page: page.labels("Jobs")[0].endswith("last ran"), "the end")
    page.lacks("Stop")
    page.quiet(1)
    assert page.quiet(3) == 0, "nothing goes on, so nothing is asked"


def test_a_run_is_asked_for_and_stopped_in_the_panel(kernel, record):
    with Server([forever(stall(["Let me think", " more."], after=1, seconds=float("inf")))]) as server:
        kernel.run(kernel.python(f"import os; os.environ['HERMES_BASE_URL'] = {server.url!r}"))
        job = record.job(prompt="Think for ever.")
        page = opened(kernel, "%hermes jobs", "every Monday")
        page.press("Run now")
        page.says(f"{record.name} runs now, as")
        page.offers("Stop")
        assert server.await_requests(1, 60), "the run asks the model"
        page.until(lambda page: "running" in page.labels("Jobs")[0], "it runs")
        page.press("Stop")
        page.until(lambda page: page.labels("Jobs")[0].endswith("last stopped"), "it was stopped")
    (ended,) = (each for each in record.of(RunEnded) if each.job == job.id)
    assert ended.outcome == "stopped"
    kernel.run(kernel.python(f"{TICKS}\n[each.wait(60) for each in _ticks]"), timeout=90)


def test_a_removed_job_is_said_at_the_next_touch(kernel, record):
    record.job("aaa")
    gone = record.job("bbb")
    page = opened(kernel, "%hermes jobs", "every Monday")
    kernel.run(f"%hermes schedule remove {gone.id}")
    page.choose("Jobs", "bbb")
    page.says("That job was removed meanwhile by somebody else.")
    assert len(page.labels("Jobs")) == 1
    assert "no job" not in page.html()


def test_one_job_is_chosen_by_its_name_and_the_document_is_a_value(kernel, record):
    record.job("aaa", "First?")
    record.job("bbb", "Second?")
    page = opened(kernel, "%hermes jobs bbb", "Second?")
    assert "First?" not in page.html()
    assert "Second?" in page.outputs[-1]["text/plain"], "all about that one is what stays"
    page.show("%hermes jobs")
    folded = page.outputs[-2]
    assert "Second?" in folded["text/html"]
    assert "application/vnd.jupyter.widget-view+json" not in folded
    kernel.run(kernel.python("them = %hermes jobs"), cell_id="c")
    assert kernel.value("[each.job.name for each in them.value]") == "['aaa', 'bbb']"


def test_hostile_jobs_and_runs_are_words(kernel, record):
    job = record.job(EVIL, EVIL)
    record.ended(record.began(job, notebook=f"/tmp/{EVIL}.ipynb"), "failed", why=EVIL, text=f"{EVIL}\n\n{EVIL}")
    for line, name in (("%hermes jobs", "Jobs"), (f"%hermes runs {job.id}", "Runs")):
        page = opened(kernel, line, "&lt;img")
        for bad in ("<img", "<script", "\u202e", 'href="javascript'):
            assert bad not in page.html()
            assert bad not in page.outputs[0]["text/html"]
        assert "\u202e" not in "".join(page.labels(name))


# --- runs


def test_runs_are_seen_with_why_they_failed_and_filtered(kernel, record):
    job = record.job()
    record.ended(record.began(job, ago=7_200), "ran", text="All is **well**.\n\nNothing to do.")
    late = record.began(job, ago=600)
    record.ended(late, "failed", why="The model was away.")
    page = opened(kernel, f"%hermes runs {record.name}", "The model was away.")
    assert [each.split()[:2] for each in page.labels("Runs")] == [[record.name, "failed"], [record.name, "ran"]]
    page.says(short(late.run))
    page.choose("Runs", " ran ")
    page.says("report: All is well.")
    page.says("<strong>well</strong>")
    page.choose("Show", "failed")
    page.until(lambda page: [each.split()[1] for each in page.labels("Runs")] == ["failed"], "failed ones alone")


def test_a_run_is_stopped_from_the_list_of_runs(kernel, record):
    began = record.began(record.job())
    page = opened(kernel, f"%hermes runs {record.name}", "so far")
    page.press("Stop")
    page.says(f"{short(began.run)} is told to stop.")
    assert began.run in [each.run for each in record.of(StopWanted)]
    record.ended(began, "stopped", why="stopped by person")
    page.says("stopped by person")
    page.lacks("Stop")


def test_a_notebook_below_this_one_is_a_link_and_one_elsewhere_a_path(kernel, record):
    folder = kernel.home / "runs" / "news"
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=[new_markdown_cell("# Done")]), folder / "2026-12-01T09-00-00.ipynb")
    record.ended(record.began(record.job(), notebook=str(folder / "2026-12-01T09-00-00.ipynb")))
    page = opened(kernel, f"%hermes runs {record.name}", "open its notebook")
    page.says('href="./runs/news/2026-12-01T09-00-00.ipynb"')
    elsewhere = kernel.python("import os; os.makedirs('deep', exist_ok=True); os.chdir('deep')")
    kernel.run(elsewhere)
    try:
        page = opened(kernel, f"%hermes runs {record.name}", "its notebook: ")
        assert "<a href" not in page.html()
        page.says(f"{folder}/2026-12-01T09-00-00.ipynb</code>")
        page.press("Bring its notebook here")
        page.says('href="./news-2026-12-01T09-00-00.ipynb"')
        copied = kernel.home / "deep" / "news-2026-12-01T09-00-00.ipynb"
        assert nbformat.read(copied, as_version=4).cells[0].source == "# Done"
    finally:
        kernel.run(kernel.python("os.chdir('..')"))


def test_what_is_no_notebook_of_a_run_is_neither_linked_nor_brought(kernel, record):
    secret = kernel.home / "secret.ipynb"
    secret.write_text("{}")
    trap = kernel.home / "runs" / "trap.ipynb"
    trap.parent.mkdir(exist_ok=True)
    trap.unlink(missing_ok=True)
    trap.symlink_to(secret)
    job = record.job()
    for path in (
        secret,
        trap,
        kernel.home / "runs" / ".." / "secret.ipynb",
        "/etc/passwd",
        "javascript:alert(1).ipynb",
    ):
        record.ended(record.began(job, notebook=str(path)))
        page = opened(kernel, f"%hermes runs {job.id}", "its notebook: ")
        assert "<a href" not in page.html()
        page.lacks("Bring its notebook here")
        job = record.job(f"more-{next(NUMBERS)}")


def test_a_run_is_found_by_the_short_name_that_is_shown(kernel, record):
    began = record.began(record.job())
    record.ended(began, text="All is well.")
    shown = kernel.run("%hermes runs").shown()[0]
    assert short(began.run) in shown
    assert began.run not in shown
    assert "All is well." in kernel.run(f"%hermes runs {short(began.run)}").shown()[0]
    assert "has ended" in (said := kernel.run(f"%hermes runs stop {short(began.run)}").error) or "goes on" in said
