"""The panel of the eight loops: there at once, filled as soon as they are read, and a document for everyone else."""

from __future__ import annotations

import time
from contextlib import closing

from hermes_kernel.core.planned import JobSet, RunBegan, RunEnded
from hermes_kernel.core.schedule.due import run_id
from hermes_kernel.core.schedule.job import Job
from hermes_kernel.scheduling.book import Book
from hermes_kernel.testing import call, say
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.store.opening import open_store
from tests.kernel.pressing import Page

VIEW = "application/vnd.jupyter.widget-view+json"
EVIL = "<img src=x onerror=alert(1)>\u202e"
LOOPS = ("1 tool execution", "2 agent iteration", "3 compression", "4 nudge", "5 skill creation",
         "6 session accumulation", "7 schedule", "8 curator")  # fmt: skip


def tell(kernel, *facts):
    with closing(open_store(kernel.home)) as store:
        Book(store, fresh_id).record(*facts)


def opened(kernel) -> Page:
    page = Page(kernel).show("%hermes loops")
    page.says("8 curator")
    page.quiet()
    return page


def test_eight_rows_open_on_what_each_wrote_and_say_what_there_is_to_do(running, scripted):
    scripted(call("python", {"code": "print(1)"}), say("One."))
    running.run(running.prompt("Count.", "--no-cells"))
    page = opened(running)
    html = page.html()
    assert html.count("<details>") == 8
    for name in LOOPS:
        assert f"<strong>{name}</strong>" in html
    assert "1 answer in 2 model calls" in html
    assert "<code>%hermes nudge</code> alone in a cell looks now" in html
    last = [output for output in page.outputs if VIEW in output][-1]
    assert "1 answer in 2 model calls" in last["text/html"], "what a viewer without widgets shows is what was read"
    assert "1 answer in 2 model calls" in last["text/plain"]


def test_it_is_read_again_when_it_is_asked_for(running):
    page = opened(running)
    page.says("no jobs yet")
    job = Job(fresh_id(), EVIL, "0 9 * * 1", "UTC", time.time(), "What is new?")
    due = float(int(time.time()))
    run = run_id(job.id, due)
    tell(running, JobSet(job), RunBegan(job.id, run, due), RunEnded(job.id, run, due, "ran"))
    page.press("Read again")
    page.says("1 run: 1 ran; the last: &lt;img")
    assert "<img" not in page.html()
    page.press("Jobs")
    page.says("every Monday at 09:00")
    assert "<img" not in page.html()
    page.press("Jobs")
    page.until(lambda page: "every Monday at 09:00" not in page.html(), "it is folded again")
    page.press("Curator's plan")
    page.until(lambda page: 'class="hermes-page"' in page.html() or "hermes-page" in page.html(), "the plan")


def test_the_cell_does_not_wait_for_what_takes_long_and_a_program_gets_all(running):
    job = Job(fresh_id(), "often", "* * * * *", "UTC", time.time(), "Go.", enabled=False)
    dues = [float(1_700_000_000 + 60 * n) for n in range(4_000)]
    tell(running, JobSet(job), *(RunBegan(job.id, run_id(job.id, due), due) for due in dues),
         *(RunEnded(job.id, run_id(job.id, due), due, "ran") for due in dues))  # fmt: skip
    page = Page(running).show("%hermes loops")
    assert "are being read" in next(each for each in page.outputs if VIEW in each)["text/plain"]
    page.says("4,00")
    running.run(running.python("them = %hermes loops"), cell_id="c")
    assert running.value("[row.number for row in them.value]") == "[1, 2, 3, 4, 5, 6, 7, 8]"
    assert running.value("len(them)") == "8"


def test_a_document_has_every_fact_in_html_and_in_text(running):
    ran = running.run("%hermes loops")
    (result,) = ran.of("execute_result")
    for name in LOOPS:
        assert name in result["data"]["text/html"]
        assert name.split(" ", 1)[1] in result["data"]["text/plain"]
    assert "<table" not in result["data"]["text/html"], "eight columns are too wide for a page"
    assert "<script" not in result["data"]["text/html"]
