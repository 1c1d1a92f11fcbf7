"""What a model is told of the cells a person ran, whoever ran them: a person, a program, a checker of notebooks."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell

from magics.cells import Cells


@pytest.fixture
def shell():
    shell = InteractiveShell()
    yield shell
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


CELLS = ("rows = [1, 2]\nrows", "print('two')", "%load_ext autoreload", "len(rows)", "")


def run(shell, cells=CELLS, **how):
    seen = Cells(shell)
    for cell in cells:
        shell.run_cell(cell, **how)
    return seen


def test_cells_that_a_checker_runs_without_a_history_are_told_in_a_spec_as_those_of_a_person(shell):
    checked = run(shell, store_history=False)
    told = checked.told(spec=True)
    checked.close()
    shell.reset()
    kept = run(shell, store_history=True)
    assert told == kept.told() == kept.told(spec=True)
    assert "In [4]:\nlen(rows)\nOutput: 2" in told
    kept.close()


def test_elsewhere_they_are_a_programs_between_two_cells_of_a_person_and_are_not_told(shell):
    seen = run(shell, store_history=False)
    assert seen.told() == ""
    shell.run_cell("rows.append(3)", store_history=True)
    assert "append" in seen.told()
    assert "len(rows)" not in seen.told()
    seen.close()


def test_what_runs_silently_is_told_nowhere(shell):
    seen = run(shell, silent=True)
    assert seen.told(spec=True) == ""
    seen.close()


def test_code_below_a_line_for_the_magics_is_told_without_that_line_and_so_is_code_above_one(shell):
    shell.register_magic_function(lambda _: None, magic_name="hermes")
    shell.register_magic_function(lambda *_: None, "cell", "hermes")
    mixed = ("%load_ext autoreload\n\nrate = 0.2\nrate", "import math\n%hermes help new\nmath.floor(2.5)")
    alone = ("%load_ext autoreload\n\n%hermes help", "%%hermes\nHello", "%%capture kept\n%hermes help\nnine = 9")
    seen = run(shell, (*mixed, *alone), store_history=True)
    told = seen.told()
    assert "In [1]:\nrate = 0.2\nrate\nOutput: 0.2\n" in told
    assert "In [2]:\nimport math\nmath.floor(2.5)\n" in told
    assert "In [5]:\n%%capture kept\n%hermes help\nnine = 9\n" in told
    assert told.count("In [") == 3
    seen.close()
