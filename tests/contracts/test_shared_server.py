"""A server that is away, slow, full of others or wrong: nothing is lost, nothing is doubled, and the person is told."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from uuid import uuid4

import psycopg
import pytest

from hermes_kernel import Agent
from hermes_kernel.core.events import Asked, Noticed, Opened, Titled
from hermes_kernel.core.plain import dump
from hermes_kernel.doctor import State, examine, report
from hermes_kernel.settings import Settings
from hermes_kernel.testing import ScriptedModel, say
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.opening import open_store
from hermes_kernel.world.store.records import Record
from hermes_kernel.world.store.shared import schema
from hermes_kernel.world.store.shared.address import address
from hermes_kernel.world.store.shared.hub import Hub
from hermes_kernel.world.store.shared.tables import FORMAT, STEPS
from tests.contracts.stores import Ticks, journals, told, turn
from tests.postgres import PASSWORD, QUOTED, postgres, url  # noqa: F401 - fixtures


class Moment(Ticks):
    """A clock on which no time passes between questions until it is told."""

    def __init__(self):
        self.elapsed_seconds = 0.0

    def elapsed(self):
        return self.elapsed_seconds


def fresh():
    return uuid4().hex


@pytest.fixture
def clock():
    return Moment()


@pytest.fixture
def opened(tmp_path, url, clock):  # noqa: F811
    stores = []

    def open_(name="a", at=url):
        stores.append(open_store(tmp_path / name, at, clock=clock, ids=fresh))
        return stores[-1]

    yield open_
    for store in stores:
        store.close()


@pytest.fixture
def hubs(url):  # noqa: F811
    made = []

    def hub():
        made.append(Hub(address(url), clock=Ticks(), ids=fresh))
        return made[-1]

    yield hub
    for each in made:
        each.close()


def record(writer, n):
    return Record(f"{writer}.{n}", writer, n, float(n), dump(Asked(f"{writer} {n}")))


def test_who_reads_behind_many_writers_misses_nothing_and_sees_nothing_twice(hubs):
    writers, each, portion = 6, 60, 3

    def write(hub, name):
        for n in range(0, each, portion):
            hub.append([record(name, n + k) for k in range(portion)])

    threads = [threading.Thread(target=write, args=(hubs(), f"w{n}")) for n in range(writers)]
    reader, done, seen = hubs(), {}, []
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads) or len(seen) < writers * each:
        before = len(seen)
        alive = any(thread.is_alive() for thread in threads)
        for behind in reader.behind(done):
            seen += [found.uid for found in behind.records]
            done[behind.name] = behind.end
        assert alive or len(seen) > before, "something was passed over"
    assert len(seen) == len(set(seen)) == writers * each
    for n in range(writers):
        assert [uid for uid in seen if uid.startswith(f"w{n}.")] == [f"w{n}.{k}" for k in range(each)]


def test_large_facts_travel_in_small_portions_and_arrive_in_order(hubs):
    hub = hubs()
    told = [
        Record(f"u{n}", "s", n, 0.0, dump(Asked("é" * size))) for n, size in enumerate([9, 2_500_000, 9, 900_000] * 2)
    ]
    hub.append(told)
    assert hub.waiting == ""
    pages = [behind.records for behind in hubs().behind({})]
    assert [record for page in pages for record in page] == told
    assert 1 < len(pages) < len(told)
    assert [record for behind in hub.behind({}, "s") for record in behind.records] == told


def test_what_is_told_while_the_server_is_away_is_kept_said_and_sent_with_the_next_fact(opened, postgres, clock):  # noqa: F811
    a, b = opened("a"), opened("b")
    a.append("s", Opened("s"))
    assert a.waiting == ""
    postgres.stop()
    a.append("s", Asked("one"))
    a.append("s", Asked("two"))
    assert a.recall("s") == [Opened("s"), Asked("one"), Asked("two")]
    assert "2 facts wait in this home and will be sent when it is back" in a.waiting
    assert "\n" not in a.waiting
    assert PASSWORD not in a.waiting
    postgres.start()
    clock.elapsed_seconds += 60
    a.append("s", Asked("three"))
    assert a.waiting == ""
    assert b.recall("s") == [Opened("s"), Asked("one"), Asked("two"), Asked("three")]


def test_what_a_dead_process_could_not_send_is_sent_by_whoever_folds_its_home(opened, postgres, clock):  # noqa: F811
    a, b = opened("a"), opened("b")
    a.append("s", Opened("s"))
    postgres.stop()
    a.append("s", Asked("one"))
    a.close()
    again = opened("a")
    waiting = again.fold().waiting
    assert "cannot be had now" in waiting
    assert len(list((again.home.places.journals).glob("*.jsonl"))) == 1
    postgres.start()
    clock.elapsed_seconds += 60
    assert again.fold().waiting == ""
    assert list((again.home.places.journals).glob("*.jsonl")) == []
    assert b.recall("s") == [Opened("s"), Asked("one")]


async def test_the_turn_goes_on_while_the_server_is_away_and_the_person_is_told_in_one_line(tmp_path, postgres, url):  # noqa: F811
    postgres.stop()
    agent = Agent(ScriptedModel([say("Three.")]), home=tmp_path, store_url=url)
    events = [event async for event in agent.stream("How many?")]
    agent.close()
    postgres.start()
    assert agent.turn.text == "Three."
    (noticed,) = [event.text for event in events if isinstance(event, Noticed)]
    assert noticed.startswith("the shared store at 127.0.0.1:")
    assert noticed.endswith("facts wait in this home and will be sent when it is back")


def test_what_is_owed_is_sent_on_closing(opened, postgres, clock):  # noqa: F811
    a, b = opened("a"), opened("b")
    postgres.stop()
    a.append("s", Opened("s"))
    postgres.start()
    clock.elapsed_seconds += 60
    a.close()
    assert b.recall("s") == [Opened("s")]


def test_a_server_that_dies_and_comes_back_costs_nothing_at_all(opened, postgres):  # noqa: F811
    a, b = opened("a"), opened("b")
    a.append("s", Opened("s"))
    postgres.kill()
    postgres.start()
    a.append("s", Asked("one"))
    assert a.waiting == ""
    assert b.recall("s") == [Opened("s"), Asked("one")]


def test_a_server_that_says_nothing_is_given_up_within_seconds_and_nothing_is_doubled(opened, postgres, clock):  # noqa: F811
    a, b = opened("a"), opened("b")
    a.append("s", Opened("s"))
    postgres.signal(signal.SIGSTOP)
    try:
        a.append("s", Asked("one"))
        assert "does not answer; 1 fact waits" in a.waiting
        a.append("s", Asked("two"))
    finally:
        postgres.signal(signal.SIGCONT)
    clock.elapsed_seconds += 60
    a.append("s", Asked("three"))
    assert b.recall("s") == [Opened("s"), Asked("one"), Asked("two"), Asked("three")]
    assert b.fold().facts == 4


def test_a_server_that_was_away_is_left_in_peace_for_longer_and_longer(tmp_path, clock):
    """The server here takes the call and hangs up, and counts."""
    calls = []

    def take_calls():
        with suppress(OSError):
            while True:
                caller, _ = listening.accept()
                calls.append(clock.elapsed_seconds)  # while the caller waits: afterwards time goes on
                caller.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=take_calls)
        thread.start()
        log = open_store(tmp_path, f"postgresql://u@127.0.0.1:{listening.getsockname()[1]}/d", clock=clock, ids=fresh)
        for second in range(200):
            clock.elapsed_seconds = float(second)
            log.append(f"s{second}", Opened(f"s{second}"))
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert sorted(set(calls)) == [0, 1, 3, 7, 15, 31, 63, 123, 183]
    log.close()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("mysql://u:hush@h/d", "store_url is no PostgreSQL URL: write postgresql://USER:PASSWORD@HOST:5432/DATABASE"),
        ("hush", "store_url is no PostgreSQL URL"),
        ("postgresql://u:hush%zz@h/d", "store_url cannot be read"),
        ("postgresql://u:hush@h/d?schema=Team One", "schema in store_url: use lower-case letters"),
        ("postgresql://u:hush@h/d?schema=pg_catalog", "schema in store_url: use lower-case letters"),
        ("postgresql://u:hush@h/d?nonsense=1", "store_url cannot be read"),
        ("postgresql://u:hush@[h/d", "store_url"),
    ],
)
def test_an_address_that_is_none_is_refused_at_once_without_the_password(tmp_path, wrong, said):
    with pytest.raises(StoreError) as refused:
        open_store(tmp_path, wrong)
    assert str(refused.value).startswith(said)
    assert "hush" not in str(refused.value)


def test_without_psycopg_one_line_says_what_to_install(tmp_path, url):  # noqa: F811
    code = (
        "import sys; sys.modules['psycopg'] = None; sys.meta_path.insert(0, type('No', (), "
        "{'find_spec': staticmethod(lambda name, path=None, target=None: None)})); "
        "sys.path_importer_cache.clear(); "
        "import importlib.machinery as m; real = m.PathFinder.find_spec; "
        "m.PathFinder.find_spec = classmethod(lambda cls, name, path=None, target=None: "
        "None if name == 'psycopg' else real(name, path, target)); del sys.modules['psycopg']; "
        "from pathlib import Path; from hermes_kernel.world.store.opening import open_store; "
        f"open_store(Path({str(tmp_path)!r}), {url!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip().endswith(
        "StoreError: a shared store needs psycopg: run `pip install 'hermes-kernel[team]'`"
    )


def test_psycopg_is_not_imported_where_nothing_is_shared():
    code = "import sys; import hermes_kernel.world.store.opening as o; assert 'psycopg' not in sys.modules, 'psycopg'"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_wrong_password_is_told_where_a_turn_begins_and_loses_nothing(opened, postgres):  # noqa: F811
    log = opened("a", postgres.url(password="hush"))
    with pytest.raises(StoreError, match="does not let this user in .*: check store_url") as refused:
        log.claim("s")
    assert "hush" not in str(refused.value)
    log.append("s", Opened("s"))
    assert log.recall("s") == [Opened("s")]
    assert "check store_url; 1 fact waits" in log.waiting


def test_a_database_that_is_not_there_is_told_where_a_turn_begins(opened, postgres):  # noqa: F811
    with pytest.raises(StoreError, match='database "nowhere" does not exist.*: check store_url'):
        opened("a", postgres.url("nowhere")).claim("s")


def test_a_user_who_may_make_nothing_is_told_whom_to_ask(opened, postgres, url):  # noqa: F811
    postgres.execute("DROP ROLE IF EXISTS guest")
    postgres.execute("CREATE ROLE guest LOGIN PASSWORD 'open sesame/@:%'")
    with pytest.raises(StoreError, match=r"refuses \(permission denied .*\): have its owner grant this user"):
        opened("a", url.replace("//hermes:", "//guest:")).claim("s")


def test_a_user_from_whom_the_schema_is_hidden_is_told_whom_to_ask(opened, postgres, url):  # noqa: F811
    opened("a").append("s", Opened("s"))
    postgres.execute("DROP ROLE IF EXISTS stranger")
    postgres.execute("CREATE ROLE stranger LOGIN PASSWORD 'open sesame/@:%'")
    with pytest.raises(StoreError, match=r"refuses \(.*\): have its owner grant this user"):
        opened("b", url.replace("//hermes:", "//stranger:")).claim("s")


def test_a_schema_that_is_dropped_under_a_running_kernel_is_made_again_and_costs_nothing(opened, url):  # noqa: F811
    log = opened("a")
    log.append("s", Opened("s"))
    with psycopg.connect(url) as connection:
        connection.execute("DROP SCHEMA hermes_kernel CASCADE")
    log.append("s", Asked("Still there?"))
    assert log.recall("s") == [Opened("s"), Asked("Still there?")]
    assert "refuses" in log.waiting


def test_a_newer_format_is_refused_in_one_line(opened, url):  # noqa: F811
    opened("a").append("s", Titled("t"))
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE hermes_kernel.format SET version = %s", [FORMAT + 1])
    with pytest.raises(
        StoreError, match=rf"has format {FORMAT + 1} and this Hermes Kernel knows {FORMAT}: run `pip install -U"
    ):
        opened("b").claim("s")


def test_an_older_format_is_migrated_once_by_whoever_comes_first_with_its_facts(opened, hubs, url):  # noqa: F811
    a = opened("a")
    told(a, "s", turn("s"))
    step = "ALTER TABLE records ADD COLUMN more TEXT"

    def migrate():
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET search_path = hermes_kernel")
            schema.ready(connection, "hermes_kernel", (*STEPS, step))

    threads = [threading.Thread(target=migrate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with psycopg.connect(url) as connection:
        (row,) = connection.execute("SELECT version FROM hermes_kernel.format").fetchall()
        (count,) = connection.execute("SELECT count(*), count(more) FROM hermes_kernel.records").fetchall()
    assert (row, count) == ((FORMAT + 1,), (7, 0))


def test_eight_that_come_first_at_once_make_one_store(hubs):
    made = [hubs() for _ in range(8)]
    threads = [threading.Thread(target=hub.append, args=([record(f"w{n}", 0)],)) for n, hub in enumerate(made)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [hub.waiting for hub in made] == [""] * 8
    (behind,) = made[0].behind({})
    assert len(behind.records) == 8


def cut(url):  # noqa: F811
    """Everybody's connection, as by a network that fails."""
    with psycopg.connect(url) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'hermes-kernel'"
        )


def test_a_claim_is_kept_over_a_lost_connection_if_nobody_took_it(opened, url):  # noqa: F811
    a, b = opened("a"), opened("b")
    with a.claim("s"):
        cut(url)
        a.append("s", Titled("one"))
        with pytest.raises(StoreError, match="session 's' is in use by process"):
            b.claim("s")
    b.claim("s").close()


def test_a_claim_that_was_lost_to_another_is_noticed_and_there_are_no_two_writers(opened, url):  # noqa: F811
    a, b = opened("a"), opened("b")
    with a.claim("s"):
        a.append("s", Opened("s"))
        cut(url)
        with b.claim("s"):
            b.recall("s")
            b.append("s", Titled("theirs"))
            with pytest.raises(StoreError, match=rf"session 's' is in use by process {os.getpid()} on "):
                a.append("s", Titled("ours"))
            before = a.recall("s")
            with pytest.raises(StoreError, match="session 's' is in use"):
                a.append("s", Titled("ours again"))
            assert a.recall("s") == before == b.recall("s")
    with a.claim("s"):
        a.append("s", Titled("later"))
    assert b.recall("s")[-1] == Titled("later")


def test_a_claim_made_while_the_server_is_away_is_made_there_when_it_is_back(opened, postgres, clock):  # noqa: F811
    a, b = opened("a"), opened("b")
    postgres.stop()
    with a.claim("s"):
        assert "cannot be had now" in a.waiting
        a.append("s", Opened("s"))
        postgres.start()
        clock.elapsed_seconds += 60
        a.append("s", Asked("one"))
        with pytest.raises(StoreError, match="session 's' is in use by process"):
            b.claim("s")


def test_a_forked_child_leaves_its_parents_claim_alone_and_dials_for_itself(opened):
    a, b = opened("a"), opened("b")
    with a.claim("s"):
        a.append("s", Opened("s"))
        child = os.fork()
        if child == 0:
            try:
                a.append("t", Titled("from the child"))
                a.close()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        a.append("s", Asked("one"))
        assert b.recall("t") == [Titled("from the child")]
        with pytest.raises(StoreError, match="session 's' is in use by process"):
            b.claim("s")


def test_a_deleted_session_is_gone_from_every_home_and_never_comes_back(opened, postgres, clock):  # noqa: F811
    a, b, late = opened("a"), opened("b"), opened("late")
    told(a, "s", turn("s"))
    told(a, "t", turn("t"))
    b.fold()
    assert late.recall("s")
    postgres.stop()
    late.append("s", Titled("too late"))
    postgres.start()
    clock.elapsed_seconds += 60
    assert a.home.shared.delete("s", 5.0) == 7
    for log in (a, b, late):
        log.fold()
        log.fold()
        with pytest.raises(KeyError):
            log.recall("s")
        assert [row.id for row in log.sessions()] == ["t"]
    with pytest.raises(StoreError, match="session 's' was deleted from the shared store"):
        a.append("s", Titled("again"))


def test_what_is_owed_to_one_store_never_goes_to_another_and_waits_whoever_folds(opened, postgres, clock, url):  # noqa: F811
    other = postgres.database()
    alone = opened("a", "")
    told(alone, "private", turn("private"))
    alone.close()
    postgres.stop()
    a = opened("a")
    a.append("s", Opened("s"))
    a.close()
    postgres.start()
    assert alone.fold().facts == 8
    elsewhere = opened("a", other)
    assert elsewhere.fold().waiting == ""
    assert opened("b", other).sessions() == []
    clock.elapsed_seconds += 60
    assert opened("a").fold().waiting == ""
    assert [row.id for row in opened("c").sessions()] == ["s"]
    assert journals(alone.home.places.home) == []


def test_the_doctor_says_how_a_shared_store_stands_and_makes_nothing_there(opened, postgres, tmp_path, url):  # noqa: F811
    def shared():
        found = examine(Settings(home=tmp_path / "a", store_url=url, base_url="local:"), {}, tuple)
        return next(each for each in found if each.what == "shared store")

    def schemas():
        return postgres.execute("SELECT nspname FROM pg_namespace ORDER BY 1", url.rpartition("/")[2])

    before = schemas()
    assert (shared().state, shared().said.rpartition(":")[2]) == (State.OK, f"{url.rpartition(':')[2]} answers")
    assert schemas() == before
    store = opened()
    told(store, "s", turn("s"))
    postgres.stop()
    store.append("s", Titled("Told to nobody"))
    away = shared()
    postgres.start()
    assert away.state is State.NOTE
    assert "cannot be had now" in away.said
    assert re.search(r"; up to \d facts of this home may wait for it", away.said)
    assert "nothing is lost" in away.then
    assert shared().state is State.OK


def test_the_doctor_says_that_an_address_is_none_without_the_password(tmp_path):
    found = examine(
        Settings(home=tmp_path, store_url="postgresql://me:geheim@db/x?schema=X", base_url="local:"), {}, tuple
    )
    (problem,) = [each for each in found if each.what == "shared store"]
    assert problem.state is State.PROBLEM
    assert "schema in store_url" in problem.said
    assert "geheim" not in report(found)


def test_one_home_keeps_two_stores_apart(opened, postgres):  # noqa: F811
    other = postgres.database()
    b = opened("b", other)
    for n in range(3):
        told(b, f"theirs{n}", turn(f"theirs{n}"))
    a = opened("a")
    told(a, "ours", turn("ours"))
    a.fold()
    a.close()
    moved = opened("a", other)
    assert moved.fold().facts == 21
    assert {row.id for row in b.sessions(10)} == {"theirs0", "theirs1", "theirs2"}
    moved.close()
    assert opened("a").fold().facts == 0
