"""``hermes-kernel import`` says what it did, what was there, what it left out and why."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.contracts.originals import made, original, seen
from tests.contracts.stores import ROOT


@pytest.fixture
def command(tmp_path):
    def run(*arguments, code=0):
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("HERMES_", "OPENAI_"))}
        done = subprocess.run(
            [sys.executable, "-m", "hermes_kernel", "import", *map(str, arguments)],
            env={**clean, "HERMES_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, done
        return done.stdout if code == 0 else done.stderr

    return run


def test_it_tells_what_was_imported_and_the_second_time_that_it_was_there(command, tmp_path):
    there = original(tmp_path / "there")
    (there / "skills" / "counting").mkdir(parents=True)
    (there / "skills" / "counting" / "SKILL.md").write_text("---\nname: counting\n---\n")
    (there / "memories").mkdir()
    (there / "memories" / "USER.md").write_text("Likes tables.\n")
    rehearsal = command(there, "--dry-run").splitlines()
    assert rehearsal[0] == "15 sessions, 127 messages, 24 tool calls, 5 titles would be imported"
    first = command(there).splitlines()
    assert first == [
        "15 sessions, 127 messages, 24 tool calls, 5 titles imported",
        "left out: messages of a role that is not known: 1",
        "3 texts had a secret in them, which was replaced",
        f"1 skill in {there / 'skills'}: read in place, not copied",
        f"memories in {there / 'memories'}: read in place, not copied",
    ]
    second = command(there / "state.db").splitlines()
    assert second[:2] == [
        "0 sessions, 0 messages, 0 tool calls, 0 titles imported",
        "already there: 15 sessions, 127 messages",
    ]


def test_without_a_path_it_takes_the_state_db_of_the_home(command, tmp_path):
    original(tmp_path / "home")
    told = json.loads(command("--json"))
    assert (told["sessions"], told["messages"], told["dry_run"]) == (15, 127, False)
    assert seen(tmp_path / "home", "SELECT count(*) FROM sessions") == [(15,)]


def test_a_path_with_nothing_to_import_is_a_mistake_of_one_line(command, tmp_path):
    other = made(tmp_path / "other.db", "CREATE TABLE bookmarks (url TEXT);")
    for path in (tmp_path / "nowhere.db", other):
        said = command(path, code=2)
        assert said.count("\n") == 1
        assert str(path) in said
        assert "state.db of Hermes Agent" in said


def test_a_home_that_cannot_be_written_is_a_failure(command, tmp_path):
    (tmp_path / "home").write_text("a file")
    assert "Traceback" not in command(original(tmp_path / "there"), code=1)
