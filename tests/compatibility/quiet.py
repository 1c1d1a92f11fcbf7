"""No Python complains of our code: not when it is compiled, and not when all of it is imported."""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

PACKAGES = ("hermes_kernel", "magics")
EVERY = """
import importlib, pkgutil, sys, warnings
import {package}
ours = [each.name for each in pkgutil.walk_packages({package}.__path__, "{package}.") if "__main__" not in each.name]
with warnings.catch_warnings(record=True) as heard:
    warnings.simplefilter("always")
    for name in ours:
        if not name.endswith(".child"):  # which is a process of its own
            importlib.import_module(name)
from pathlib import Path
root = str(Path({package}.__file__).parent)
print(len(ours))
for each in heard:
    if each.filename.startswith(root):
        print(each.filename, each.category.__name__, each.message, file=sys.stderr)
"""


def folder(package: str) -> Path:
    found = find_spec(package)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_it_is_silent_where_warnings_are_errors(package):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import {package}"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_is_compiled_without_a_warning(package):
    files = sorted(folder(package).rglob("*.py"))
    assert files
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for file in files:
            compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_is_imported_without_a_warning_of_ours(package):
    done = subprocess.run(
        [sys.executable, "-c", EVERY.format(package=package)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 10
