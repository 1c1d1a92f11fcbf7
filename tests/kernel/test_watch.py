"""Jobs run because a notebook is open: which of the kernels of a home watches, and that a scheduler comes before them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from uuid import uuid4

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from hermes_kernel.scheduling.agenda import Agenda
from hermes_kernel.scheduling.bell import FileBell
from hermes_kernel.scheduling.posts import SCHEDULER, WATCH, Post
from hermes_kernel.scheduling.scheduling import open_jobs
from hermes_kernel.scheduling.watch import CHUNK, watcher
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.store.opening import open_store
from tests.kernel.conftest import ROOT, Kernel

pytestmark = pytest.mark.slow

UNSIGNED = "another process"
PATIENCE = 40.0  # seconds; on two busy cores a tick takes some to start
THREADS = "[t.name for t in __import__('threading').enumerate() if t.name == 'hermes-watch']"


class Home:
    """A home with a job that runs a notebook without a model, the kernels that are open there, and a scheduler."""

    def __init__(self, home):
        self.home, self.kernels, self.processes = home, [], []
        self.store = open_store(home)
        self.settings = Settings(home=home, base_url="http://127.0.0.1:9/v1", model="none")
        self.jobs = open_jobs(self.settings, self.store, SystemClock(), lambda: uuid4().hex)
        page = new_notebook(cells=[new_code_cell("import time; time.sleep(1.5); print(6 * 7)")])
        page.metadata["kernelspec"] = {"name": "python3", "display_name": "Python", "language": "python"}
        nbformat.write(page, home / "sums.ipynb")
        self.jobs.add("every 30d", notebook=str(home / "sums.ipynb"), name="sums")
        FileBell(home).quiet("jobs")

    def open(self, name):
        self.kernels.append(Kernel(name, sys.executable, self.home))
        return self.kernels[-1]

    def scheduler(self, *how):
        ours = {key: value for key, value in os.environ.items() if not key.startswith(("HERMES_", "OPENAI_"))}
        ours |= {"HERMES_HOME": str(self.home), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "hermes_kernel", "scheduler", *how]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ours, bufsize=1
        )
        self.processes.append(process)
        return process

    def holder(self, post):
        """The id of the process at that post, or 0; of one that has taken it and not signed yet, once it has."""
        while (holder := Post(self.home, post).holder()) == UNSIGNED:
            time.sleep(0.01)
        return int(holder.removeprefix("process ") or 0)

    def outcomes(self):
        return [run.outcome for run in self.jobs.runs("sums")]

    def close(self):
        for process in self.processes:
            process.kill()
            process.communicate()
        for kernel in self.kernels:
            kernel.close()
        self.store.close()


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.close()


def until(true):
    """Wait for it; what it was."""
    end = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def pid(kernel):
    return kernel.manager.provisioner.pid


def test_a_job_runs_because_a_kernel_is_open_and_goes_on_when_that_is_killed(home):
    kernel = home.open("hermes")
    assert until(lambda: home.holder(WATCH)) == pid(kernel)
    assert watcher(home.home) == f"an open kernel (process {pid(kernel)})"
    home.jobs.run("sums")
    until(lambda: any(standing.running for standing in home.jobs.list()))
    os.kill(pid(kernel), signal.SIGKILL)
    until(lambda: home.outcomes() == ["ran"])
    [run] = home.jobs.runs("sums")
    [cell] = [cell for cell in nbformat.read(run.notebook, 4).cells if "6 * 7" in cell.source]
    assert cell.outputs[0].text == "42\n"
    assert home.holder(WATCH) == 0


def test_of_two_kernels_one_watches_and_a_scheduler_comes_before_both(home):
    kernels = {pid(kernel): kernel for kernel in (home.open("hermes"), home.open("python3"))}
    first = until(lambda: home.holder(WATCH))
    assert first in kernels
    os.kill(first, signal.SIGKILL)
    [other] = kernels.keys() - {first}
    until(lambda: home.holder(WATCH) == other)

    scheduler = home.scheduler()
    assert scheduler.stdout.readline() == f"the scheduler of {home.home} is at work\n"
    until(lambda: home.holder(WATCH) == 0)
    assert home.holder(SCHEDULER) == scheduler.pid

    second = home.scheduler()
    said, _ = second.communicate(timeout=PATIENCE)
    assert second.returncode == 1
    assert f"process {scheduler.pid} is the scheduler of {home.home}" in said

    scheduler.send_signal(signal.SIGTERM)
    said, _ = scheduler.communicate(timeout=PATIENCE)
    assert scheduler.returncode == 0
    assert said.endswith("has ended (SIGTERM)\n")
    until(lambda: home.holder(WATCH) == other)


def test_who_wants_no_watching_has_none_and_who_leaves_lets_go_at_once(home):
    kernel = home.open("hermes")
    until(lambda: home.holder(WATCH))
    assert kernel.run("%config HermesMagics.schedule_watch = False").status == "ok"
    until(lambda: home.holder(WATCH) == 0)
    until(lambda: kernel.value(THREADS) == "[]")
    assert kernel.run("%config HermesMagics.schedule_watch = True").status == "ok"
    assert until(lambda: home.holder(WATCH)) == pid(kernel)
    kernel.client.shutdown()
    began = time.monotonic()
    until(lambda: home.holder(WATCH) == 0)
    assert time.monotonic() - began < CHUNK


def test_a_kernel_in_a_home_without_jobs_leaves_it_as_it_is_and_imports_nothing_for_it(tmp_path):
    kernel = Kernel("python3", sys.executable, tmp_path)
    try:
        assert kernel.value(THREADS) == "['hermes-watch']"
        time.sleep(2.5)  # it has looked by then
        loaded = "[m for m in __import__('sys').modules if m.startswith(('hermes_kernel.scheduling', 'duckdb'))]"
        assert kernel.value(loaded) == "[]"
        assert not (tmp_path / "schedule").exists()
        assert Agenda(tmp_path).read() is None
    finally:
        kernel.close()
