"""The curator in a real kernel: seen, run with a model's review, interrupted, taken back."""

from __future__ import annotations

import json
import os
import sys

import pytest

from hermes_kernel.learning.skills.marks import Marks
from hermes_kernel.testing import Server, late, say
from tests.contracts.curated import text
from tests.kernel.conftest import Kernel

LONG_AGO = 1_600_000_000  # when the files of the skills were written


@pytest.fixture
def kernel(tmp_path):
    skills = tmp_path / "skills"
    for name in ("plot", "clean", "mine"):
        (skills / name).mkdir(parents=True)
        (skills / name / "SKILL.md").write_text(text(name, f"Do {name} <img src=x onerror=alert(1)> well."))
        os.utime(skills / name / "SKILL.md", (LONG_AGO, LONG_AGO))
    for name in ("plot", "clean"):
        Marks(skills).change(name, origin="agent")
    used = {"view_count": 2, "last_viewed_at": LONG_AGO, "created_by": "agent"}
    (skills / ".usage.json").write_text(json.dumps({"plot": used, "clean": used}))
    made = Kernel("hermes", sys.executable, tmp_path)
    yield made
    made.close()


def test_it_is_seen_run_and_taken_back_in_cells(kernel):
    verdict = {"verdict": "patch", "skill": "clean", "old": "well.", "new": "better.", "reason": "<b>Weak</b> words."}
    keep = {"verdict": "keep", "reason": "It is fine."}
    server = Server([say(json.dumps(verdict)), say(json.dumps(keep))]).start()
    try:
        kernel.ask_server(server)
        assert "made by the agent: 2 active" in kernel.run("%hermes curator").text
        plan = kernel.run("%hermes curator plan")
        assert "made by a person" in plan.text
        assert plan.text.count("stale") == 2
        ran = kernel.run("%hermes curator run", timeout=60)
        assert ran.status == "ok", ran.error
        assert "2 made stale, 1 patched" in ran.text
        assert "better." in (kernel.home / "skills/clean/SKILL.md").read_text()
        assert len(server.requests) == 2
        report = kernel.run("%hermes curator report")
        assert "It is fine." in report.text
        (page,) = report.shown("text/html")
        assert "<img" not in page
        assert "<b>" not in page
        assert kernel.run("%hermes curator rollback").status == "ok"
        assert "well." in (kernel.home / "skills/clean/SKILL.md").read_text()
    finally:
        server.stop()


def test_a_run_that_is_interrupted_while_a_model_thinks_leaves_everything_whole(kernel):
    server = Server([late(say("Hm."), 30)] * 3).start()
    try:
        kernel.ask_server(server)
        sent = kernel.send("%hermes curator run")
        assert server.await_requests(1)
        kernel.interrupt()
        ran = kernel.finish(sent, timeout=20)
        assert ran.status == "error"
        assert "Every skill is whole" in ran.error
        assert "interrupted" in kernel.run("%hermes curator report").text
        assert (kernel.home / "skills/plot/SKILL.md").is_file()
        assert kernel.run(kernel.python("1 + 1")).status == "ok"
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("curator dance", "curator takes nothing or plan, run"),
        ("curator run --quickly", "It is written: %hermes curator run"),
        ("curator restore", "It is written: %hermes curator restore NAME"),
        ("curator report x y", "It is written: %hermes curator report"),
        ("curator report x", "There is no run"),
        ("curator rollback", "There is no run to take back."),
    ],
)
def test_what_is_said_wrongly_is_one_line(hermes, line, says):
    ran = hermes.run(f"%hermes {line}")
    assert ran.status == "error"
    assert says in ran.error
    assert len(ran.error.splitlines()) == 1
