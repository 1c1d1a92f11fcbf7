"""A person may have the database open: appends go on, folding waits, and one line says who and what to do."""

from __future__ import annotations

import _thread
import subprocess
import threading
from contextlib import contextmanager

import duckdb
import pytest

from hermes_kernel.core.events import Asked
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.asking.hand import SHORT
from tests.contracts.stores import child, store, told, turn

HOLD = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "reading")
print("open", flush=True)
sys.stdin.readline()
"""


@contextmanager
def elsewhere(path, how):
    """Another program has the database open; what is said of it."""
    with child(HOLD, path, how, stdin=subprocess.PIPE) as holder:
        holder.stdout.readline()
        yield (
            f"{path} is held open by process {holder.pid}: close it there to fold and search it, "
            "and read with `hermes-kernel sql` or Store.connect(), which keep nobody out"
        )
        holder.communicate("\n", timeout=60)


@contextmanager
def here(path, how):
    """This very process has it open."""
    with duckdb.connect(str(path), read_only=how == "reading"):
        yield (
            f"{path} is open in this very process: close that connection to fold and search it, "
            "and read with Store.connect(), which keeps nobody out"
        )


@pytest.fixture(params=[elsewhere, here])
def hold(request):
    return request.param


@pytest.fixture
def home(tmp_path):
    """With a folded session that no journal has any more."""
    log = store(tmp_path, "old")
    told(log, "old", turn("old", "How many zebras?"))
    log.close()
    assert log.fold().removed == 1
    return tmp_path


@pytest.mark.parametrize("how", ["writing", "reading"])
def test_a_database_that_is_held_open_puts_the_fold_off_and_names_the_holder(home, hold, how):
    log = store(home, "new")
    with hold(home / "sessions.duckdb", how) as line:
        told(log, "new", turn("new"))
        folded = log.fold()
        assert (folded.facts, folded.waiting) == (0, line)
        assert log.recall("new") == turn("new")
    assert log.fold().facts == len(turn("new"))
    assert log.recall("old") == turn("old", "How many zebras?")


def test_while_it_is_held_for_writing_what_is_in_it_alone_is_refused_in_one_line(home, hold):
    log = store(home, "new")
    with hold(home / "sessions.duckdb", "writing") as line:
        told(log, "new", turn("new", "How many zebras?"))
        for act in (lambda: log.recall("old"), log.sessions, lambda: log.connect().__enter__()):
            with pytest.raises(StoreError) as refused:
                act()
            assert str(refused.value) == line
        found = log.search("zebras")
        assert [hit.passage.session for hit in found.hits] == ["new"]
        assert found.note == f"only what was said lately was searched: {line}"
    assert log.search("zebras").total == 2


def test_while_it_is_held_for_reading_everything_can_be_read(home, hold):
    log = store(home, "new")
    with hold(home / "sessions.duckdb", "reading"):
        told(log, "new", turn("new", "How many zebras?"))
        assert log.recall("old") == turn("old", "How many zebras?")
        assert log.search("zebras").total == 2
        assert {row.id for row in log.sessions()} == {"old", "new"}
        with log.connect() as connection:
            assert connection.execute("SELECT count(*) FROM sessions").fetchall() == [(2,)]


def test_a_connection_that_the_store_lends_keeps_nobody_out(home):
    log, other = store(home, "new"), store(home, "other")
    with log.connect() as connection:
        told(other, "new", turn("new", "How many zebras?"))
        assert other.search("zebras").total == 2
        assert other.recall("old") == turn("old", "How many zebras?")
        assert connection.execute("SELECT count(*) FROM sessions").fetchall() == [(1,)]
        assert other.fold().waiting == "another process is folding"
    assert other.fold().facts == len(turn("new"))


@pytest.mark.parametrize("folded", [True, False])
def test_a_question_that_is_stopped_is_stopped_as_anything_else_and_the_next_is_answered(tmp_path, folded):
    log = store(tmp_path)
    told(log, "s", turn("s"))
    if folded:
        log.fold()
    begun = threading.Event()

    def press():
        begun.wait()
        _thread.interrupt_main()

    pressing = threading.Thread(target=press)
    pressing.start()
    with pytest.raises(KeyboardInterrupt), log.connect() as connection:  # noqa: PT012 - the press comes in the midst
        begun.set()
        connection.execute("SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range < b.range")
    pressing.join()
    assert log.sessions()[0].id == "s"
    assert log.search("Three").total == 1


def test_much_that_was_read_beside_a_database_is_not_kept_once_it_can_be_had(home, hold):
    log = store(home, "new")
    told(log, "new", [*turn("new"), *[Asked(f"How many lions were there on day {n}?") for n in range(SHORT)]])
    with hold(home / "sessions.duckdb", "writing"):
        assert log.search("lions").note
        assert log._hand._beside.size > SHORT
    assert log.search("lions").total == SHORT
    assert log._hand._beside.size == 0


def test_nor_is_much_that_was_read_behind_a_database_until_somebody_asks_again(home):
    log = store(home, "new")
    told(log, "first", turn("first"))
    log.fold()
    told(log, "new", [*turn("new"), *[Asked(f"How many lions were there on day {n}?") for n in range(SHORT)]])
    assert [log.search("lions").total for _ in range(2)] == [SHORT, SHORT]
    assert log._hand._tail.size == 0
