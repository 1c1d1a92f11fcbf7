"""Many processes on one home: all write, any folds, any dies, none waits for another to append."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from hermes_kernel.core.events import Opened, Titled
from hermes_kernel.world.store import Store, StoreError
from hermes_kernel.world.store.journal import Journal
from tests.contracts.stores import Ticks, child, counted, done, journals, store, told, turn

WRITE = """
import sys
from pathlib import Path
from hermes_kernel.core.events import Opened, Titled
from hermes_kernel.world.store import Store
log, session = Store(Path(sys.argv[1])), sys.argv[2]
log.append(session, Opened(session))
for n in range(int(sys.argv[3])):
    log.append(session, Titled(str(n)))
"""

FOLD = """
import sys, time
from pathlib import Path
from hermes_kernel.world.store import Store
log, facts = Store(Path(sys.argv[1])), 0
print("ready", flush=True)
while not Path(sys.argv[2]).exists():
    facts += log.fold().facts
print(facts + log.fold().facts)
"""


def test_two_processes_write_while_a_third_folds_and_nothing_is_lost_or_doubled(tmp_path):
    home, over = tmp_path / "home", tmp_path / "over"
    with child(FOLD, home, over) as folder:
        folder.stdout.readline()
        writers = [child(WRITE, home, session, 400) for session in ("one", "two")]
        for writer in writers:
            done(writer)
        over.touch()
        folded, _ = folder.communicate(timeout=60)
    assert int(folded) == 802
    expected = [Titled(str(n)) for n in range(400)]
    assert store(home).recall("one") == [Opened("one"), *expected]
    assert store(home).recall("two") == [Opened("two"), *expected]


def test_a_thread_that_reads_a_session_does_not_disturb_the_one_that_writes_it(tmp_path):
    log, over = store(tmp_path), threading.Event()
    told(log, "s", [Opened("s")])

    def look():
        while not over.is_set():
            log.recall("s")

    readers = [threading.Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()
    facts = told(log, "s", [Titled(str(n)) for n in range(200)])
    over.set()
    for reader in readers:
        reader.join()
    assert log.recall("s")[1:] == facts


def test_threads_of_one_process_share_a_store(tmp_path):
    log = store(tmp_path)
    threads = [threading.Thread(target=told, args=(log, f"s{n}", turn(f"s{n}"))) for n in range(8)]
    for thread in threads:
        thread.start()
    log.fold()
    for thread in threads:
        thread.join()
    assert [log.recall(f"s{n}") for n in range(8)] == [turn(f"s{n}") for n in range(8)]
    assert len(journals(tmp_path)) == 1


def test_a_session_goes_on_in_another_process_where_it_stopped(tmp_path):
    first, second = store(tmp_path, "a"), store(tmp_path, "b")
    told(first, "s", turn("s"))
    first.close()
    assert second.recall("s") == turn("s")
    second.append("s", Titled("later"))
    assert second.fold().removed == 1
    assert store(tmp_path).recall("s") == [*turn("s"), Titled("later")]


def test_facts_in_a_journal_that_outlived_a_later_one_do_not_hide_the_later_ones(tmp_path):
    """The session's beginning is in a journal of the living, its end was folded away with the dead."""
    first, second = store(tmp_path, "a"), store(tmp_path, "b")
    told(first, "s", turn("s"))
    second.recall("s")
    second.append("s", Titled("later"))
    second.close()
    assert first.fold().removed == 1
    assert len(journals(tmp_path)) == 1
    assert store(tmp_path).recall("s") == [*turn("s"), Titled("later")]


RECALL = """
import sys
from pathlib import Path
from hermes_kernel.world.store import Store
log = Store(Path(sys.argv[1]))
facts = log.recall(sys.argv[2])
log.append("new", __import__("hermes_kernel.core.events").core.events.Opened("new"))
print(len(facts), "duckdb" in sys.modules)
"""


def test_a_session_that_is_in_the_journals_whole_is_resumed_without_waking_duckdb(tmp_path):
    old = store(tmp_path, "a")
    told(old, "old", turn("old"))
    old.close()
    log = store(tmp_path, "b")
    told(log, "s", turn("s"))
    assert log.fold().removed == 1
    log.close()
    assert done(child(RECALL, tmp_path, "s")).split() == ["7", "False"]
    assert done(child(RECALL, tmp_path, "old")).split() == ["7", "True"]


def arrived(condition):
    """Wait for another process, a minute at most."""
    for _ in range(6000):
        if condition():
            return True
        time.sleep(0.01)
    return False


class Hours(Ticks):
    """An hour passes each time it is asked how much has passed."""

    hours = itertools.count()

    def elapsed(self):
        return 3600.0 * next(self.hours)


def test_a_store_that_was_asked_to_fold_apart_has_it_done_by_another_process(tmp_path):
    log = Store(tmp_path, clock=Hours(), ids=counted())
    told(log, "s", turn("s"))
    log.fold_apart()
    log.close()
    assert arrived((tmp_path / "sessions.duckdb").exists)
    assert log._apart._child > 0
    assert store(tmp_path).recall("s") == turn("s")


def test_of_a_process_that_folded_for_a_store_that_is_closed_nothing_is_left_when_the_next_one_begins(tmp_path):
    begun = []
    for home in (tmp_path / "first", tmp_path / "second"):
        log = Store(home, clock=Hours(), ids=counted())
        told(log, "s", turn("s"))
        log.fold_apart()
        log.close()
        begun.append(log._apart._child)
        assert arrived(partial(ended, begun[-1]))
    assert not Path(f"/proc/{begun[0]}").exists()


def ended(pid):
    """Nobody has to have asked how."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_store_that_was_not_asked_to_starts_no_process(tmp_path):
    log = store(tmp_path)
    told(log, "s", turn("s"))
    log.close()
    assert log._apart._child == 0


def test_a_forked_child_writes_a_journal_of_its_own_and_holds_nothing_of_its_parent(tmp_path):
    log = store(tmp_path)
    told(log, "s", turn("s"))
    claim = log.claim("s")
    hold, release = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(release)
        log.append("child", Titled("mine"))
        os.read(hold, 1)
        os._exit(0)
    try:
        while len(journals(tmp_path)) < 2:
            os.sched_yield()
        log.append("s", Titled("on"))
        claim.close()
        log.claim("s").close()
        log.close()
        assert store(tmp_path, "other").fold().removed == 1
    finally:
        os.close(release)
        assert os.waitpid(pid, 0)[1] == 0
    assert store(tmp_path).recall("s") == [*turn("s"), Titled("on")]
    assert store(tmp_path).recall("child") == [Titled("mine")]


def test_a_long_journal_is_left_for_a_new_one_and_folded_away(tmp_path):
    journal = Journal(tmp_path / "store" / "journal", counted(), rotate_at=1000)
    for _ in range(30):
        journal.mint()
        journal.append(b"00000000 " + b"x" * 90 + b"\n")
    assert len(journals(tmp_path)) == 3
    assert all(path.stat().st_size == 1000 for path in journals(tmp_path))


CLAIM = """
import sys
from pathlib import Path
from hermes_kernel.world.store import Store
claim = Store(Path(sys.argv[1])).claim("s")
print("claimed", flush=True)
sys.stdin.readline()
"""


def test_a_session_belongs_to_one_process_until_that_is_dead(tmp_path):
    log = store(tmp_path)
    with child(CLAIM, tmp_path, stdin=subprocess.PIPE) as other:
        assert other.stdout.readline() == "claimed\n"
        with pytest.raises(StoreError) as refused:
            log.claim("s")
        assert (
            str(refused.value)
            == f"session 's' is in use by process {other.pid}: stop it there, or ask in a new session"
        )
        other.send_signal(signal.SIGKILL)
        other.wait(10)
        with log.claim("s"), pytest.raises(StoreError, match=f"in use by process {os.getpid()}"):
            log.claim("s")
    assert not list((tmp_path / "store" / "sessions").iterdir())


STORM = """
import sys
from pathlib import Path
from hermes_kernel.core.events import Titled
from hermes_kernel.world.store import Store
from stores import under_interrupts
log = Store(Path(sys.argv[1]))
log.append("s", Titled("first"))
told = under_interrupts(lambda n: log.append("s", Titled(str(n))))
log.append("s", Titled("last"))
print(*told)
"""


def test_interrupts_that_rain_on_the_writer_leave_whole_facts_each_once_and_in_order(tmp_path):
    acknowledged = done(child(STORM, tmp_path)).split()
    found = [fact.title for fact in store(tmp_path).recall("s")]
    assert (found[0], found[-1]) == ("first", "last")
    numbers = [int(title) for title in found[1:-1]]
    assert numbers == sorted(set(numbers))
    assert set(map(int, acknowledged)) <= set(numbers)
    assert len(journals(tmp_path)) == 1
    assert store(tmp_path, "fold").fold().damaged == 0
    assert 0 < len(acknowledged) <= 1500


def test_time_never_goes_back_within_a_session(tmp_path):
    class Back(type(store(tmp_path)._clock)):
        times = iter([100.0, 50.0, 200.0])

        def now(self):
            return next(self.times)

    log = Store(tmp_path, clock=Back(), ids=counted())
    told(log, "s", [Opened("s"), Titled("a"), Titled("b")])
    row = log.sessions()[0]
    assert (row.started, row.active) == (100.0, 200.0)
    assert log.recall("s") == [Opened("s"), Titled("a"), Titled("b")]
