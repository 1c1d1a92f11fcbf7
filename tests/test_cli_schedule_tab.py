"""Tab behind the words about jobs: what may stand there, and nothing where nothing is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_kernel.scheduling.faces.verbs import VERBS
from magics.tab.completing import Known, completed

KNOWN = {"job": ["monday-report", "tea"], "run": ["abc-1", "abd-2"], "target": ["team"], "skill": ["brewing"]}


def tab(line: str) -> list[str]:
    known = Known({}, KNOWN.__getitem__, Path(), lambda: KNOWN["skill"], there=KNOWN.__getitem__)
    return list(completed(line, known).words)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%hermes sched", ["schedule"]),
        ("%hermes schedule pa", ["pause"]),
        ("%hermes schedule pause m", ["monday-report"]),
        ("%hermes schedule stop abc", ["abc-1"]),
        ("%hermes schedule runs t", ["tea"]),
        ("%hermes schedule targets ", ["list", "add", "remove", "test"]),
        ("%hermes schedule targets remove t", ["team"]),
        ('%hermes schedule "every 2h" "x" --del', ["--deliver"]),
        ('%hermes schedule "every 2h" "x" --deliver t', ["team"]),
        ('%hermes schedule "every 2h" "x" --zone Europe/Zur', ["Europe/Zurich"]),
        ('%hermes schedule "every 2h" "x" --skill b', ["brewing"]),
        ('%hermes schedule "every 2h" "x" --misfire o', ["once"]),
        ("%hermes schedule change tea --w", ["--when"]),
        ('%hermes schedule "every 2h" "x" --w', []),
        ('%hermes schedule "every 2h" "x" ', []),
        ("%hermes jobs ", ["monday-report", "tea"]),
        ("%hermes runs s", ["stop"]),
        ("%hermes runs stop abd", ["abd-2"]),
        ("%%hermes --sched", ["--schedule"]),
        ('%%hermes --schedule "every 2h" --na', ["--name"]),
        ('%%hermes --schedule "every 2h" --deliver des', ["desktop"]),
        ("%%hermes --schedule every", []),
    ],
)
def test_tab_offers_what_may_stand_there(line, offered):
    assert tab(line) == offered


def test_every_word_but_the_one_that_need_not_be_said_is_offered():
    assert tab("%hermes schedule ") == [verb for verb in VERBS if verb != "add"]
