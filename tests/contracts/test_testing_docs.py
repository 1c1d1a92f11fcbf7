"""Every block of docs/testing.md runs: files of tests in one pytest, commands in one folder, in the order of the page."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel.core.faults import Fault
from hermes_kernel.testing import FAULTS, Server, call, forever, say
from hermes_kernel.testing import public as testing
from tests.examples import blocks, run

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
PAGE = "testing.md"
NAMED = re.compile(r"# (test_\w+\.py)\n")
FILES = {found[1]: block for block in blocks(PAGE, "python") if (found := NAMED.match(block))}
COMMANDS = [
    command for block in blocks(PAGE, "console") for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
]
FAILING = "test_left_over.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files of the page, and the example beside them."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "notebooks/examples/tea_shop.ipynb", folder)
    (folder / "pytest.ini").write_text("[pytest]\n")
    for name, block in FILES.items():
        (folder / name).write_text(block, encoding="utf-8")
    return folder


def said(folder: Path, command: str, **environ: str) -> str:
    """What a command says, its errors too."""
    program, *words = shlex.split(command)
    module = {"pytest": "pytest", "hermes-kernel": "hermes_kernel"}[program]
    if module == "pytest":  # the plugins that are here for our own tests take a second each time
        words = ["-p", "hermes_kernel.testing.plugin", "-p", "nbval.plugin", *words]
        environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    known = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES_", "PYTEST_"))}
    known |= {"HERMES_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **environ}
    asked = [sys.executable, "-m", module, *words]
    done = subprocess.run(asked, cwd=folder, env=known, capture_output=True, text=True, check=False)
    return re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)


def test_the_commands_of_the_page_say_what_it_says_they_say(folder: Path):
    """A script stands where the page has a real model."""
    with Server([call("stock", {"tea": "sencha"}), say("Seven tins.")]) as server:
        asked = {"HERMES_BASE_URL": server.url, "HERMES_MODEL": "scripted", "HERMES_API_KEY": "none"}
        for each in COMMANDS:
            command, *expected = each.rstrip().splitlines()
            told = said(folder, command, **asked if "--record" in command else {})
            assert [line for line in expected if line not in told] == [], told
    assert len(server.requests) == 2


def test_every_file_of_tests_is_run_by_a_command():
    run_by = " ".join(COMMANDS)
    assert [name for name in FILES if name not in run_by] == []
    assert FAILING in FILES


async def test_what_is_no_file_runs_as_it_stands(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HERMES_HOME", str(folder / "plain"))
    others = [block for block in blocks(PAGE, "python") if not NAMED.match(block)]
    namespace: dict[str, Any] = {"__name__": "page"}
    assert sum([await run(block, namespace) for block in others]) == 2


def test_the_test_on_the_page_is_the_one_beside_the_notebook():
    beside = (ROOT / "notebooks/examples/test_tea_shop.py").read_text(encoding="utf-8")
    assert FILES["test_tea_shop.py"].partition("\n")[2] == beside
    assert len([line for line in beside.splitlines() if line.strip()]) <= 10


def rows(heading: str) -> list[list[str]]:
    text = (ROOT / "docs" / PAGE).read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return lines[2:]


def test_the_page_has_every_fault_and_the_step_that_is_behind_it():
    named = {name.strip("`"): step for name, step, *_ in rows("Every fault by its name")}
    assert list(named) == [str(each) for each in FAULTS]
    for name, step in named.items():
        words = step.strip("`").replace("…", "Let me think.")
        made = eval(words, {**vars(testing), "inf": float("inf")})
        expected = FAULTS[Fault(name)]
        assert (made.name, made.status) == (expected.name, expected.status)


def test_the_steps_on_the_page_are_steps():
    text = (ROOT / "docs" / PAGE).read_text(encoding="utf-8")
    for step in [words for row in rows("Scripts") for words in re.findall(r"`([^`]+\))`", row[0])]:
        filled = step.replace("…", "").replace("step", "say('x')")
        assert isinstance(eval(filled, {**vars(testing)}), testing.Step), step
    assert re.search(r"in one of \[eighteen ways\]", text)
    assert len(FAULTS) == 18
    assert len(testing.OVERFLOWS) == 16
    assert len(testing.HINTS) == 9
    assert forever(say("x")).repeats
