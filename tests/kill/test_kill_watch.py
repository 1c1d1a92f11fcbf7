"""A scheduler that is killed in mid-run leaves no kernel behind, and its run is on record by the next tick; one that is
asked to end takes its runs along."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from hermes_kernel.scheduling.scheduling import open_jobs
from hermes_kernel.scheduling.watch import watcher
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.store.opening import open_store
from tests.kernel.processes import lives
from tests.soon import SOON

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PATIENCE = 40.0
LONG = """
import os, time
from pathlib import Path
Path("at-work.new").write_text(str(os.getpid()))
Path("at-work.new").rename("at-work")
time.sleep(600)
"""


class Home:
    """A home with a job whose run takes ten minutes and says who runs it, and the commands that are run there."""

    def __init__(self, home):
        self.home, self.running = home, []
        page = new_notebook(cells=[new_code_cell(LONG)])
        page.metadata["kernelspec"] = {"name": "python3", "display_name": "Python", "language": "python"}
        nbformat.write(page, home / "long.ipynb")
        self.store = open_store(home)
        settings = Settings(home=home, base_url="http://127.0.0.1:9/v1", model="none")
        self.jobs = open_jobs(settings, self.store, SystemClock(), lambda: uuid4().hex)
        self.jobs.add("every 30d", notebook=str(home / "long.ipynb"), name="long", folder=str(home))
        self.run = self.jobs.run("long")

    def start(self, name):
        ours = {key: value for key, value in os.environ.items() if not key.startswith(("HERMES_", "OPENAI_"))}
        ours |= {"HERMES_HOME": str(self.home), "PYTHONPATH": str(ROOT), "HERMES_LEARNING": "off"}
        command = [sys.executable, "-m", "hermes_kernel", name]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ours)
        self.running.append(process)
        return process

    def worker(self):
        """The process that does the work of the run, once it is at it."""
        path = self.home / "at-work"
        until(path.exists)
        return int(path.read_text())

    def last(self):
        [row] = [row for row in self.jobs.runs("long") if row.run == self.run]
        return row

    def close(self):
        for process in self.running:
            process.kill()
            process.communicate()
        self.store.close()


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.close()


def until(true):
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_scheduler_killed_in_mid_run_leaves_no_kernel_and_its_run_is_closed_once_by_the_next_tick(home):
    scheduler = home.start("scheduler")
    worker = home.worker()
    scheduler.kill()
    scheduler.wait()
    until(lambda: not lives(worker))
    assert watcher(home.home) == ""

    said, _ = home.start("tick").communicate(timeout=PATIENCE)
    row = home.last()
    assert (row.outcome, row.why) == ("failed", "the process that ran it ended in mid-run")
    assert "long" in said
    again, _ = home.start("tick").communicate(timeout=PATIENCE)
    assert "long" not in again
    assert len(home.jobs.runs("long")) == 1
    assert nbformat.read(row.notebook, 4).cells


def test_one_that_is_asked_to_end_takes_its_runs_along_and_they_are_on_record_as_stopped(home):
    process = home.start("scheduler")
    worker = home.worker()
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=PATIENCE)
    assert time.monotonic() - began < SOON
    assert process.returncode == 0
    assert not lives(worker)
    row = home.last()
    assert row.outcome == "stopped"
    assert "long: " in said
