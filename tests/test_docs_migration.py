"""What the page for those who come from the original says of us is so: names and defaults of settings, and its commands."""

from __future__ import annotations

import re

from hermes_kernel.settings import RANGES, Settings
from tests.examples import DOCS

PAGE = (DOCS / "migration.md").read_text(encoding="utf-8")
ROWS = re.search(r"^\| there \| here \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)


def here():
    """The right column: the names in it, each with the default in brackets behind it, if there is one."""
    assert ROWS
    right = [row.strip("| ").split(" | ")[1] for row in ROWS[1].splitlines()]
    return [found for cell in right for found in re.findall(r"`([a-z]+(?:_[a-z]+)*)`(?: \(([\w.,]+)\))?", cell)]


def test_every_setting_of_the_right_column_is_one_with_the_default_that_it_has():
    defaults = {row.name: row.default for row in Settings().shown()}
    others = {"budget", "on", "ask", "off"}
    told = [(name, default) for name, default in here() if name not in others]
    assert len(told) > 30
    assert [name for name, _ in told if name not in RANGES] == []
    assert [(name, default) for name, default in told if default and defaults[name] != default] == []


def test_defaults_that_are_told_in_words_are_those_there_are():
    settings = Settings()
    assert (settings.max_iterations, settings.max_continuations, settings.nudge_every_turns) == (90, 3, 10)
    assert (settings.curator_days, settings.archive_days, settings.delegate_depth) == (7, 90, 1)
    assert (settings.memory_chars, settings.user_chars, settings.refunds) == (2200, 1375, 0)
    assert Settings(base_url="http://127.0.0.1:1/v1").first_byte_seconds == 900
    assert Settings(base_url="https://models.example/v1").first_byte_seconds == 180
