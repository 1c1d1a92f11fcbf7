"""What every log of sessions promises, in memory and on disk, whether its facts are folded or not."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_kernel.core.events import KEPT, Asked, Opened, Titled
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.plain import dump, load
from hermes_kernel.core.text import scrub
from hermes_kernel.world.store import MemoryLog, Store, StoreError
from hermes_kernel.world.store.records import Record, decode, encode
from tests.contracts.stores import Ticks, counted, store, told, turn


class Folding:
    """A store that is folded after every fact, from a second process's place."""

    def __init__(self, home):
        self._log, self._other = store(home), store(home, "other")
        self.recall, self.latest, self.claim, self.close = (
            self._log.recall,
            self._log.latest,
            self._log.claim,
            self._log.close,
        )

    def append(self, session, *facts):
        self.append_all({session: facts})

    def append_all(self, told):
        for session, facts in told.items():
            self._log.append(session, *facts)
        self._other.fold()


class Restarting:
    """A store that begins anew for every fact, as after so many crashes, with a fold between."""

    def __init__(self, home):
        self._home, self._clock, self._log, self._n = home, Ticks(), store(home), 0
        self.latest, self.claim, self.close = self._log.latest, self._log.claim, self._log.close

    def append(self, session, *facts):
        self.append_all({session: facts})

    def append_all(self, told):
        self._n += 1
        log = Store(self._home, clock=self._clock, ids=counted(f"at{self._n}n"))
        for session, facts in told.items():
            log.append(session, *facts)
        log.close()
        log.fold()

    def recall(self, session):
        return store(self._home).recall(session)


def told_all(log, told):
    """All of these sessions, and where a log folds, it does so once."""
    if isinstance(log, Folding | Restarting):
        log.append_all(told)
        return
    for session, facts in told.items():
        log.append(session, *facts)


@pytest.fixture(params=["memory", "journal", "folding", "restarting"])
def log(request, tmp_path):
    made = {"memory": MemoryLog, "journal": lambda: store(tmp_path), "folding": lambda: Folding(tmp_path)}
    log = made.get(request.param, lambda: Restarting(tmp_path))()
    yield log
    log.close()


def test_what_was_appended_is_recalled_in_order(log):
    facts = told(log, "s1", turn("s1"))
    assert log.recall("s1") == facts


def test_facts_appended_at_once_are_recalled_as_if_one_by_one(log):
    facts = turn("s1")
    log.append("s1", *facts)
    log.append("s1", Titled("one more"))
    assert log.recall("s1") == [*facts, Titled("one more")]


def test_sessions_told_in_turns_stay_apart(log):
    one, two = turn("one", "first?"), turn("two", "second?")
    for a, b in zip(one, two, strict=True):
        log.append("one", a)
        log.append("two", b)
    assert (log.recall("one"), log.recall("two")) == (one, two)


def test_a_session_that_is_not_there_is_a_key_error_that_names_the_closest(log):
    log.append("20260101-abc", Opened("20260101-abc"))
    with pytest.raises(KeyError) as missing:
        log.recall("20260101-abd")
    assert str(missing.value) == "no session '20260101-abd'; closest: 20260101-abc"


@pytest.mark.parametrize(
    "session", ["", "../../etc/passwd", "a\nb", "naïve ☃", "\x00", "x" * 5000, "'; drop table facts"]
)
def test_an_id_is_text_and_nothing_else(log, session):
    log.append(session, Titled("t"))
    assert log.recall(session) == [Titled("t")]
    log.claim(session).close()


def test_the_latest_session_is_the_one_last_active_in_its_notebook(log):
    assert log.latest() is None
    log.append("a", Opened("a", notebook="a.ipynb"))
    log.append("b", Opened("b", notebook="b.ipynb"))
    assert log.latest() == "b"
    log.append("a", Asked("again"))
    assert (log.latest(), log.latest("b.ipynb"), log.latest("c.ipynb")) == ("a", "b", None)


def test_the_latest_session_is_the_conversation_that_a_subagent_worked_for(log):
    log.append("a", Opened("a", notebook="a.ipynb"))
    log.append("b", Opened("b", notebook="b.ipynb"))
    log.append("child", Opened("child", kind="subagent", parent="a"), Asked("do it"))
    log.append("grandchild", Opened("grandchild", kind="subagent", parent="child"), Asked("do that"))
    assert (log.latest(), log.latest("b.ipynb")) == ("a", "b")
    log.append("branch", Opened("branch", parent="a"))
    assert log.latest() == "branch"


def test_the_latest_session_is_a_conversation_where_there_is_one(log):
    log.append("map", Opened("map", kind="map"), Asked("$row"))
    log.append("row", Opened("row", kind="map", parent="map"), Asked("1"))
    assert log.latest() == "map"
    log.append("a", Opened("a"), Asked("hello"))
    log.append("map", Asked("$row"))
    told_all(log, {f"row{n}": [Opened(f"row{n}", kind="map", parent="map"), Asked("1")] for n in range(70)})
    log.append("orphan", Opened("orphan", kind="subagent", parent="gone"), Asked("2"))
    assert log.latest() == "a"


def test_a_session_is_claimed_by_one_at_a_time(log):
    claim = log.claim("s")
    with pytest.raises(StoreError, match="session 's' is in use"):
        log.claim("s")
    log.claim("t").close()
    claim.close()
    claim.close()
    log.claim("s").close()


def test_hostile_text_comes_back_as_it_was(log):
    text = "\x00 \x1b[31m \u2028 \U0001f600 \\u0041 \" ' </script>\r\n\t" + "é" * 70_000
    log.append("s", Asked(text))
    assert log.recall("s") == [Asked(text)]


TEXT = st.text(max_size=30).map(scrub)


def facts():
    """Any fact there is, with any values its types allow."""
    st.register_type_strategy(str, TEXT)
    st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
    return st.one_of([st.from_type(kind) for kind in KEPT])


@settings(deadline=None)
@given(facts())
def test_any_fact_survives_the_journal_line(fact):
    line = encode(Record("u", "s", 3, 1.5, dump(fact)))
    assert line.count(b"\n") == 1
    record = decode(line[:-1])
    assert record is not None
    assert (record.uid, record.session, record.n, record.t) == ("u", "s", 3, 1.5)
    assert load(record.fact) == fact


@settings(deadline=None)
@given(facts(), st.data())
def test_no_damage_to_a_line_passes_for_a_record(fact, data):
    line = bytearray(encode(Record("u", "s", 3, 1.5, dump(fact)))[:-1])
    at = data.draw(st.integers(0, len(line) - 1))
    line[at] ^= data.draw(st.integers(1, 255))
    assert decode(bytes(line)) is None


@given(st.lists(facts(), min_size=1, max_size=8))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_facts_survive_the_database(tmp_path_factory, events):
    home = tmp_path_factory.mktemp("home")
    log = store(home)
    told(log, "s", events)
    log.close()
    assert log.fold().removed == 1
    assert store(home).recall("s") == events


def test_a_call_of_a_tool_keeps_what_a_provider_wants_back():
    call = ToolCall("c", "n", "{", flaw="cut off", extra='{"signature":"x"}')
    record = decode(encode(Record("u", "s", 0, 0.0, {"fact": "Replied", "text": "", "calls": [vars_of(call)]}))[:-1])
    assert record is not None
    assert load(record.fact).calls == (call,)


def vars_of(call):
    return {name: getattr(call, name) for name in ("id", "name", "arguments", "flaw", "extra")}
