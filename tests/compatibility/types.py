"""A person's own program is checked strictly against the installed wheel: nothing in it is unknown to mypy or pyright."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hermes_kernel

PROGRAM = Path(__file__).with_name("program.py")
pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Alone in a folder, where no settings of ours are."""
    assert "site-packages" in hermes_kernel.__file__, "what was installed, and not this tree"
    return Path(shutil.copy(PROGRAM, tmp_path))


def said(*command: str, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_mypy_knows_every_type(program):
    assert "Success" in said(sys.executable, "-m", "mypy", "--strict", str(program), folder=program.parent)


def test_pyright_knows_every_type(program):
    checked = said("pyright", "--pythonpath", sys.executable, str(program), folder=program.parent)
    assert "0 errors" in checked


def test_a_wrong_program_is_found_wrong(program):
    program.write_text("from hermes_kernel import Agent\nanswer: int = Agent().ask_sync('Hi.').text\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(program)], capture_output=True, text=True, check=False
    )
    assert 'expression has type "str", variable has type "int"' in done.stdout
