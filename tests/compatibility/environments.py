"""Environments from the index: our wheel, made of the latest commit, and beside it what a combination asks for.

The tests that are run in one are a copy without the packages, so that what they import is what was installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.compatibility.combinations import ROOT, Combination

OURS = ("hermes_kernel", "magics")
TOOLS = ("uv", "pipx")


class Broken(Exception):
    """A step failed; its last words."""


class Shop(NamedTuple):
    """Where everything is made: ``tree``, a copy of the latest commit; ``bare``, the same without our packages."""

    folder: Path
    tree: Path
    bare: Path
    dist: Path

    @property
    def uv(self) -> str:
        return str(self.folder / "tools" / "bin" / "uv")

    @property
    def wheel(self) -> Path:
        return next(self.dist.glob("*.whl"))


def run(command: Sequence[str | Path], folder: Path, **environ: str) -> str:
    """What a command says. Nothing of the person's own Jupyter or agent is in its environment."""
    kept = {
        name: value for name, value in os.environ.items()
        if not name.startswith(("HERMES_", "OPENAI_", "PYTEST_", "JUPYTER", "VIRTUAL_ENV", "PYTHON"))
    }  # fmt: skip
    done = subprocess.run(command, cwd=folder, env=kept | environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Broken(done.stderr[-4000:] + done.stdout[-40_000:])
    return done.stdout


def open_shop(folder: Path) -> Shop:
    """Copy the latest commit, and build from it: a source archive, and the wheel from that."""
    shop = Shop(folder, folder / "tree", folder / "bare", folder / "dist")
    for stale in (shop.tree, shop.bare, shop.dist):
        shutil.rmtree(stale, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    run(["git", "archive", "-o", folder / "tree.tar", "HEAD"], ROOT)
    with tarfile.open(folder / "tree.tar") as archive:
        archive.extractall(shop.tree, filter="data")
    shutil.copytree(shop.tree, shop.bare, ignore=lambda at, _: OURS if Path(at) == shop.tree else ())
    if not Path(shop.uv).exists():
        run([sys.executable, "-m", "venv", folder / "tools"], folder)
        run([folder / "tools" / "bin" / "pip", "install", "-q", *TOOLS], folder)
    run([shop.uv, "build", "-q", "--out-dir", shop.dist], shop.tree)
    return shop


def interpreter(version: str, given: Sequence[Path]) -> Path | None:
    """One of this version: of those that were given, or the one on the path. Without a version: whoever runs this."""
    if not version:
        return Path(sys.executable)
    for each in given:
        asked = [each, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        if run(asked, Path.cwd()).strip() == version:
            return each
    if sys.version_info[:2] == tuple(int(each) for each in version.split(".")):
        return Path(sys.executable)
    found = shutil.which(f"python{version}")
    return Path(found) if found else None


def made(shop: Shop, combination: Combination, python: Path) -> Path:
    """The interpreter of an environment in which this combination is installed."""
    folder = shop.folder / "environments" / combination.name
    run([shop.uv, "venv", "-q", "--clear", "--python", python, folder], shop.folder)
    inside = folder / "bin" / "python"
    install = [shop.uv, "pip", "install", "-q", "--python", inside]
    if combination.lowest:
        run([*install, "-r", _oldest(shop, combination)], shop.folder)
        run([*install, "--no-deps", shop.wheel], shop.folder)
    else:
        ours = f"hermes-kernel[test] @ {shop.wheel.as_uri()}"
        run([*install, "--reinstall-package", "hermes-kernel", ours, *combination.beside], shop.folder)
    return inside


def _oldest(shop: Shop, combination: Combination) -> Path:
    """A file of requirements with the oldest of all that `pyproject.toml` names, our tests' own tools too."""
    found = shop.folder / f"{combination.name}.txt"
    asked = [shop.uv, "pip", "compile", "-q", "pyproject.toml", "--extra", "test", "--resolution", "lowest-direct"]
    asked += ["--python-version", combination.python, "-o", str(found)]
    run(asked, shop.tree)
    return found


def versions(python: Path) -> str:
    """What an environment has of all that matters here."""
    code = (
        "import sys; from importlib.metadata import version\n"
        "print('Python %d.%d.%d' % sys.version_info[:3], *(name + ' ' + version(name) for name in"
        " ('ipykernel', 'ipywidgets', 'duckdb', 'openai')), sep=', ')"
    )
    return run([python, "-c", code], Path.cwd()).strip()
