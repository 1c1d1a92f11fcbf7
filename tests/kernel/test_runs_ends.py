"""What is left of a run whose process is killed: its notebook, and no process of it. And of many runs: nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from hermes_kernel.core.planned import RunBegan
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import Store
from tests.contracts.runs import ROOT, environ, job, read, real, template, work
from tests.kernel.processes import carrying

pytestmark = pytest.mark.slow

RUNS = int(os.environ.get("HERMES_TEST_TIMES", "3"))
CHILD = """
import asyncio, sys
from pathlib import Path
from hermes_kernel.core.planned import RunBegan
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import Store
from tests.contracts.runs import job, real, work
home, path = map(Path, sys.argv[1:3])
done = work(home, job(notebook=str(path)), sys.argv[3])
print(done.notebook, flush=True)
asyncio.run(real(home).run(done, Stop()))
"""


def test_a_runner_that_is_killed_leaves_what_was_done_and_no_process(tmp_path):
    cells = ("print('first')", "print('begun', flush=True)\nimport time\ntime.sleep(120)")
    path, run = template(tmp_path / "t.ipynb", *cells), f"killed-{os.getpid()}"
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, tmp_path / "home", path, run],
        cwd=ROOT, env=environ(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    notebook = Path(child.stdout.readline().strip())
    await_(lambda: notebook.exists() and '"begun' in notebook.read_text(), 30)
    assert carrying(f"HERMES_RUN={run}") != []
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    killed = time.perf_counter()
    await_(lambda: carrying(f"HERMES_RUN={run}") == [], 10)
    print(f"kernel gone after {time.perf_counter() - killed:.2f} s")
    assert [cell.outputs[0].text for cell in read(notebook).cells if cell.cell_type == "code"] == ["first\n", "begun\n"]


async def test_after_many_runs_no_file_is_open_that_was_not_and_no_process_is_left(tmp_path):
    path, runner = template(tmp_path / "t.ipynb", "1 + 1"), real(tmp_path / "home")
    open_files = []
    for n in range(RUNS):
        done = work(tmp_path / "home", job(notebook=str(path), keep=2), f"many-{os.getpid()}-{n}", time.time())
        with closing(Store(tmp_path / "home")) as store:
            store.append("jobs", RunBegan(done.job.id, done.run, done.due, notebook=str(done.notebook)))
        ran = await runner.run(done, Stop())
        assert (ran.outcome, ran.text) == ("ran", "2")
        assert carrying(f"HERMES_RUN={done.run}") == []
        open_files.append(sum(1 for _ in Path("/proc/self/fd").iterdir()))
    print(open_files)
    assert open_files[-1] <= open_files[0]
    assert len(list((tmp_path / "home/runs/brief").iterdir())) == 2


def await_(holds, seconds):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
