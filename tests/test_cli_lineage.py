"""``hermes-kernel`` on a conversation that was compressed, on subagents and on maps: one line for what a person spoke in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hermes_kernel.core.compression.summary import summary_message
from hermes_kernel.core.events import (
    Asked,
    Compressed,
    Continued,
    Final,
    Kept,
    Leased,
    Opened,
    Outcome,
    Replied,
    Returned,
)
from hermes_kernel.core.messages import Assistant, User
from hermes_kernel.world.store import Store
from tests.test_cli_sessions import Run, command, tell  # noqa: F401 - `command` is a fixture

FIRST, SECOND, THIRD = ("a" * 32, "b" * 32, "c" * 32)
CHILD, LATE, MAP, BRANCH = ("1" * 32, "2" * 32, "3" * 32, "4" * 32)


def said(n: int) -> list[Kept]:
    return [Asked(f"Question {n}?"), Replied(f"Answer {n}."), Final(Outcome.COMPLETED, f"Answer {n}.")]


def shortened(*left: int, gone: int) -> tuple[Compressed, tuple[object, ...]]:
    """The compression after which the first question, a summary and some later turns are left."""
    kept = [message for n in left for message in (User(f"Question {n}?"), Assistant(f"Answer {n}."))]
    transcript = (User("Question 1?"), summary_message(f"- What was said of {gone} messages. <b>", gone), *kept)
    return Compressed(transcript, 1000, 100, "summary"), transcript


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a conversation that was compressed twice, a branch of it, two subagents, and 40 rows of a map."""
    home = tmp_path_factory.mktemp("home")
    store = Store(home)
    once, after_once = shortened(3, gone=3)
    twice, after_twice = shortened(5, gone=7)
    tell(store, [Opened(FIRST), *said(1), *said(2), *said(3), once, Continued(SECOND)])
    tell(store, [Opened(SECOND, parent=FIRST, transcript=after_once), *said(4), *said(5), twice, Continued(THIRD)])
    leased = [
        Leased(CHILD, 4, "count <i>ducks</i>"),
        Leased(LATE, 4, "count geese"),
        Returned(CHILD, 3, Outcome.COMPLETED),
    ]
    tell(store, [Opened(THIRD, parent=SECOND, transcript=after_twice), *said(6)[:2], *leased, said(6)[2]])
    tell(store, [Opened(CHILD, kind="subagent", parent=THIRD), *said(7)])
    tell(store, [Opened(BRANCH, parent=SECOND, transcript=after_once), *said(8)])
    for n in range(40):
        tell(store, [Opened(f"{n:032x}", kind="map", parent=MAP), *said(9)])
    store.close()
    return home


@pytest.fixture
def there(command: Run, home: Path) -> Run:  # noqa: F811
    return lambda *arguments: command(home, *arguments)


def test_a_compressed_conversation_is_one_line_and_who_worked_for_it_none(there: Run):
    lines = there("sessions").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [BRANCH[:12], THIRD[:12]]
    assert len(there("sessions", "-n", "1").stdout.splitlines()) == 1


def test_all_sessions_are_listed_with_their_kinds(there: Run):
    rows = json.loads(there("sessions", "--all", "-n", "99", "--json").stdout)
    assert {row["id"] for row in rows} >= {FIRST, SECOND, THIRD, CHILD, BRANCH}
    known = {row["id"]: row for row in rows}
    assert (known[CHILD]["kind"], known[CHILD]["parent"]) == ("subagent", THIRD)
    assert (known[FIRST]["continued"], known[THIRD]["continued"]) == (SECOND, "")
    assert sum(row["kind"] == "map" for row in rows) == 40
    assert f"{CHILD[:12]}  subagent" in there("sessions", "--all", "-n", "99").stdout


def test_what_is_shown_says_where_it_came_from_and_who_worked_for_it(there: Run):
    shown = there("show", THIRD[:8]).stdout
    assert f"goes on from {SECOND[:12]}, which was compressed" in shown
    assert f"  {CHILD[:12]}  completed  3 of 4 calls  count <i>ducks</i>" in shown
    assert f"  {LATE[:12]}  not finished  0 of 4 calls  count geese" in shown
    assert "Question 6?" in shown
    assert "Question 5?" not in shown
    second = there("show", SECOND).stdout
    assert f"goes on in {THIRD[:12]} since it was compressed" in second
    assert f"branches: {BRANCH[:12]}" in second
    assert f"a subagent of {THIRD[:12]}" in there("show", CHILD).stdout
    assert f"branched from {SECOND[:12]}" in there("show", BRANCH).stdout


@pytest.mark.parametrize("session", [FIRST, SECOND, THIRD])
def test_all_of_it_is_read_from_whichever_session_of_it(there: Run, session: str):
    shown = there("show", session, "all").stdout
    places = [shown.index(f"    Question {n}?\n") for n in range(1, 7)]
    assert places == sorted(places)
    assert shown.count("since a compression") == 2
    assert "    Question 8?\n" not in shown


def test_a_summary_opens_to_the_messages_it_stands_for_and_those_of_the_one_before(there: Run):
    told = json.loads(there("show", THIRD, "summary", "--json").stdout)
    first, *rest = [(passage["role"], passage["text"]) for passage in told["passages"]]
    assert first == ("summary", "- What was said of 7 messages. <b>")
    assert [text for role, text in rest if role == "user"] == [f"Question {n}?" for n in (2, 3, 4)]
    assert rest[0] == ("assistant", "Answer 1.")
    before = json.loads(there("show", SECOND, "summary", "--json").stdout)["passages"]
    assert before[0]["text"] == "- What was said of 7 messages. <b>", "the last one that was made in it"


def test_a_branch_opens_the_summary_that_it_began_with(there: Run):
    told = json.loads(there("show", BRANCH, "summary", "--json").stdout)["passages"]
    assert told[0]["text"] == "- What was said of 3 messages. <b>"
    assert [each["text"] for each in told if each["role"] == "user"] == ["Question 2?"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("show", CHILD, "summary"), 1, "There is no summary in this conversation"),
        (("show", THIRD, "everything"), 2, "no place in it, nor `summary` or `all`"),
        (("show", "nobody", "all"), 1, "no session"),
    ],
)
def test_what_cannot_be_shown_is_said_in_a_line(there: Run, capsys, arguments, code, said):
    try:
        done = there(*arguments)
        assert (done.returncode, done.stderr.count("\n")) == (code, 1)
        assert said in done.stderr
    except SystemExit as left:
        assert left.code == code
        assert said in capsys.readouterr().err
