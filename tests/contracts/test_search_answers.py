"""Searches with known answers: every log finds exactly these messages, folded or not, indexed or not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from hermes_kernel.core.events import Asked, Undone
from hermes_kernel.core.search.finding import HITS
from hermes_kernel.core.search.found import Found
from hermes_kernel.core.search.query import parse
from hermes_kernel.world.ports import Archive
from hermes_kernel.world.store import Store
from hermes_kernel.world.store.memory import MemoryLog
from tests.contracts.answers import ANSWERS
from tests.contracts.sayings import ALL, NAMES, NOW, ROOTS, At, tell
from tests.contracts.stores import child, counted, done

ENOUGH = 50  # threads, which is more than there are


@pytest.fixture(scope="module", params=["memory", "journals", "database", "both"])
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """Everything said, in memory, in journals, in the database, or begun there and ended in journals."""
    clock = At()
    if request.param == "memory":
        memory = MemoryLog(clock=clock, zone=UTC)
        tell(memory.append, clock)
        yield memory
        return
    store = Store(tmp_path_factory.mktemp("home"), clock=clock, ids=counted())
    half = 5 if request.param == "both" else None
    tell(store.append, clock, slice(half))
    if request.param != "journals":
        store.fold()
    if half:
        tell(store.append, clock, slice(half, None))
    yield store
    store.close()


def search(log: Archive, text: str, limit: int = ENOUGH) -> Found:
    return log.search(parse(text, now=NOW, zone=UTC), limit)


def names(found: Found) -> list[str]:
    return [NAMES[hit.passage.session, hit.passage.n] for hit in found.hits]


def lineage(name: str) -> str:
    """Where the conversation of a message or a session began."""
    return ROOTS[re.split(r"[-.]", name)[0]]


@pytest.mark.parametrize("text", ANSWERS)
def test_exactly_what_was_asked_for_is_found_in_its_thread_and_marked(log: Archive, text: str):
    wanted = set(ANSWERS[text].split())
    found = search(log, text)
    shown = names(found)
    assert set(shown) <= wanted
    assert found.total == len(wanted)
    assert not found.partly
    assert not found.note
    threads = Counter(lineage(name) for name in wanted)
    for thread in found.threads:
        assert {lineage(hit.passage.session) for hit in thread.hits} == {lineage(thread.root)}
        assert len(thread.hits) == min(threads.pop(lineage(thread.root)), HITS)
    assert not threads
    words = bool(parse(text, now=NOW, zone=UTC).clauses)
    for hit in found.hits:
        assert any(marked for _, marked in hit.snippet.pieces) == (hit.score > 0) == words


def test_all_that_was_said_stands_in_order_and_is_found_without_a_word(log: Archive):
    for each in ALL:
        told = [NAMES[passage.session, passage.n] for passage in log.passages(each.session)]
        assert told == [f"{each.session.partition('-')[0]}.{said.name}" for said in each.said if said.name]
    assert search(log, "").total == len(NAMES)


def test_a_message_is_found_with_its_text_its_time_and_its_tool(log: Archive):
    (thread,) = search(log, "fatal").threads
    (hit,) = thread.hits
    assert (hit.passage.session, hit.passage.role, hit.passage.tool) == ("git-0010", "tool", "terminal")
    assert hit.passage.text == "fatal: You have nothing to amend."
    assert hit.passage.t == ALL[9].moment
    assert hit.snippet.pieces == (("fatal", True), (": You have nothing to amend.", False))
    assert (thread.root, thread.title) == ("git-0010", "Amend the last commit")
    assert (thread.notebook, thread.model) == ("deploy/ci.ipynb", "local:smol")


def test_a_branch_is_told_with_what_it_came_from(log: Archive):
    (thread,) = search(log, "marmalade").threads
    assert thread.root == "undone-0007"
    assert len(thread.hits) == HITS
    assert thread.hits[0].score == max(hit.score for hit in thread.hits)


def test_where_nothing_has_every_word_the_most_of_them_is_found_and_said(log: Archive):
    found = search(log, "marmalade herons zeppelin")
    assert set(names(found)) < {"undone.keep", "undone.kept", "undone.idea", "branch.glasses", "birds.ask"}
    assert {lineage(name) for name in names(found)} == {lineage("undone.keep"), lineage("birds.ask")}
    assert (found.partly, found.total) == (True, 5)
    found = search(log, 'numpy upgrade herons -"to 2"')
    assert (set(names(found)), found.partly) == ({"birds.ask"}, True)


def test_no_more_threads_are_shown_than_asked_for_and_all_are_counted(log: Archive):
    found = search(log, "role:user", 3)
    assert len(found.threads) == 3
    assert found.total == sum(bool(said.name) and isinstance(said.fact, Asked) for each in ALL for said in each.said)
    assert [hit.passage.t for hit in found.hits] == sorted((hit.passage.t for hit in found.hits), reverse=True)


def test_a_better_match_stands_before_a_worse(log: Archive):
    assert names(search(log, "amend"))[:1] in (["git.ask"], ["git.result"])
    assert names(search(log, "rain OR giraffes"))[0] == "short.counted"


def test_a_session_is_named_by_its_id_its_beginning_its_title_or_last(log: Archive):
    named = ["git-0010", "git-", "Umsätze nach Kunden", "Amend the last commit", "last"]
    assert [log.find(text) for text in named] == ["git-0010", "git-0010", "sales-0001", "git-0010", "short-0012"]
    for text in ("git", "nobody", ""):
        with pytest.raises(KeyError):
            log.find(text)


def test_a_day_is_a_day_of_this_machine():
    code = (
        "import os, time\n"
        "os.environ['TZ'] = 'Europe/Berlin'\n"
        "time.tzset()\n"
        "from hermes_kernel.core.search.query import parse\n"
        "from hermes_kernel.world.zone import LOCAL\n"
        "asked = parse('after:2026-07-04 before:2026-01-04T12:00', now=1.8e9, zone=LOCAL).filters\n"
        "today = parse('after:today', now=1.8e9, zone=LOCAL).filters\n"
        "print(asked.after, asked.before, today.after)\n"
    )
    summer, winter = datetime(2026, 7, 3, 22, tzinfo=UTC), datetime(2026, 1, 4, 11, tzinfo=UTC)
    today = datetime(2027, 1, 14, 23, tzinfo=UTC)
    assert done(child(code)).split() == [str(each.timestamp()) for each in (summer, winter, today)]


def test_a_message_is_found_as_soon_as_it_is_told_and_never_after_it_is_undone(log: Archive):
    log.append("birds-0009", Asked("The ostrich did not fly"))
    assert [hit.passage.text for hit in search(log, "ostrich").hits] == ["The ostrich did not fly"]
    log.append("birds-0009", Undone(1))
    assert search(log, "ostrich") == Found((), 0)
