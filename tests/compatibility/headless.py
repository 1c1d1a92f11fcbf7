"""Notebooks that nobody watches: papermill with parameters, nbconvert and nbclient, answered from a cassette."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from hermes_kernel.testing import Server, call, say

KINDS = ("python3", "hermes")
pytestmark = pytest.mark.timeout(900)
ANSWERED = [call("python", {"code": "n * 2"}), say("Twice **21** is 42.")]


def notebook(kind: str) -> nbformat.NotebookNode:
    """Parameters, a prompt with one of them in it, and what came of it."""
    python = "%%py\n" if kind == "hermes" else "%load_ext magics\n"
    first = new_code_cell(f"{python}n = 1", metadata={"tags": ["parameters"]})
    rest = [
        new_code_cell("%%hermes --no-cells\nDouble $n."),
        new_code_cell(f"{python}print('outcome', _.outcome.value, n)"),
    ]
    known = {"name": kind, "display_name": kind, "language": "python"}
    return new_notebook(cells=[first, *rest], metadata={"kernelspec": known})


@pytest.fixture
def run(tmp_path: Path):
    """``run(server, …)``: a program of this environment, with a home of its own; what it said."""

    def ran(*asked: str, **environ: str) -> str:
        ours = os.environ | {
            "HERMES_HOME": str(tmp_path / "home"), "HERMES_API_KEY": "none", "HERMES_MODEL": "scripted",
            "HERMES_LEARNING": "off", "HERMES_SCHEDULE_WATCH": "off", "IPYTHONDIR": str(tmp_path / "ipython"),
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", *asked],
            env=ours | environ,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return ran


def shown(path: Path) -> str:
    return str([cell.outputs for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"])


@pytest.mark.parametrize("kind", KINDS)
def test_papermill_sets_parameters_and_a_cassette_answers_the_second_run(kind, run, tmp_path):
    nbformat.write(notebook(kind), tmp_path / "told.ipynb")
    asked = ("papermill", "told.ipynb")
    given = ("-k", kind, "--language", "python", "-p", "n", "21")
    cassette = str(tmp_path / "told.cassette.jsonl")
    with Server(list(ANSWERED)) as server:
        run(*asked, "first.ipynb", *given, HERMES_BASE_URL=server.url, HERMES_RECORD=cassette)
        assert server.requests[0].messages[-1]["content"].startswith("Double 21.")
    run(*asked, "second.ipynb", *given, HERMES_REPLAY=cassette)
    for name in ("first.ipynb", "second.ipynb"):
        assert "Twice **21** is 42." in shown(tmp_path / name)
        assert "outcome completed 21" in shown(tmp_path / name)


@pytest.mark.parametrize("kind", KINDS)
def test_nbconvert_executes_and_says_it_in_html(kind, run, tmp_path):
    nbformat.write(notebook(kind), tmp_path / "told.ipynb")
    with Server(list(ANSWERED)) as server:
        run("nbconvert", "--execute", "--to", "notebook", "--output", "ran", "told.ipynb", HERMES_BASE_URL=server.url)
    run("nbconvert", "--to", "html", "ran.ipynb")
    assert "outcome completed 1" in shown(tmp_path / "ran.ipynb")
    assert "Twice <strong>21</strong> is 42." in (tmp_path / "ran.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_nbclient_ends_with_answers_in_the_notebook_and_no_widgets(kind, tmp_path):
    made = notebook(kind)
    with Server(list(ANSWERED)) as server:
        ours = os.environ | {
            "HERMES_HOME": str(tmp_path / "home"), "HERMES_BASE_URL": server.url, "HERMES_API_KEY": "none",
            "HERMES_MODEL": "scripted", "HERMES_LEARNING": "off", "HERMES_SCHEDULE_WATCH": "off",
        }  # fmt: skip
        NotebookClient(made, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute(env=ours)
    assert "Twice **21** is 42." in str(made.cells[1].outputs)
    assert "widgets" not in made.metadata


def test_the_command_of_ours_does_the_same(run, tmp_path):
    assert shutil.which("hermes-kernel")
    nbformat.write(notebook("python3"), tmp_path / "told.ipynb")
    with Server(list(ANSWERED)) as server:
        run("hermes_kernel", "run", "told.ipynb", HERMES_BASE_URL=server.url)
