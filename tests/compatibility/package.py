"""The wheel by itself, as a person gets it: no extras, none of our tools, in an empty environment; and gone again without a
trace. `uvx` and `pipx` run it from a file."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

SHOP = Path(os.environ["HERMES_COMPATIBILITY"])
UV = SHOP / "tools" / "bin" / "uv"
WHEEL = next((SHOP / "dist").glob("*.whl"))
ARCHIVE = next((SHOP / "dist").glob("*.tar.gz"))
OTHERS = (".pyc", ".lock")
NOT_PACKED = {".gitignore"}  # which hatchling takes along anyway
pytestmark = pytest.mark.timeout(600)


def run(*command: str | Path, home: Path, fails: bool = False) -> str:
    """What a command says, of a person who has nothing yet; the tools keep what they fetched."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("HERMES_", "OPENAI_", "PYTHON"))}
    ours |= {"HOME": str(home), "HERMES_HOME": str(home / ".hermes"), "HERMES_LEARNING": "off"}
    ours |= {"UV_CACHE_DIR": str(SHOP / "uv"), "PIPX_HOME": str(home / "pipx")}
    done = subprocess.run(command, env=ours, cwd=home, capture_output=True, text=True, check=False)
    assert fails or done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def files(folder: Path) -> set[str]:
    """All files below, but what Python compiled and uv locked meanwhile."""
    return {str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file() and each.suffix not in OTHERS}


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> Path:
    """An environment with our wheel and what it needs."""
    home = tmp_path_factory.mktemp("empty")
    run(UV, "venv", "-q", "--python", sys.executable, home / "venv", home=home)
    run(UV, "pip", "install", "-q", "--python", home / "venv/bin/python", WHEEL, home=home)
    return home


def test_the_archive_of_the_source_holds_whatever_git_tracks():
    with tarfile.open(ARCHIVE) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    tracked = files(SHOP / "tree") - NOT_PACKED
    assert sorted(tracked - held) == []


def test_the_wheel_of_the_source_archive_is_the_wheel_of_the_tree(tmp_path):
    run(UV, "build", "-q", "--wheel", "--out-dir", tmp_path / "dist", SHOP / "tree", home=tmp_path)
    (direct,) = (tmp_path / "dist").glob("*.whl")
    assert hashlib.sha256(direct.read_bytes()).hexdigest() == hashlib.sha256(WHEEL.read_bytes()).hexdigest()


def test_the_wheel_says_what_it_is():
    with zipfile.ZipFile(WHEEL) as wheel:
        text = wheel.read(next(name for name in wheel.namelist() if name.endswith("METADATA"))).decode()
        assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())
    said = Parser().parsestr(text)
    assert (said["Name"], said["License-Expression"], said["Requires-Python"]) == ("hermes-kernel", "MIT", ">=3.11")
    assert said["Description-Content-Type"] == "text/markdown"
    assert len(said.get_payload()) > 1000
    assert {"Typing :: Typed", "Framework :: Jupyter"} <= set(said.get_all("Classifier", []))


def test_the_command_is_there_and_says_what_to_do_without_a_model(empty):
    python = empty / "venv" / "bin" / "python"
    command = empty / "venv" / "bin" / "hermes-kernel"
    assert "usage: hermes-kernel" in run(command, "--help", home=empty)
    looked = run(command, "doctor", home=empty, fails=True)
    assert "Traceback" not in looked
    assert "no model" in looked.lower() or "base_url" in looked, looked
    assert "hermes " in run(python, "-m", "jupyter_client.kernelspecapp", "list", home=empty)


def test_a_kernel_of_it_answers_a_cell_of_python(empty):
    code = (
        "from jupyter_client.manager import start_new_kernel\n"
        "manager, client = start_new_kernel(kernel_name='hermes', startup_timeout=300)\n"
        "client.execute_interactive('%%py\\nprint(6 * 7)', timeout=300)\n"
        "client.stop_channels(); manager.shutdown_kernel(now=True)\n"
    )
    assert "42" in run(empty / "venv/bin/python", "-c", code, home=empty)


@pytest.mark.parametrize("tool", ["uvx", "pipx"])
def test_it_runs_from_a_file_without_being_installed(tool, tmp_path):
    way = [UV, "tool", "run", "--python", sys.executable] if tool == "uvx" else [SHOP / "tools/bin/pipx", "run"]
    wheel = ["--from" if tool == "uvx" else "--spec", WHEEL]
    assert "hermes-kernel 0." in run(*way, *wheel, "hermes-kernel", "--version", home=tmp_path)


def test_uninstalled_it_leaves_nothing_in_the_environment(tmp_path):
    python = tmp_path / "venv" / "bin" / "python"
    run(UV, "venv", "-q", "--python", sys.executable, tmp_path / "venv", home=tmp_path)
    before = files(tmp_path / "venv")
    run(UV, "pip", "install", "-q", "--no-deps", "--python", python, WHEEL, home=tmp_path)
    assert "share/jupyter/kernels/hermes/kernel.json" in files(tmp_path / "venv")
    run(UV, "pip", "uninstall", "-q", "--python", python, "hermes-kernel", home=tmp_path)
    assert files(tmp_path / "venv") == before
