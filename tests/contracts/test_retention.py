"""Sessions that go are gone: for every reader, from every file, whoever still has their lines and whenever it is
interrupted. What stays is untouched."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import duckdb
import pytest

from hermes_kernel.cli.pruning import DAY, age
from hermes_kernel.cli.trouble import Misuse
from hermes_kernel.core.events import (
    Asked,
    Compressed,
    Failed,
    Final,
    Interrupted,
    Kept,
    Observed,
    Opened,
    Outcome,
    Replied,
    Titled,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import Assistant, Observation, ToolCall, User
from hermes_kernel.core.plain import dump
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.store import NoSession, Store, StoreError
from hermes_kernel.world.store.opening import open_store
from hermes_kernel.world.store.reading import records
from hermes_kernel.world.store.records import Record
from hermes_kernel.world.store.retention.compaction import compact
from hermes_kernel.world.store.retention.deletion import delete, leaving, stale
from hermes_kernel.world.store.retention.retired import retire_sessions, retired
from tests.contracts.stores import ROOT, child, counted, done, journals, store, told, turn
from tests.postgres import postgres, url  # noqa: F401 - fixtures

NOW = 1_900_000_000.0
MARK = b"xylophonequixotry"


class Then(SystemClock):
    """A time that is told."""

    def __init__(self, now: float) -> None:
        self.at = now

    def now(self) -> float:
        return self.at


@pytest.fixture
def log(tmp_path) -> Iterable[Store]:
    log = store(tmp_path)
    told(log, "gone", [*turn("gone", f"What is a {MARK.decode()}?"), Titled(f"On {MARK.decode()}")])
    told(log, "stays", turn("stays", "And this?"))
    yield log
    log.close()


def files(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file()]


def holding(home: Path, word: bytes) -> list[str]:
    """The files that hold these bytes."""
    return sorted(path.name for path in files(home) if word in path.read_bytes())


def sessions_of(log: Store) -> set[str]:
    return {row.id for row in log.sessions()}


def assert_gone(log: Store) -> None:
    with pytest.raises(NoSession):
        log.recall("gone")
    assert sessions_of(log) == {"stays"}
    assert log.latest() == "stays"
    assert records(log.home, "gone") == []
    assert leaving(log.home, ["gone"]) == []
    assert log.search(MARK.decode()).threads == ()


# --- deleting


@pytest.mark.parametrize("folded", [False, True])
def test_a_deleted_session_is_gone_for_every_reader(log, tmp_path, folded):
    before = log.recall("stays")
    if folded:
        log.fold()
    assert delete(log, ["gone"], NOW) == ["gone"]
    assert_gone(log)
    assert_gone(store(tmp_path))
    assert log.recall("stays") == before


def test_it_stays_gone_while_its_lines_are_in_a_journal_that_lives(log, tmp_path):
    delete(log, ["gone"], NOW)
    assert MARK in journals(tmp_path)[0].read_bytes()
    told(log, "stays", [Asked("more")])
    for other in (log, store(tmp_path)):
        other.fold()
        assert_gone(other)
    log.close()
    store(tmp_path).fold()
    assert_gone(store(tmp_path))
    assert journals(tmp_path) == []


def test_it_stays_gone_when_the_database_is_lost_and_made_again(log, tmp_path):
    delete(log, ["gone"], NOW)
    (tmp_path / "sessions.duckdb").unlink()
    log.fold()
    with pytest.raises(NoSession):
        log.recall("gone")
    assert sessions_of(log) == {"stays"}


def test_a_session_that_another_process_is_in_is_not_deleted(log, tmp_path):
    held = child(
        "import sys; from stores import store\n"
        "claim = store(__import__('pathlib').Path(sys.argv[1]), 'other').claim('gone')\n"
        "print('in', flush=True); sys.stdin.readline()",
        tmp_path, stdin=subprocess.PIPE,
    )  # fmt: skip
    assert held.stdout.readline() == "in\n"
    with pytest.raises(StoreError, match=f"'gone' is in use by process {held.pid}"):
        delete(log, ["stays", "gone"], NOW)
    assert sessions_of(log) == {"stays", "gone"}
    assert delete(log, ["stays", "gone"], NOW, spare_busy=True) == ["stays"]
    assert sessions_of(log) == {"gone"}
    held.stdin.write("\n")
    held.stdin.close()
    held.stdin = None
    done(held)
    assert delete(log, ["gone"], NOW) == ["gone"]


def test_nothing_is_deleted_while_another_program_holds_the_database(log, tmp_path):
    log.fold()
    with duckdb.connect(str(tmp_path / "sessions.duckdb")):
        told(log, "stays", [Asked("more")])
        with pytest.raises(StoreError, match="nothing was deleted: .*sessions.duckdb is open in this very process"):
            delete(log, ["gone"], NOW)
    assert sessions_of(log) == {"stays", "gone"}
    assert retired(log.home.places).deleted == frozenset()


def test_a_deletion_that_a_crash_cut_off_is_carried_out_by_the_next_fold(log):
    log.fold()
    retire_sessions(log.home.places, frozenset({"gone"}))
    told(log, "stays", [Asked("more")])
    log.fold()
    assert_gone(log)


def test_twice_is_as_good_as_once(log):
    delete(log, ["gone"], NOW)
    delete(log, ["gone"], NOW)
    assert_gone(log)


def test_branches_stay_when_what_they_came_from_goes(log):
    copied = (User("What is it?"), Assistant("A thing."))
    told(log, "branch", [Opened("branch", parent="gone", transcript=copied), *turn("branch", "And then?")[1:]])
    delete(log, ["gone"], NOW)
    (row,) = [row for row in log.sessions() if row.id == "branch"]
    assert row.parent == "gone"
    assert log.recall("branch")[0].transcript == copied


def test_more_sessions_than_there_may_be_open_files_can_go_at_once(tmp_path):
    log = store(tmp_path)
    names = [f"s{n}" for n in range(250)]
    for name in names:
        log.append(name, Opened(name), Asked("q"))
    assert delete(log, names, NOW) == names
    assert log.sessions() == []


def test_files_with_long_results_go_too_and_no_id_leads_out_of_their_folder(log, tmp_path):
    kept, other, outside = (tmp_path / name / "c1.txt" for name in ("results/gone", "results/stays", "outside"))
    for path in (kept, other, outside):
        path.parent.mkdir(parents=True)
        path.write_text("long")
    log.append("../outside", Opened("../outside"))
    delete(log, ["gone", "../outside"], NOW)
    assert (kept.exists(), other.exists(), outside.exists()) == (False, True, True)


# --- in a store that homes share


def test_a_session_deleted_in_one_home_is_gone_in_all_and_on_the_server(tmp_path, url):  # noqa: F811
    here, there = (open_store(tmp_path / name, url, ids=counted(name)) for name in ("here", "there"))
    told(here, "gone", turn("gone"))
    told(here, "stays", turn("stays"))
    there.fold()
    assert sessions_of(there) == {"gone", "stays"}
    delete(here, ["gone"], NOW)
    assert here.home.shared is not None
    assert here.home.shared.deleted() == {"gone"}
    there.fold()
    newcomer = open_store(tmp_path / "newcomer", url, ids=counted("new"))
    for log in (here, there, newcomer):
        assert_gone(log)
        log.close()


def test_a_session_that_somebody_is_in_on_another_host_is_not_deleted(tmp_path, url):  # noqa: F811
    here, there = (open_store(tmp_path / name, url, ids=counted(name)) for name in ("here", "there"))
    told(here, "gone", turn("gone"))
    with there.claim("gone"), pytest.raises(StoreError, match="'gone' is in use"):
        delete(here, ["gone"], NOW)
    assert delete(here, ["gone"], NOW) == ["gone"]
    here.close()
    there.close()


def test_nothing_is_deleted_while_the_server_is_away(tmp_path):
    pytest.importorskip("psycopg", reason="a shared store needs psycopg")
    log = open_store(tmp_path, "postgresql://nobody@127.0.0.1:9/none", ids=counted())
    told(log, "gone", turn("gone"))
    with pytest.raises(StoreError, match="nothing was deleted"):
        delete(log, ["gone"], NOW)
    assert sessions_of(log) == {"gone"}
    log.close()


# --- which ones


def test_the_stale_are_those_in_which_nothing_happened_since(tmp_path):
    clock = Then(1000.0)
    log = Store(tmp_path, clock=clock, ids=counted())
    log.append("old", *turn("old"))
    log.append("named", *turn("named"), Titled("Mine"))
    log.append("resumed", *turn("resumed"))
    log.fold()
    clock.at = 2000.0
    log.append("resumed", Asked("again"))
    log.append("new", *turn("new"))
    assert stale(log.home, 1500.0) == ["named", "old"]
    assert stale(log.home, 1500.0, keep_titled=True) == ["old"]
    assert stale(log.home, 1000.0) == []
    assert [(each.id, each.title, each.active, each.messages) for each in leaving(log.home, ["named", "new"])] == [
        ("named", "Mine", 1000.0, 4),
        ("new", "How many?", 2000.0, 4),
    ]


@pytest.mark.parametrize(("text", "days"), [("180d", 180), ("26w", 182), ("6m", 180), ("1y", 365), (" 7D ", 7)])
def test_an_age_is_a_number_and_a_unit(text, days):
    assert age(text) == days * DAY


@pytest.mark.parametrize("text", ["", "180", "0d", "-1d", "1.5y", "6 months", "d", "1h", "999999y", "١d"])
def test_what_is_no_age_is_refused_with_what_one_looks_like(text):
    with pytest.raises(Misuse, match="180d, 26w, 6m, 1y"):
        age(text)


# --- compacting


def test_the_words_of_a_deleted_session_are_in_no_file_after_compacting(log, tmp_path):
    log.fold()
    log.close()
    store(tmp_path).fold()
    assert holding(tmp_path, MARK) == ["sessions.duckdb"]
    delete(log, ["gone"], NOW)
    compact(log.home)
    assert holding(tmp_path, MARK) == []
    assert_gone(log)


def test_a_database_on_another_disk_is_compacted_there(log, tmp_path):
    elsewhere, named = tmp_path / "disk" / "mine.duckdb", tmp_path / "sessions.duckdb"
    elsewhere.parent.mkdir()
    log.fold()
    named.rename(elsewhere)
    named.symlink_to(elsewhere)
    before = elsewhere.stat().st_ino
    delete(log, ["gone"], NOW)
    compact(log.home)
    assert named.is_symlink()
    assert elsewhere.stat().st_ino != before
    assert [each.id for each in log.sessions(10**30)] == ["stays"]


def test_compacting_gives_the_space_back(log, tmp_path):
    dice = random.Random(1)
    log.append("gone", *[Observed("c1", dice.randbytes(20_000).hex()) for _ in range(100)])
    log.close()
    again = store(tmp_path)
    delete(again, ["gone"], NOW)
    size = compact(again.home)
    assert size.after < size.before - 1_000_000


def test_what_stays_is_the_same_after_compacting(log, tmp_path):
    delete(log, ["gone"], NOW)
    before, rows, found = log.recall("stays"), log.sessions(), log.search("three")
    assert found.threads
    compact(log.home)
    assert (log.recall("stays"), log.sessions(), log.search("three")) == (before, rows, found)
    told(log, "stays", [Asked("more")])
    log.fold()
    assert log.recall("stays") == [*before, Asked("more")]
    assert (tmp_path / "sessions.duckdb").stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.rglob("compacting.duckdb*"))


def test_a_disk_without_room_for_a_copy_is_said_before_anything_is_done(log, tmp_path):
    log.fold()
    before = (tmp_path / "sessions.duckdb").stat()
    with pytest.raises(StoreError, match="has 1,000 bytes free and compacting needs"):
        compact(log.home, free=lambda _: 1000)
    after = (tmp_path / "sessions.duckdb").stat()
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
    assert not list(tmp_path.rglob("compacting.duckdb*"))


def test_a_fold_that_comes_between_is_not_lost(log, tmp_path):
    """It comes when the room is asked for: after the last look at the lock, before the copy."""
    log.fold()

    def free(_: Path) -> int:
        return 10**12

    def folding(folder: Path) -> int:
        told(log, "stays", [Asked("between")])
        assert log.fold().facts == 1
        return free(folder)

    compact(log.home, free=folding)
    assert log.recall("stays")[-1] == Asked("between")


def test_two_do_not_compact_at_once(log):
    log.fold()
    with pytest.raises(StoreError, match="another process uses the database"):
        compact(log.home, free=lambda _: compact(log.home).after)
    compact(log.home)
    assert sessions_of(log) == {"gone", "stays"}


def test_an_empty_home_can_be_compacted(tmp_path):
    assert compact(store(tmp_path).home).after == 0


def test_what_was_set_aside_as_damaged_goes_when_asked(log, tmp_path):
    log.fold()
    names = ["store/journal/host-1-x.damaged", "sessions.duckdb.format-1.bak", "sessions.duckdb.wal.damaged-1"]
    aside = [tmp_path / name for name in names]
    for path in aside:
        path.write_bytes(MARK)
    assert sorted(compact(log.home).aside) == sorted(path.name for path in aside)
    assert all(path.exists() for path in aside)
    assert compact(log.home, damaged=True).aside == ()
    assert not any(path.exists() for path in aside)


def test_a_journal_that_still_holds_what_was_deleted_is_named(log, tmp_path):
    assert compact(log.home).living == ()
    delete(log, ["gone"], NOW)
    (journal,) = journals(tmp_path)
    assert compact(log.home).living == (journal.name,)
    log.close()
    assert compact(store(tmp_path).home).living == ()


def test_what_the_small_file_has_lost_the_database_gives_back(log, tmp_path):
    delete(log, ["gone"], NOW)
    log.home.places.retired.write_text("torn")
    told(log, "stays", [Asked("more")])
    log.fold()
    assert retired(log.home.places).deleted == {"gone"}
    assert_gone(store(tmp_path))


COMPACTING = """
import sys
from pathlib import Path
from stores import store
from hermes_kernel.world.store.retention.compaction import compact
from hermes_kernel.world.store.opening import open_store
log = store(Path(sys.argv[1]), "child")
print("ready", flush=True)
while True:
    compact(log.home)
    print("done", flush=True)
"""


@pytest.mark.parametrize("seed", range(2))
def test_a_death_while_compacting_leaves_the_old_file_or_the_new_one(log, tmp_path, seed):
    delete(log, ["gone"], NOW)
    before = log.recall("stays")
    dice = random.Random(seed)
    process = child(COMPACTING, tmp_path)
    for _ in range(1 + seed % 2):
        process.stdout.readline()
    spin = dice.randrange(200_000)  # somewhere within the next compaction
    while spin:
        spin -= 1
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert log.recall("stays") == before
    assert_gone(log)
    compact(log.home)
    assert log.recall("stays") == before
    assert not list(tmp_path.rglob("compacting.duckdb*"))


def test_readers_go_on_while_it_is_compacted(log, tmp_path):
    log.fold()
    process = child(COMPACTING, tmp_path)
    process.stdout.readline()
    for _ in range(5):
        assert sessions_of(store(tmp_path, "reader")) == {"gone", "stays"}
    process.kill()
    process.communicate()


# --- the command


def command(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    ours = {key: value for key, value in os.environ.items() if not key.startswith(("HERMES_", "OPENAI_"))}
    return subprocess.run(
        [sys.executable, "-m", "hermes_kernel", "sessions", *arguments], capture_output=True, text=True, check=False,
        env=ours | {"HERMES_HOME": str(home), "PYTHONPATH": str(ROOT), "TZ": "UTC"}, cwd=home,
    )  # fmt: skip


@pytest.fixture
def old(tmp_path) -> Path:
    clock = Then(1_000_000_000.0)
    log = Store(tmp_path, clock=clock, ids=counted())
    log.append("ancient", *turn("ancient", "First?"))
    log.append("child", Opened("child", parent="ancient"), Asked("Second?"))
    clock.at = SystemClock().now()
    log.append("today", *turn("today", "Third?"))
    log.close()
    return tmp_path


def test_a_dry_run_lists_what_would_go_and_deletes_nothing(old):
    told = command(old, "prune", "--older-than", "180d", "--dry-run")
    assert told.returncode == 0, told.stderr
    first, second, last = told.stdout.splitlines()
    assert first.startswith("ancient  2001-09-09 01:46 UTC  4 messages  ")
    assert first.endswith(" bytes  First?")
    assert second.startswith("child  2001-09-09 01:46 UTC  1 message  ")
    assert last.startswith("2 sessions, ")
    assert last.endswith(" bytes would be deleted.")
    assert sessions_of(store(old)) == {"ancient", "child", "today"}


def test_pruning_deletes_and_compacting_gives_the_space_back(old):
    pruned = command(old, "prune", "--older-than", "180d", "--json")
    assert pruned.returncode == 0, pruned.stderr
    assert [each["id"] for each in json.loads(pruned.stdout)] == ["ancient", "child"]
    assert sessions_of(store(old)) == {"today"}
    assert command(old, "prune", "--older-than", "180d").stdout == "There is nothing to delete.\n"
    compacted = command(old, "compact")
    assert compacted.returncode == 0, compacted.stderr
    assert " bytes before, " in compacted.stdout
    assert json.loads(command(old, "compact", "--json").stdout).keys() == {"before", "after", "living", "aside"}


def test_pruning_leaves_a_session_that_somebody_is_in(old):
    with store(old).claim("ancient"):
        pruned = command(old, "prune", "--older-than", "1y")
    assert pruned.returncode == 0
    assert pruned.stderr == "hermes-kernel: ancient is in use and stays\n"
    assert sessions_of(store(old)) == {"ancient", "today"}


def test_a_session_is_deleted_alone_or_with_its_kin(old):
    assert command(old, "delete", "child", "--dry-run").stdout.splitlines()[-1].endswith("would be deleted.")
    deleted = command(old, "delete", "ancient")
    assert (deleted.returncode, deleted.stderr) == (0, "")
    assert deleted.stdout.splitlines()[-1].endswith("deleted. `hermes-kernel sessions compact` gives the space back.")
    assert sessions_of(store(old)) == {"child", "today"}
    store(old, "later").append("grandchild", Opened("grandchild", parent="child"), Asked("And?"))
    assert command(old, "delete", "grandchild", "--lineage").returncode == 0
    assert sessions_of(store(old)) == {"today"}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["delete", "nobody"], 1, "no session 'nobody'"),
        (["delete", "today", "nobody"], 1, "no session 'nobody'"),
        (["prune"], 2, "--older-than"),
        (["prune", "--older-than", "soon"], 2, "--older-than cannot be 'soon': a number from 1 and d, w, m or y"),
    ],
)
def test_what_is_asked_for_wrongly_deletes_nothing(old, arguments, code, said):
    refused = command(old, *arguments)
    assert refused.returncode == code
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr
    assert sessions_of(store(old)) == {"ancient", "child", "today"}


def test_a_session_in_use_is_named_on_the_command_line(old):
    with store(old).claim("today"):
        refused = command(old, "delete", "today")
    assert refused.returncode == 1
    assert f"'today' is in use by process {os.getpid()}" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


# --- secrets

BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
KEYS = [
    f"sk-proj-{BODY}",
    f"sk-ant-api03-{BODY}{BODY}",
    f"sk-or-v1-{BODY}",
    f"gsk_{BODY}",
    f"AIza{BODY[:35]}",
    f"ghp_{BODY[:36]}",
    f"github_pat_{BODY}",
    f"hf_{BODY[:34]}",
    f"xoxb-1234567890-{BODY}",
    "AKIA" + "Q7" * 8,
    f"eyJ{BODY}.eyJ{BODY}.{BODY}",
    f"Bearer {BODY}",
]


def everywhere(session: str, said: str) -> list[Kept]:
    """Every text of every kind of fact."""
    call = ToolCall("c1", "terminal", json.dumps({"command": said}), said, json.dumps({"signature": said}))
    copied = (User(said), Assistant(said, (call,), said, json.dumps([said])), Observation("c1", said, said))
    return [
        Opened(session, said, said, said, "", said, copied),
        Titled(said),
        Asked(said),
        Replied(said, (call,), thoughts=said, extra=json.dumps({"reasoning": said}), model=said, endpoint=said),
        Observed("c1", said, kept_at=said),
        Failed(Fault.AUTH, said, partial=said, model=said, endpoint=said),
        Interrupted(partial=said),
        Compressed(copied, 1, 1, said),
        Final(Outcome.FAILED, said, said),
    ]


def test_no_key_reaches_any_file_whatever_field_it_stands_in(tmp_path):
    log = store(tmp_path)
    said = "first\n" + "".join(f'{key} and\n"{key}" or\t{key}\n' for key in KEYS)
    log.append("s1", *everywhere("s1", said))
    log.take([Record(f"u{n}", "s2", n, NOW + n, dump(fact)) for n, fact in enumerate(everywhere("s2", said))])
    secrets = [key.removeprefix("Bearer ").encode() for key in KEYS]
    assert [secret for secret in secrets if holding(tmp_path, secret)] == []
    log.fold()
    log.close()
    store(tmp_path).fold()
    assert [secret for secret in secrets if holding(tmp_path, secret)] == []
    for session in ("s1", "s2"):
        kept = [str(dump(fact)) for fact in log.recall(session)]
        assert [each.count("[redacted: ") >= 3 * len(KEYS) for each in kept] == [True] * 9
