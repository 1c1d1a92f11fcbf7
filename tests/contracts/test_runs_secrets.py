"""What is secret where a job runs is in nothing that stays: not in the record, the conversation, the notebook or the
report, whoever says it."""

from __future__ import annotations

from functools import partial

from hermes_kernel.core.redact import redact
from hermes_kernel.scheduling.running import NotebookRunner
from hermes_kernel.scheduling.scheduling import open_jobs
from hermes_kernel.settings import Settings
from hermes_kernel.testing import Server, call, forever, say
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import Store
from tests.contracts.runs import environ, job, work

SECRET = "correct-horse-battery-staple"
TOKEN = "t0ken-in-a-path-99xx"


def kept(folder, text):
    """The files in which it is, but for the one that is there to hold it."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "targets.json")
    return [path.name for path in files if text.encode() in path.read_bytes()]


async def test_what_a_run_reads_of_the_environment_and_of_targets_stays_nowhere(tmp_path):
    home = tmp_path / "home"
    (home / "schedule").mkdir(parents=True)
    (home / "schedule/targets.json").write_text(f'{{"hook": "jsons://example.com/{TOKEN}"}}')
    code = "import os; print(os.environ['MY_DB_PASSWORD']); print(open(f\"{os.environ['HERMES_HOME']}/schedule/targets.json\").read())"
    with Server([call("python", {"code": code}), say("Done."), forever(say("More."))]) as server:
        around = environ(server, MY_DB_PASSWORD=SECRET)
        hidden = partial(redact, secrets=Settings(home=home).secrets | {SECRET})  # as a tick has it
        runner = NotebookRunner(home, Store(home), SystemClock(), environ=around, redact=hidden)
        ran = await runner.run(work(home, job("What is there?")), Stop())
        asked = [str(request.body) for request in server.requests]
    assert ran.outcome == "ran", ran.why
    assert asked[-1].count("[redacted: secret]") == 2
    for each in (SECRET, TOKEN):
        assert not [body for body in asked if each in body]
        assert kept(home, each) == []


def test_a_secret_of_the_environment_that_is_said_in_a_prompt_is_not_recorded(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_DB_PASSWORD", SECRET)
    store = Store(tmp_path)
    made = open_jobs(Settings(home=tmp_path), store, SystemClock(), fresh_id).add("every 2h", f"Log in with {SECRET}.")
    assert made.prompt == "Log in with [redacted: secret]."
    assert kept(tmp_path, SECRET) == []
