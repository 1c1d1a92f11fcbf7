"""The table of mutations fits the code: each line of it can be carried out, and names tests that there are."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import Counter

import pytest

from tests.mutations import MUTATIONS, ROOT, WHERE, end_all, main, mutated
from tests.soon import SOON


def test_there_are_at_least_thirty_rules():
    assert len(MUTATIONS) >= 30
    assert not [name for name, times in Counter(one.name for one in MUTATIONS).items() if times > 1]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name.replace(" ", "_"))
def test_a_mutation_changes_one_place_and_can_be_run(mutation):
    compile(mutated(mutation, ROOT), mutation.file, "exec")
    assert mutation.old != mutation.new
    assert mutation.tests
    for test in mutation.tests:
        file, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8") or not name


def test_a_rule_that_was_rewritten_is_told(tmp_path):
    mutation = MUTATIONS[0]
    file = tmp_path / mutation.file
    file.parent.mkdir(parents=True)
    for text in ("", mutation.old * 2):
        file.write_text(text)
        with pytest.raises(ValueError, match=f"{mutation.name}: .* is {text.count(mutation.old)} times"):
            mutated(mutation, tmp_path)


def test_what_lives_on_because_a_rule_is_broken_is_ended(tmp_path):
    theirs = subprocess.Popen(["sleep", "900"], env={**os.environ, WHERE: str(tmp_path)}, start_new_session=True)
    end_all(tmp_path)
    assert theirs.wait(SOON) == -signal.SIGKILL


def test_a_name_that_is_none_is_no_success(capsys):
    assert main(["--only", json.dumps("no such rule")]) == 1
    assert "none is called" in capsys.readouterr().out
