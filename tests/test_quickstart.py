"""The recording beside the quickstart: one run with the real local model, true in any home, and in one word not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

QUICKSTART = Path(__file__).parents[1] / "notebooks" / "00_quickstart.ipynb"
CASSETTE = QUICKSTART.with_name("00_quickstart.cassette.jsonl")


def replayed(folder: Path, word: str = "total"):
    """The notebook run from its recording somewhere else, by somebody else: how it ended, and as it was left."""
    folder.mkdir()
    notebook = nbformat.read(QUICKSTART, as_version=4)
    (prompt,) = (cell for cell in notebook.cells if cell.source.startswith("%%hermes"))
    prompt.source = prompt.source.replace("total", word)
    nbformat.write(notebook, folder / QUICKSTART.name)
    shutil.copy(CASSETTE, folder)
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("HERMES_", "OPENAI_"))}
    done = subprocess.run(
        [sys.executable, "-m", "hermes_kernel", "run", QUICKSTART.name, "--replay"],
        env=environ | {"HOME": str(folder)}, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done, nbformat.read(folder / QUICKSTART.name, as_version=4)


def test_what_the_real_model_said_is_said_again_in_any_home_output_for_output(tmp_path):
    (one, here), (other, there) = replayed(tmp_path / "ada"), replayed(tmp_path / "grace")
    assert (one.returncode, other.returncode) == (0, 0), one.stderr + other.stderr
    kept = nbformat.read(QUICKSTART, as_version=4)
    outputs = [[cell.get("outputs") for cell in each.cells] for each in (kept, here, there)]
    assert outputs[0] == outputs[1] == outputs[2]


def test_one_word_that_is_another_is_named_in_the_line_that_ends_the_run(tmp_path):
    done, _ = replayed(tmp_path / "ada", word="mean")
    assert done.returncode == 1
    assert "What is the [-total-]{+mean+} revenue of each region" in done.stderr
    assert "Record it anew with `--record`" in done.stderr
    assert "None" not in done.stderr
