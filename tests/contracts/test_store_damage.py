"""A disk tears, flips, fills up and forbids: what was acknowledged stands, what cannot be done is said in one line."""

from __future__ import annotations

import os
import resource
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_kernel.core.events import Opened, Titled
from hermes_kernel.world.store import Store, StoreError
from hermes_kernel.world.store.places import Places
from hermes_kernel.world.store.retention.retired import retire_sessions, retired
from tests.contracts.stores import child, done, journals, store, told, turn
from tests.disks import small_disk


def titles(count):
    return [Titled(f"title {n}") for n in range(count)]


@pytest.fixture
def written(tmp_path):
    """A home with one journal of ten facts that its writer has left."""
    log = store(tmp_path)
    told(log, "s", titles(10))
    log.close()
    return tmp_path


def test_a_tail_torn_at_any_byte_costs_the_torn_fact_alone(written):
    (path,) = journals(written)
    whole = path.read_bytes()
    for size in range(whole.rindex(b"\n", 0, -1) + 1, len(whole)):
        path.write_bytes(whole[:size])
        assert store(written).recall("s") == titles(9)
    assert store(written, "fold").fold().facts == 9
    assert store(written).recall("s") == titles(9)


def test_facts_told_after_a_torn_tail_are_all_there(written):
    (path,) = journals(written)
    os.truncate(path, path.stat().st_size - 5)
    log = store(written, "next")
    log.append("s", Titled("after"))
    assert log.recall("s") == [*titles(9), Titled("after")]
    assert log.fold().facts == 10
    assert log.recall("s") == [*titles(9), Titled("after")]


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_bit_costs_no_fact_but_those_whose_lines_it_touches(written, data):
    (path,) = journals(written)
    before = path.read_bytes()
    damaged = bytearray(before)
    at = data.draw(st.integers(0, len(before) - 1))
    damaged[at] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(damaged)
    found = store(written).recall("s")
    path.write_bytes(before)
    line = before.count(b"\n", 0, at)
    spared = [fact for n, fact in enumerate(titles(10)) if n not in (line, line + (before[at] == 10))]
    assert [fact for fact in found if fact in spared] == spared
    assert all(fact in titles(10) for fact in found)


def test_a_damaged_line_is_counted_and_its_journal_kept_aside(written):
    (path,) = journals(written)
    content = bytearray(path.read_bytes())
    content[content.index(b"title 4")] ^= 1
    path.write_bytes(content)
    folded = store(written, "fold").fold()
    assert (folded.facts, folded.damaged, folded.removed) == (9, 1, 1)
    assert path.with_suffix(".damaged").read_bytes() == bytes(content)
    assert not journals(written)
    assert store(written).recall("s") == [fact for n, fact in enumerate(titles(10)) if n != 4]


def test_zeros_at_the_end_of_a_journal_as_a_power_cut_leaves_them_are_no_facts(written):
    (path,) = journals(written)
    with path.open("ab") as file:
        file.write(b"\0" * 4096)
    assert store(written).recall("s") == titles(10)
    assert store(written, "fold").fold().facts == 10


def test_everything_is_private_to_its_owner(tmp_path):
    before = os.umask(0o022)
    try:
        home = tmp_path / "home"
        log = store(home)
        told(log, "s", turn("s"))
        claim = log.claim("s")
        log.fold()
        log.close()
        log.fold()
        log.append("s", Titled("t"))
        found = {path.relative_to(home): stat.S_IMODE(path.stat().st_mode) for path in home.rglob("*")}
        claim.close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {mode for path, mode in found.items() if (home / path).is_dir()} == {0o700}
    assert {mode for path, mode in found.items() if not (home / path).is_dir()} == {0o600}
    assert Path("sessions.duckdb") in found


FULL = """
import resource, sys
from pathlib import Path
from hermes_kernel.core.events import Titled
from hermes_kernel.world.store import Store, StoreError
log, kept = Store(Path(sys.argv[1])), 0
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
for n in range(1000):
    try:
        log.append("s", Titled(f"title {n} " + "x" * 100))
        kept += 1
    except StoreError as error:
        print(error)
        break
print(kept)
try:
    log.append("s", Titled("y" * 3000))
except StoreError:
    pass
try:
    log.append("s", Titled(""))
    print(kept + 1)
except StoreError:
    print(kept)
"""


def test_a_file_that_may_not_grow_costs_the_fact_that_did_not_fit(tmp_path):
    lines = done(child(FULL, tmp_path)).splitlines()
    assert lines[0].startswith(
        (f"the disk with {tmp_path}/store is full", f"cannot use {tmp_path}/store (File too large)")
    )
    found = store(tmp_path).recall("s")
    assert len(found) == int(lines[-1])
    assert found[: int(lines[1])] == [Titled(f"title {n} " + "x" * 100) for n in range(int(lines[1]))]


@pytest.fixture
def disk(tmp_path):
    """A file system of its own with a megabyte."""
    with small_disk(tmp_path, "1m") as place:
        yield place


def fill(log, kept):
    for n in range(100_000):
        log.append("s", Titled(f"{n} " + "x" * 1000))
        kept.append(Titled(f"{n} " + "x" * 1000))


def test_a_full_disk_is_said_in_one_line_and_costs_nothing_that_was_there(disk):
    log, kept = store(disk / "home"), []
    with pytest.raises(StoreError) as full:
        fill(log, kept)
    assert str(full.value).startswith(f"the disk with {disk}/home/store is full: free some space")
    assert "\n" not in str(full.value)
    assert store(disk / "home").recall("s") == kept
    with pytest.raises(StoreError):
        log.fold()
    assert store(disk / "home").recall("s") == kept
    subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
    log.append("s", Titled("room again"))
    assert log.fold().facts == len(kept) + 1
    assert store(disk / "home").recall("s") == [*kept, Titled("room again")]


UNPRIVILEGED = """
import os, sys
from pathlib import Path
import duckdb
from hermes_kernel.core.events import Titled
from hermes_kernel.world.store import Store, StoreError
duckdb.connect().execute("SELECT unnest(?)", [["what it imports, it imports now"]]).fetchall()
os.setuid(65534) if os.getuid() == 0 else None
log = Store(Path(sys.argv[1]))
for act in (lambda: log.append("s", Titled("more")), lambda: log.claim("s"), log.fold):
    try:
        print("done", act())
    except StoreError as error:
        print(error)
print(len(log.recall("s")))
"""


@pytest.fixture
def public():
    """A folder that others may enter. Those of pytest are closed to them, and again by each pytest that begins."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.mark.parametrize("folded", [False, True])
def test_a_home_that_may_only_be_read_is_read_and_refuses_in_one_line(public, folded):
    home = public / "home"
    log = store(home)
    told(log, "s", titles(10))
    log.close()
    if folded:
        store(home).fold()
    for path in (*home.rglob("*"), home):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        lines = done(child(UNPRIVILEGED, home)).splitlines()
    finally:
        for path in (home, *home.rglob("*")):
            path.chmod(0o755)
    assert lines[-1] == "10"
    refused = f"cannot use {home}/store (Permission denied): make it writable, or set HERMES_HOME to another folder"
    assert lines[:2] == [refused, refused]


def test_a_home_that_is_a_file_is_refused_in_one_line(tmp_path):
    (tmp_path / "home").write_text("")
    with pytest.raises(StoreError, match=r"cannot use .* \(Not a directory\)"):
        store(tmp_path / "home").append("s", Titled("t"))


HALF_FOLDED = """
import os, sys
from pathlib import Path
from hermes_kernel.world.store import database, fold, places, sources
at = places.Places(Path(sys.argv[1]))
with database.writing(at.database) as connection:
    for behind in sources.Journals(at.journals).behind(database.offsets(connection)):
        fold.take(connection, behind)
    os._exit(0)
"""


@pytest.mark.parametrize("hurt", ["nothing", "zeros", "cut", "flip"])
def test_a_fold_that_died_before_its_checkpoint_is_healed_whatever_became_of_its_log(written, hurt):
    log = store(written, "more")
    log.fold()
    told(log, "s", [Titled("late 1"), Titled("late 2")])
    done(child(HALF_FOLDED, written))
    wal = written / "sessions.duckdb.wal"
    content = wal.read_bytes()
    hurt_content = {
        "nothing": content,
        "zeros": content[:-200] + bytes(200),
        "cut": content[:-37],
        "flip": content[: len(content) // 2]
        + bytes([content[len(content) // 2] ^ 1])
        + content[len(content) // 2 + 1 :],
    }
    wal.write_bytes(hurt_content[hurt])
    log.close()
    assert store(written, "fold").fold().waiting == ""
    assert store(written).recall("s") == [*titles(10), Titled("late 1"), Titled("late 2")]
    assert not wal.exists()
    assert not journals(written)


@pytest.mark.parametrize("hurt", ["nothing", "zeros", "flip"])
def test_a_reader_that_comes_before_the_healing_sees_every_fact(written, hurt):
    log = store(written, "more")
    log.fold()
    told(log, "t", [Titled("late")])
    done(child(HALF_FOLDED, written))
    wal = written / "sessions.duckdb.wal"
    content = wal.read_bytes()
    wal.write_bytes(
        {"nothing": content, "zeros": content[:-200] + bytes(200), "flip": content[:60] + b"?" + content[61:]}[hurt]
    )
    assert store(written).recall("s") == titles(10)
    assert store(written).recall("t") == [Titled("late")]
    assert store(written).latest() == "t"


def test_a_database_of_a_newer_format_is_refused_and_nothing_is_lost(written):
    import duckdb

    store(written).fold()
    with duckdb.connect(str(written / "sessions.duckdb")) as connection:
        connection.execute("UPDATE format SET version = 99")
    before = (written / "sessions.duckdb").read_bytes()
    log = store(written, "new")
    log.append("t", Opened("t"))
    for act in (log.fold, log.sessions, lambda: log.recall("s")):
        with pytest.raises(
            StoreError, match=r"has format 99 and this Hermes Kernel reads 2: run `pip install -U hermes-"
        ):
            act()
    assert log.recall("t") == [Opened("t")]
    assert (written / "sessions.duckdb").read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 500, None])
def test_a_file_that_is_no_database_of_ours_is_left_alone_and_named(written, content):
    import duckdb

    path = written / "sessions.duckdb"
    if content is not None:
        path.write_bytes(content)
    else:
        with duckdb.connect(str(path)) as theirs:
            theirs.execute("CREATE TABLE theirs (n INTEGER)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="sessions.duckdb") as refused:
        store(written, "fold").fold()
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == before
    assert len(journals(written)) == 1


def test_facts_of_a_later_version_are_kept_and_passed_over(written):
    from hermes_kernel.world.store.records import Record, encode

    (path,) = journals(written)
    with path.open("ab") as file:
        file.write(encode(Record("later.1", "s", 10, 2e9, {"fact": "Dreamt", "of": "sheep"})))
    assert store(written).recall("s") == titles(10)
    assert store(written, "fold").fold().facts == 11
    assert store(written).recall("s") == titles(10)


def test_a_store_that_was_removed_under_a_running_kernel_begins_again(written):
    log = store(written, "new")
    log.append("t", Opened("t"))
    shutil.rmtree(written / "store")
    log.append("t", Titled("still here"))
    assert store(written).recall("t") == [Titled("still here")]


def test_a_copy_of_a_journal_adds_nothing(written):
    (path,) = journals(written)
    shutil.copy(path, path.with_name("copy.jsonl"))
    assert store(written).recall("s") == titles(10)
    assert store(written, "fold").fold().facts == 10
    assert store(written).recall("s") == titles(10)


def test_nothing_is_made_before_something_is_told(tmp_path):
    log = Store(tmp_path / "home")
    assert log.sessions() == []
    assert log.latest() is None
    assert log.fold().facts == 0
    log.close()
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: Path(path).symlink_to("/nosuch/file")])
def test_what_is_called_a_journal_and_is_no_file_is_passed_over(written, make):
    make(written / "store" / "journal" / "other.jsonl")
    log = store(written, "reader")
    assert log.recall("s") == titles(10)
    assert log.fold().facts == 10
    assert log.recall("s") == titles(10)


def test_files_of_ours_that_somebody_wrote_nonsense_into_are_made_anew(written):
    store(written, "fold").fold()
    for path in [*(written / "store" / "hosts").glob("*.json"), written / "store" / "retired.json"]:
        path.write_text("[" * 100_000)
    log = store(written, "reader")
    told(log, "other", turn("other"))
    assert [each.id for each in log.sessions()] == ["other", "s"]
    assert log.fold().waiting == ""


def test_who_was_deleted_is_never_half_written(disk):
    """A write that the disk cuts short may fail with nothing."""
    places = Places(disk)
    places.root.mkdir()
    retire_sessions(places, frozenset({"first"}))
    filler = disk / "filler"
    with pytest.raises(OSError, match="No space"):
        filler.write_bytes(bytes(2**20))
    os.truncate(filler, filler.stat().st_size - 3 * 4096)
    with pytest.raises(OSError, match="No space"):
        retire_sessions(places, frozenset(f"session-{n}" for n in range(5_000)))
    assert retired(places).deleted == {"first"}


def test_without_a_file_to_open_what_is_open_goes_on_and_one_line_says_what_to_do(tmp_path):
    log = store(tmp_path)
    told(log, "s", titles(1))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(tmp_path, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        log.append("s", Titled("title 1"))
        with pytest.raises(StoreError, match=r"too many files are open: close some, or allow more \(`ulimit -n`\)"):
            log.claim("s")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert log.recall("s") == titles(2)
