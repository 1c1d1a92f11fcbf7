"""The table of protections that are taken away fits the page and the code."""

from __future__ import annotations

import json

import pytest

from tests.claims import claims, meant
from tests.mutations import ROOT, mutated
from tests.unprotected import REMOVALS, main, mutations


def test_the_protection_of_every_claim_is_taken_away_and_every_test_it_names_must_notice_once():
    noticing = {(meant(removal).text, words) for removal in REMOVALS for words in removal.tests}
    named = {(claim.text, words) for claim in claims() for words in claim.tests}
    assert noticing == named


@pytest.mark.parametrize("removal", REMOVALS, ids=lambda one: one.left.replace(" ", "_"))
def test_a_removal_changes_each_place_once_and_names_tests_that_the_page_names(removal):
    assert removal.tests
    assert set(removal.tests) <= set(meant(removal).tests)
    for mutation in mutations(removal):
        assert mutation.old != mutation.new
        changed = mutated(mutation, ROOT)
        assert not mutation.file.endswith(".py") or compile(changed, mutation.file, "exec")


def test_what_is_left_is_said_of_each_in_words_of_its_own():
    said = [(removal.claim, removal.left) for removal in REMOVALS]
    assert len(set(said)) == len(said)


def test_words_that_are_in_none_are_no_success(capsys):
    assert main(["--only", json.dumps("no such claim")]) == 1
    assert "none has" in capsys.readouterr().out
