"""What the front page says is so. Its links, and the tables of the pages behind it, are held by `test_docs`."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hermes_kernel.settings import RANGES
from magics.commands.every import COMMANDS
from magics.hermes import HermesMagics
from magics.options import usage
from tests.pages import DOCS, ROOT

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


def linked(folder: str) -> set[str]:
    """The files of a folder that the front page leads to."""
    return set(re.findall(rf"\]\({folder}/([\w.-]+\.(?:md|ipynb))", TEXT))


def test_it_is_read_in_a_few_minutes():
    assert len(TEXT.splitlines()) <= 200


def test_every_notebook_is_in_the_book_in_the_order_of_its_number():
    book = re.findall(r"^\| (\d\d) \| \[[^\]]+\]\(notebooks/(\d\d)_\w+\.ipynb\)", TEXT, re.MULTILINE)
    assert [said for said, _ in book] == [number for _, number in book] == sorted(number for _, number in book)
    assert linked("notebooks") == {path.name for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")}


def test_every_page_of_the_documentation_is_a_link_away():
    assert linked("docs") == {path.name for path in DOCS.glob("*.md")}


def test_its_figures_are_those_of_the_page_of_figures():
    figures = (DOCS / "figures.md").read_text(encoding="utf-8")
    rows = re.search(r"^\| measured \| ours \| bare.*\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    assert rows
    assert len(rows[1].splitlines()) > 6
    assert [row for row in rows[1].splitlines() if row not in figures] == []


def test_what_help_says_of_the_magic_names_every_command_and_every_option():
    said = re.sub(r"\s+", " ", inspect.getdoc(HermesMagics.hermes) or "")
    assert f"``%hermes COMMAND``: {', '.join(COMMANDS)}. " in said
    missing = [option for option, _ in usage() if f"``{option.split()[0]}" not in said]
    assert missing == []


def test_the_test_command_is_the_one_that_ci_runs():
    command = 'pip install -e ".[local,test]" && bash tests/run'
    assert command in TEXT
    assert command in (ROOT / ".ci/run").read_text(encoding="utf-8").replace("pip install -q ", "pip install ")


def test_every_setting_does_something():
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("hermes_kernel", "magics")
        for path in (ROOT / folder).rglob("*.py")
        if path.name not in ("settings.py", "ranges.py", "given.py")
    )
    used = {name for name in RANGES if re.search(rf"settings\.{name}\b|\bo\.{name}\b", code)}
    assert set(RANGES) - used == set()


def test_shell_scripts_are_well_formed():
    scripts = [ROOT / ".ci/run", ROOT / "tests/run"]
    done = [
        subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False) for script in scripts
    ]
    assert [each.stderr for each in done] == ["", ""]


@pytest.mark.parametrize(
    ("there", "asked"),
    [
        ((), {"chromium", "fonts-dejavu-core", "fonts-noto-color-emoji", "nodejs", "npm"}),
        (("npm",), {"chromium", "fonts-dejavu-core", "fonts-noto-color-emoji"}),
        (("chromium",), {"nodejs", "npm"}),
        (("chromium", "npm"), set()),
    ],
    ids=lambda names: "+".join(sorted(names)) or "nothing",
)
def test_the_system_is_asked_for_what_is_missing_and_nothing_else(tmp_path: Path, there, asked):
    """A Node of another maker conflicts with the system's npm: asked for both, the system brings no browser either."""
    said = tmp_path / "said"
    programs = {"id": "echo 0", "apt-get": f'echo "$@" >>"{said}"', "npm": "exit 1", "chromium": "exit 1"}
    for name in ("id", "apt-get", *there):
        (tmp_path / name).write_text(f"#!/bin/sh\n{programs[name]}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    step = re.search(
        r"^browser\(\) \{\n.*?^\}\n", (ROOT / "tests/run").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert step
    subprocess.run([str(shutil.which("bash")), "-uc", f"{step[0]}browser"], env={"PATH": str(tmp_path)}, check=False)
    words = said.read_text(encoding="utf-8").split() if said.exists() else []
    assert {word for word in words if not word.startswith("-")} - {"update", "install"} == asked


def test_the_changelog_has_the_version_that_is_installed():
    from hermes_kernel import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f'version = "{__version__}"' in Path(ROOT / "pyproject.toml").read_text(encoding="utf-8")
