"""A database of an older format becomes one of today's, with a backup, whatever happens on the way."""

from __future__ import annotations

import gzip
import json
import stat
import subprocess
from pathlib import Path

import duckdb
import pytest

from hermes_kernel.core.events import Asked, Opened, Titled, Undone
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.locks import held
from hermes_kernel.world.store.views import FORMAT
from tests.contracts.stores import child, done, store, told, turn
from tests.disks import small_disk
from tests.kill.migrating import CHILD
from tests.kill.nursery import nursery

WRITTEN = Path(__file__).parent / "data" / "format-1.duckdb.gz"  # by the first version of the store, on DuckDB 1.5.5

SESSIONS = {f"s{n}": turn(f"s{n}", f"How many zebras in {n}?", f"There are {n} zebras.") for n in range(3)}
SESSIONS["s1"] = [*SESSIONS["s1"], Titled("Counting zebras"), Asked("And quokkas?"), Undone(1)]


def old(home):
    """A home with nothing in it but a database of format 1."""
    (home / "store").mkdir(parents=True, mode=0o700)
    path = home / "sessions.duckdb"
    path.write_bytes(gzip.decompress(WRITTEN.read_bytes()))
    path.chmod(0o600)
    (home / "store" / "retired.json").write_text(json.dumps({"until": 1_900_000_000.0}))
    return path


def format_of(path):
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute("SELECT max(version) FROM format").fetchall()[0][0]


def complete(home):
    """Whether every fact is there, and each once."""
    with duckdb.connect(str(home / "sessions.duckdb"), read_only=True) as connection:
        ((facts, unique),) = connection.execute("SELECT count(*), count(DISTINCT uid) FROM facts").fetchall()
    return facts == unique == 24 and store(home, "reader").recall("s1") == SESSIONS["s1"]


@pytest.mark.parametrize("act", ["fold", "recall", "sessions", "latest"])
def test_whoever_comes_first_brings_an_older_database_up_to_date_and_keeps_a_backup(tmp_path, act):
    path = old(tmp_path)
    before = path.read_bytes()
    log = store(tmp_path)
    told(log, "new", turn("new"))
    {"fold": log.fold, "recall": lambda: log.recall("s1"), "sessions": log.sessions, "latest": log.latest}[act]()
    backup = tmp_path / "sessions.duckdb.format-1.bak"
    assert backup.read_bytes() == before
    assert stat.S_IMODE(backup.stat().st_mode) == stat.S_IMODE(path.stat().st_mode) == 0o600
    assert format_of(path) == FORMAT
    assert format_of(backup) == 1
    assert {session: log.recall(session) for session in SESSIONS} == SESSIONS
    assert log.recall("new") == turn("new")
    assert {row.id for row in log.sessions()} == {*SESSIONS, "new"}


@pytest.mark.parametrize("act", ["fold", "recall", "sessions", "search"])
def test_an_empty_file_that_a_person_made_by_opening_it_too_early_is_nothing_in_the_way(tmp_path, act):
    log = store(tmp_path)
    told(log, "new", turn("new"))
    path = tmp_path / "sessions.duckdb"
    duckdb.connect(str(path)).close()
    {
        "fold": log.fold,
        "recall": lambda: log.recall("new"),
        "sessions": log.sessions,
        "search": lambda: log.search("x"),
    }[act]()
    assert log.recall("new") == turn("new")
    log.fold()
    assert format_of(path) == FORMAT
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert store(tmp_path, "reader").recall("new") == turn("new")


def test_a_database_of_somebody_else_is_left_alone(tmp_path):
    path = tmp_path / "sessions.duckdb"
    with duckdb.connect(str(path)) as theirs:
        theirs.execute("CREATE TABLE birds (name VARCHAR)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not one of Hermes Kernel: move it away"):
        store(tmp_path).sessions()
    assert path.read_bytes() == before


def test_what_an_older_database_holds_is_found_by_a_search_and_what_was_undone_is_not(tmp_path):
    old(tmp_path)
    log = store(tmp_path)
    for _ in range(2):
        assert {thread.root for thread in log.search("zebras").threads} == set(SESSIONS)
        assert log.search("quokkas").total == 0
        assert [hit.passage.text for hit in log.search('"counting zebras"').hits] == ["Counting zebras"]
        log.fold()


def test_an_older_database_goes_on_where_it_was_when_a_journal_of_its_time_is_left(tmp_path):
    old(tmp_path)
    log = store(tmp_path)
    log.append("s2", Titled("later"))
    assert log.recall("s2") == [*SESSIONS["s2"], Titled("later")]
    assert log.fold().facts == 1
    assert log.recall("s2") == [*SESSIONS["s2"], Titled("later")]


MIGRATE = """
import sys
from pathlib import Path
import duckdb
from hermes_kernel.world.store import Store
log = Store(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
log.sessions()
print("done", flush=True)
"""


def test_a_migration_killed_before_any_of_its_steps_leaves_the_old_file_or_the_new_one(tmp_path):
    met = []
    with nursery(CHILD) as children:
        for step in range(1, 100):
            home = tmp_path / str(step)
            path = old(home)
            if children.run({"home": str(home), "step": step}) == 0:
                break
            met.append(format_of(path))
            assert store(home).fold().waiting == ""
            assert format_of(path) == FORMAT
            assert format_of(home / "sessions.duckdb.format-1.bak") == 1
            assert not list((home / "store").glob("migrating*"))
            assert complete(home)
    assert met == sorted(met)
    assert set(met) == {1, FORMAT}
    assert step < 99


def test_readers_are_told_that_a_database_is_being_brought_up_to_date(tmp_path):
    from hermes_kernel.world.store import reading
    from hermes_kernel.world.store.places import Places

    path = old(tmp_path)
    places = Places(tmp_path)
    (tmp_path / "store" / "migrating.duckdb").touch()
    with (
        held(places.lock, 1),
        pytest.raises(StoreError, match=f"is being brought to format {FORMAT} by another process: try again"),
        reading.opened(places, patience=0.01),
    ):
        raise AssertionError
    assert format_of(path) == 1


def test_two_that_come_at_once_bring_it_up_to_date_once(tmp_path):
    path = old(tmp_path)
    both = [child(MIGRATE, tmp_path, stdin=subprocess.PIPE) for _ in range(2)]
    for each in both:
        assert each.stdout.readline() == "ready\n"
    for each in both:
        each.stdin.write("\n")
        each.stdin.flush()
    assert [done(each) for each in both] == ["done\n"] * 2
    assert format_of(path) == FORMAT
    assert format_of(tmp_path / "sessions.duckdb.format-1.bak") == 1
    assert complete(tmp_path)


@pytest.fixture
def disk(tmp_path):
    """A file system of its own with a little more than a megabyte."""
    with small_disk(tmp_path, "1200k") as place:
        yield place


def test_a_disk_that_is_full_leaves_the_old_file_and_says_so_in_one_line(disk):
    home = disk / "home"
    path = old(home)
    before = path.read_bytes()
    with pytest.raises(StoreError) as full:
        store(home).sessions()
    assert "\n" not in str(full.value)
    assert path.read_bytes() == before
    assert not list((home / "store").glob("migrating*"))
    subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
    assert store(home).fold().waiting == ""
    assert complete(home)


def test_a_person_who_holds_an_older_database_open_is_named_and_it_stays_as_it_is(tmp_path):
    path = old(tmp_path)
    log = store(tmp_path)
    with duckdb.connect(str(path)):
        log.append("t", Opened("t"))
        assert log.fold().waiting.startswith(f"{path} is open in this very process")
    assert not (tmp_path / "sessions.duckdb.format-1.bak").exists()
    assert log.fold().facts == 1
    assert (tmp_path / "sessions.duckdb.format-1.bak").exists()


def test_a_database_with_the_views_of_an_earlier_version_has_those_of_today_after_a_fold(tmp_path):
    log = store(tmp_path)
    told(log, "s", turn("s"))
    log.fold()
    path = tmp_path / "sessions.duckdb"
    with duckdb.connect(str(path)) as connection:
        for view in ("usage", "looks", "skill_uses", "skill_changes", "memory_changes"):
            connection.execute(f"DROP VIEW {view}")
        connection.execute("CREATE OR REPLACE VIEW calls AS SELECT 1 AS old")
    assert [row.name for row in log.usage()] == ["chat"]
    log.append("s", Titled("Counting"))
    log.fold()
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute("SELECT kind, calls, tokens FROM usage").fetchall() == [("chat", 2, 235)]
        assert connection.execute("SELECT count(*) FROM looks").fetchall() == [(0,)]
        assert connection.execute("SELECT version FROM format").fetchall() == [(2,)]


def test_the_views_of_a_later_version_are_left_alone(tmp_path):
    log = store(tmp_path)
    told(log, "s", turn("s"))
    log.fold()
    path = tmp_path / "sessions.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE OR REPLACE VIEW usage AS SELECT 'better' AS told; COMMENT ON VIEW usage IS '1000'")
    log.append("s", Titled("Counting"))
    log.fold()
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute("SELECT told FROM usage").fetchall() == [("better",)]
