"""Notebooks are run again and again until one of them is not what it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

ROOT = Path(__file__).resolve().parent.parent
ONCE = """import os
open("been here", "a").write(".")
print(os.path.getsize("been here"))"""


@pytest.mark.slow
def test_the_first_round_that_is_red_ends_it_and_what_it_said_is_kept(tmp_path):
    """A notebook that shows something else the second time it is run."""
    cell = new_code_cell(ONCE, execution_count=1, outputs=[new_output("stream", name="stdout", text="1\n")])
    path = tmp_path / "77_once.ipynb"
    nbformat.write(new_notebook(cells=[cell]), path)
    command = [sys.executable, "-m", "tests.notebooks.repeat", "5", str(path), "--seed", "7", "--load", "0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert lines[0].startswith("seed 7 · ")
    rounds = [line for line in lines if line.startswith("round ")]
    assert [line.split(" · ")[0] for line in rounds] == ["round 1 of 5", "round 2 of 5"]
    assert ["1 passed" in rounds[0], "1 failed" in rounds[1]] == [True, True]
    kept = Path(lines[-1].removeprefix("all of it: "))
    assert "mismatch" in kept.read_text()
    kept.unlink()
    kept.parent.rmdir()
