"""What a wheel brings, and what it does not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT, check=True)
    return zipfile.ZipFile(next(folder.glob("hermes_kernel-*.whl")))


def test_the_wheel_puts_the_kernel_where_jupyter_looks(wheel: zipfile.ZipFile):
    spec = {name.rpartition("/")[2] for name in wheel.namelist() if "/data/share/jupyter/kernels/hermes/" in name}
    assert spec == {"kernel.json", "logo-32x32.png", "logo-64x64.png", "logo-svg.svg"}


def test_the_wheel_holds_both_packages_with_their_types_and_the_quickstart(wheel: zipfile.ZipFile):
    names = set(wheel.namelist())
    needed = ["hermes_kernel/py.typed", "magics/py.typed", "hermes_kernel/world/local/qwen.jinja"]
    needed += ["hermes_kernel/testing/sanitize.cfg"]
    needed += ["hermes_kernel/kernelspec/kernel.json", "hermes_kernel/notebooks/00_quickstart.ipynb"]
    assert [name for name in needed if name not in names] == []
    tops = {name.partition("/")[0] for name in names if ".dist-info" not in name and ".data" not in name}
    assert tops == {"hermes_kernel", "magics"}


def test_nothing_is_put_on_the_path_but_hermes_kernel(wheel: zipfile.ZipFile):
    entries = wheel.read(next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))).decode()
    commands = entries.partition("[console_scripts]")[2].partition("\n[")[0]
    assert re.findall(r"^(\S+) = ", commands, re.MULTILINE) == ["hermes-kernel"]


def test_a_pytest_in_a_notebook_that_has_loaded_the_magics_is_silent(wheel: zipfile.ZipFile, tmp_path: Path):
    wheel.extractall(tmp_path / "installed")
    (tmp_path / "test_it.py").write_text("def test_it(hermes_home):\n    assert hermes_home.is_dir()\n")
    code = (
        "import hermes_kernel, magics, pytest, sys\n"
        f"assert hermes_kernel.__file__.startswith({str(tmp_path)!r})\n"
        "sys.exit(pytest.main(['-q', '-W', 'error', '-p', 'no:asyncio', '-p', 'no:cacheprovider', 'test_it.py']))\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    asked = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(asked, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr


def test_each_module_of_the_scripted_server_can_be_the_first_that_is_imported():
    modules = sorted(each.stem for each in (ROOT / "hermes_kernel" / "testing").glob("*.py") if "__" not in each.stem)
    for_each = (
        "import importlib, sys\n"
        f"for name in {modules}:\n"
        "    for loaded in [each for each in sys.modules if each.startswith('hermes_kernel.testing')]:\n"
        "        del sys.modules[loaded]\n"
        "    importlib.import_module(f'hermes_kernel.testing.{name}')\n"
    )
    done = subprocess.run([sys.executable, "-c", for_each], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_exemption_from_the_linter_has_its_reason_beside_it():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = text[text.index("[tool.ruff.lint]") : text.index("[tool.ruff.lint.mccabe]")]
    lines = [line for line in block.splitlines() if re.search(r'"[A-Z]{1,5}\d*"', line) and '"ALL"' not in line]
    assert lines
    assert [line for line in lines if "# " not in line] == []


def test_requirements_have_lower_bounds_and_the_weights_are_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    ours = [
        each for group in (project["dependencies"], extras["test"], extras["lab"], extras["scale"]) for each in group
    ]
    assert [each for each in ours if ">=" not in each and not each.startswith("hermes-kernel")] == []
    assert [each for each in extras["local"] if "==" not in each] == []
