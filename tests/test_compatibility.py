"""What is tried with what: names, tests and versions are those that there are. The table of it is held by `test_docs`."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from tests.compatibility.combinations import COMBINATIONS, PYTHONS, ROOT, lowest_of

PAGE = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_each_has_a_name_and_tests_that_there_are():
    names = [each.name for each in COMBINATIONS]
    assert sorted(set(names)) == sorted(names)
    files = {test for each in COMBINATIONS for test in each.tests}
    assert [test for test in sorted(files) if not (ROOT / test).exists()] == []
    assert [each.name for each in COMBINATIONS if not each.tests] == []


def test_every_python_that_is_tried_is_one_that_is_promised():
    said = re.findall(r"Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    assert tuple(said) == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    assert f"Python {PYTHONS[0]} to {PYTHONS[-1]}" in PAGE


@pytest.mark.parametrize("package", ["ipykernel", "ipywidgets", "duckdb", "openai"])
def test_the_lower_bounds_of_what_it_stands_on_are_tried_by_themselves(package):
    assert f"{package}=={lowest_of(package)}" in [held for each in COMBINATIONS for held in each.beside]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (["python-2.7"], "there is no python-2.7; choose from python-3.11, "),
        (["--python", "nowhere/python", "--list"], "there is no interpreter nowhere/python\n"),
    ],
)
def test_what_there_is_not_is_said_before_anything_is_made(asked, answer):
    command = [sys.executable, "-m", "tests.compatibility", *asked]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert answer in done.stderr
