"""What the front page says is so."""

from __future__ import annotations

import argparse
import inspect
import re
import subprocess
from pathlib import Path

from hermes_kernel.cli import _parser
from hermes_kernel.settings import LATER, RANGES
from magics.commands.every import COMMANDS
from magics.hermes import HermesMagics
from magics.options import usage
from tests.readme import README, fresh

ROOT = README.parent
TEXT = README.read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_code():
    assert fresh(TEXT) == TEXT, "python -m tests.readme writes them anew"


def test_every_command_of_the_command_line_is_told():
    parser = _parser()
    (commands,) = (action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    told = re.findall(r"^hermes-kernel (\w+) ", TEXT, re.MULTILINE)
    beside = {"title"}  # told with `show`
    assert set(told) | beside == set(commands)


def test_what_help_says_of_the_magic_names_every_command_and_every_option():
    said = re.sub(r"\s+", " ", inspect.getdoc(HermesMagics.hermes) or "")
    assert f"``%hermes COMMAND``: {', '.join(COMMANDS)}. " in said
    missing = [option for option, _ in usage() if f"``{option.split()[0]}" not in said]
    assert missing == []


def test_the_test_command_is_the_one_that_ci_runs():
    command = 'pip install -e ".[local,test]" && bash tests/run'
    assert command in TEXT
    assert command in (ROOT / ".ci/run").read_text(encoding="utf-8").replace("pip install -q ", "pip install ")


def test_every_link_to_a_file_leads_somewhere():
    pages = [README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md")]
    links = [
        (page, target)
        for page in pages
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    ]
    missing = [
        (page.name, target) for page, target in links if "://" not in target and not (page.parent / target).exists()
    ]
    assert links
    assert missing == []


def test_every_setting_does_something_unless_it_is_said_to_do_nothing_yet():
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("hermes_kernel", "magics")
        for path in (ROOT / folder).rglob("*.py")
        if path.name not in ("settings.py", "ranges.py", "given.py")
    )
    used = {name for name in RANGES if re.search(rf"settings\.{name}\b|\bo\.{name}\b", code)}
    assert set(RANGES) - used == LATER


def test_shell_scripts_are_well_formed():
    scripts = [ROOT / ".ci/run", ROOT / "tests/run"]
    done = [
        subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False) for script in scripts
    ]
    assert [each.stderr for each in done] == ["", ""]


def test_the_changelog_has_the_version_that_is_installed():
    from hermes_kernel import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f'version = "{__version__}"' in Path(ROOT / "pyproject.toml").read_text(encoding="utf-8")
