"""What every log of sessions promises, kept by homes that share a store; and that each sees what another was told."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_kernel.core.events import Asked, Opened, Titled
from hermes_kernel.core.plain import dump, load
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.opening import open_store
from hermes_kernel.world.store.records import Record
from hermes_kernel.world.store.shared import rows
from tests.contracts.stores import Ticks, told, turn
from tests.contracts.test_store import (  # noqa: F401 - the same claims of another log
    facts,
    test_a_session_is_claimed_by_one_at_a_time,
    test_a_session_that_is_not_there_is_a_key_error_that_names_the_closest,
    test_an_id_is_text_and_nothing_else,
    test_facts_appended_at_once_are_recalled_as_if_one_by_one,
    test_hostile_text_comes_back_as_it_was,
    test_sessions_told_in_turns_stay_apart,
    test_the_latest_session_is_the_one_last_active_in_its_notebook,
    test_what_was_appended_is_recalled_in_order,
)
from tests.postgres import postgres, url  # noqa: F401 - fixtures


class Homes:
    """Homes that share a store, each as if on a host of its own."""

    def __init__(self, folder, url):  # noqa: F811
        self._folder, self._url, self._opened = folder, url, []

    def __call__(self, name="a", url=None):  # noqa: F811
        store = open_store(self._folder / name, url or self._url, clock=Ticks(), ids=lambda: uuid4().hex)
        self._opened.append(store)
        return store

    def close(self):
        for store in self._opened:
            store.close()


class Elsewhere:
    """Appended in one home and recalled in another, which folds after every fact."""

    def __init__(self, homes):
        self._here, self._there = homes("here"), homes("there")
        self.recall, self.latest, self.close = self._there.recall, self._there.latest, self._there.close
        self.claim = self._here.claim

    def append(self, session, *events):
        self._here.append(session, *events)
        self._there.fold()


class Wandering:
    """Each fact told in another home than the one before."""

    def __init__(self, homes):
        self._homes, self._n = [homes(name) for name in "abc"], 0
        self.claim = self._homes[0].claim
        self.close = homes.close

    def append(self, session, *events):
        self._n += 1
        log = self._homes[self._n % 3]
        if not isinstance(events[0], Opened) and self._n > 1:
            self._seen(log, session)
        log.append(session, *events)

    def _seen(self, log, session):
        try:
            log.recall(session)
        except KeyError:
            return

    def recall(self, session):
        return self._homes[(self._n + 1) % 3].recall(session)

    def latest(self, notebook=None):
        return self._homes[(self._n + 1) % 3].latest(notebook)


@pytest.fixture
def homes(tmp_path, url):  # noqa: F811
    homes = Homes(tmp_path, url)
    yield homes
    homes.close()


@pytest.fixture(params=["here", "elsewhere", "wandering"])
def log(request, homes):
    return {"here": homes, "elsewhere": lambda: Elsewhere(homes), "wandering": lambda: Wandering(homes)}[
        request.param
    ]()


def test_what_one_home_was_told_every_home_finds_at_once(homes):
    a, b = homes("a"), homes("b")
    a.append("s", Opened("s", notebook="n.ipynb"), Asked("where is the lighthouse?"))
    assert b.recall("s") == a.recall("s")
    assert [row.id for row in b.sessions()] == ["s"]
    assert b.latest("n.ipynb") == "s"
    for _ in range(2):
        assert [thread.hits[0].passage.text for thread in b.search("lighthouse").threads] == [
            "where is the lighthouse?"
        ]
        assert b.passages("s") == a.passages("s")
        b.fold()


def test_a_session_goes_on_in_another_home_where_it_left_off(homes):
    a, b = homes("a"), homes("b")
    facts = told(a, "s", turn("s"))
    assert b.recall("s") == facts
    b.append("s", Titled("moved"))
    assert a.recall("s") == [*facts, Titled("moved")]


def test_a_new_home_takes_in_everything_and_then_only_what_is_new(homes):
    a, b = homes("a"), homes("b")
    for n in range(5):
        told(a, f"s{n}", turn(f"s{n}"))
    assert b.fold().facts == 35
    a.append("s1", Titled("t"))
    assert (b.fold().facts, b.fold().facts) == (1, 0)


def test_ids_that_look_alike_when_escaped_stay_apart(homes):
    a = homes("a")
    a.append("a\\0b", Titled("one"))
    a.append("a\0b", Titled("two"))
    b = homes("b")
    assert (b.recall("a\\0b"), b.recall("a\0b")) == ([Titled("one")], [Titled("two")])


@settings(deadline=None)
@given(facts(), st.text())
def test_any_fact_and_any_session_survive_the_servers_columns(fact, session):
    given_ = Record("u", session, 3, 1.5, dump(fact))
    columns = [column[0] for column in rows.columns([given_])]
    assert not any("\0" in text for text in columns if isinstance(text, str))
    back = rows.record((9, *columns))
    assert load(back.fact) == fact
    assert (back.uid, back.n, back.t) == ("u", 3, 1.5)
    assert rows.read(rows.written(session)) == session or "\ufffd" in back.session


@given(st.lists(facts(), min_size=1, max_size=8))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_facts_survive_the_server(tmp_path_factory, url, events):  # noqa: F811
    homes = Homes(tmp_path_factory.mktemp("homes"), url)
    a, b = homes("a"), homes("b")
    session = tmp_path_factory.mktemp("s").name
    a.append(session, *events)
    assert b.recall(session) == events
    homes.close()


def test_a_second_host_in_a_session_is_refused_and_told_who_is_there(homes):
    a, b = homes("a"), homes("b")
    with a.claim("s"):
        with pytest.raises(StoreError, match=r"session 's' is in use by process \d+ on .+: stop it there"):
            b.claim("s")
        b.claim("t").close()
    b.claim("s").close()


def test_two_stores_in_one_database_know_nothing_of_each_other(homes, url):  # noqa: F811
    a, b = homes("a"), homes("b", f"{url}?schema=team_two")
    a.append("s", Titled("ours"))
    assert b.latest() is None
    b.append("s", Titled("theirs"))
    assert (homes("c").recall("s"), b.recall("s")) == ([Titled("ours")], [Titled("theirs")])
