"""A home on a network disk whose locks lie or are missing is written and read by many computers all the same."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_kernel.core.events import Titled
from hermes_kernel.world.store import locality
from hermes_kernel.world.store.locality import Locks, locks_in, near
from hermes_kernel.world.store.mounts import Mount, mount_in, mount_of, tells_others
from tests.contracts.stores import ROOT, journals, store, told, turn

# The disk below $LAWLESS as a network disk: `flock` grants everything there, or knows no locks.
MACHINE = """
import errno, fcntl, os
honest = fcntl.flock
def flock(handle, how):
    if not os.readlink(f"/proc/self/fd/{handle}").startswith(os.environ["LAWLESS"]):
        return honest(handle, how)
    if os.environ["LOCKS"] == "refused":
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
fcntl.flock = flock
"""

WRITE = """
import sys
from pathlib import Path
from hermes_kernel.core.events import Asked, Opened
from hermes_kernel.world.store import Store
home, session = Path(sys.argv[1]), sys.argv[2]
log = Store(home)
with log.claim(session):
    log.append(session, Opened(session))
    for n in range(100):
        log.append(session, Asked(f"mark {n}"))
        if n % 20 == 0:
            assert log.fold().waiting in {"", "another process is folding"}
            assert len(log.recall(session)) == n + 2
print(len(log.recall(session)), log.fold().removed)
"""

READ = """
import json, sys
from pathlib import Path
from hermes_kernel.world.store import Store
log = Store(Path(sys.argv[1]))
def look():
    return {row.id: [getattr(fact, "text", "") for fact in log.recall(row.id)[1:]] for row in log.sessions(100)}
before, folded = look(), log.fold()
print(json.dumps([before, look(), folded.waiting, folded.removed]))
"""


@pytest.fixture(params=["granted", "refused"])
def computer(tmp_path, request):
    """Runs code on a computer that has this cache folder, with a home on a disk whose locks are worth nothing."""
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "sitecustomize.py").write_text(MACHINE)

    def run(code, cache, *arguments, **more):
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(shims), str(ROOT)]),
            "LAWLESS": str(tmp_path / "home"),
            "LOCKS": request.param,
            "XDG_CACHE_HOME": str(cache),
            "HOME": str(tmp_path),
            **more,
        }
        command = [sys.executable, "-c", code, str(tmp_path / "home"), *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    return run


def said(process):
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0, out
    return out


def databases(folder):
    return sorted(folder.rglob("sessions.duckdb"))


def test_two_computers_write_and_read_one_home_and_nothing_is_lost_or_doubled(tmp_path, computer):
    home, caches = tmp_path / "home", [tmp_path / "one", tmp_path / "two"]
    writers = [computer(WRITE, cache, cache.name) for cache in caches]
    assert [said(writer) for writer in writers] == ["101 0\n"] * 2
    marks = [f"mark {n}" for n in range(100)]
    for cache in (*caches, tmp_path / "three"):
        before, after, waiting, removed = json.loads(said(computer(READ, cache)))
        assert before == after == {"one": marks, "two": marks}
        assert (waiting, removed) == ("", 0)
        (database,) = databases(cache)
        assert stat.S_IMODE(database.stat().st_mode) == 0o600
        assert {stat.S_IMODE(each.stat().st_mode) for each in (database.parent, database.parent.parent)} == {0o700}
    assert databases(home) == []
    assert len(journals(home)) == 2


def test_what_was_folded_while_locks_held_is_found_where_they_do_not(tmp_path, computer):
    home = tmp_path / "home"
    log = store(home)
    told(log, "old", turn("old"))
    log.close()
    assert log.fold().removed == 1
    (home / "store" / "hosts" / f"{locality.host()}.json").unlink()
    for session in ("old", "new"):
        told(log, session, turn(session)) if session == "new" else None
        before, after, waiting, _ = json.loads(said(computer(READ, tmp_path / "cache")))
        assert before == after
        assert waiting == ""
        assert before["old"][0] == "How many?"
    assert set(before) == {"old", "new"}
    assert len(databases(home)) == 1


CLAIM = """
import sys
from pathlib import Path
from hermes_kernel.world.store import Store, StoreError
try:
    claim = Store(Path(sys.argv[1])).claim("s")
    print("claimed")
except StoreError as error:
    print(error)
if len(sys.argv) > 2:
    import os, subprocess
    print(subprocess.run([sys.executable, "-c", sys.argv[2], sys.argv[1]], capture_output=True, text=True).stdout)
"""


def test_a_session_still_belongs_to_one_process_of_a_computer(tmp_path, computer):
    first, second, *_ = said(computer(CLAIM, tmp_path / "cache", CLAIM)).splitlines()
    assert first == "claimed"
    assert second.startswith("session 's' is in use by process ")
    assert said(computer(CLAIM, tmp_path / "cache")) == "claimed\n"


BESIDE = """
import json, sys, threading
from pathlib import Path
from hermes_kernel.world.importing.bringing import Importer
from hermes_kernel.world.importing.jsonl import Lines
from hermes_kernel.world.importing.told import Care
from hermes_kernel.world.local import LocalModel, LocalModelError
from hermes_kernel.world.mcp.file import add, remove, written
from hermes_kernel.world.store import Store
home, care = Path(sys.argv[1]), Care(lambda text: text)
add(home, "a", {"command": "x"})
add(home, "b", {"command": "x"})
remove(home, "a")
with Lines(Path(sys.argv[2])) as lines:
    brought = Importer(Store(home), care).bring(lines.stories(care))
model = LocalModel(home, model="smol", progress=lambda line: (print(line), threading.Thread(target=model.stop).start()))
try:
    model.start()
except LocalModelError as error:
    print(error)
print(list(written(home)), brought.sessions)
"""


def test_sessions_are_imported_servers_written_down_and_the_local_model_started_there(tmp_path, computer):
    told = tmp_path / "told.jsonl"
    told.write_text('{"id": "s", "messages": [{"role": "user", "content": "Hey", "timestamp": 1}]}\n')
    *model, rest = said(computer(BESIDE, tmp_path / "cache", str(told))).splitlines()
    assert not [line for line in model if "another notebook" in line or "cannot use" in line]
    assert rest == "['b'] 1"
    assert not list((tmp_path / "home").rglob("*.lock"))


def test_a_cache_that_is_a_link_is_not_followed_and_another_folder_is_taken(tmp_path, computer):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "hermes-kernel").symlink_to(elsewhere)
    said(computer(WRITE, cache, "s"))
    assert not list(elsewhere.iterdir())
    assert len(databases(tmp_path / ".cache" / "hermes-kernel")) == 1


def test_a_cache_on_the_same_kind_of_disk_is_passed_over(tmp_path, computer):
    said(computer(WRITE, tmp_path / "home" / "cache", "s"))
    assert databases(tmp_path / "home") == []
    assert len(databases(tmp_path / ".cache" / "hermes-kernel")) == 1


def test_where_locks_hold_everything_is_in_the_home_and_what_was_found_out_is_remembered(tmp_path):
    log = store(tmp_path)
    told(log, "s", turn("s"))
    assert near(tmp_path) is None
    log.fold()
    assert (tmp_path / "sessions.duckdb").exists()
    memory = tmp_path / "store" / "hosts" / f"{locality.host()}.json"
    assert json.loads(memory.read_text())["locks"] == Locks.HOLD.value
    known = json.loads(memory.read_text())
    memory.write_text(json.dumps({**known, "locks": Locks.LIE.value}))
    assert locks_in(tmp_path / "store") is Locks.LIE
    for changed in ({"boot": "another"}, {"device": -1}, {"locks": "unheard of"}):
        memory.write_text(json.dumps({**known, **changed}))
        assert locks_in(tmp_path / "store") is Locks.HOLD
        assert json.loads(memory.read_text()) == known
    memory.write_text("no JSON")
    assert locks_in(tmp_path / "store") is Locks.HOLD


def test_a_journal_of_a_computer_whose_locks_tell_nothing_is_folded_and_left(tmp_path):
    log = store(tmp_path)
    told(log, "s", turn("s"))
    log.close()
    (path,) = journals(tmp_path)
    theirs = path.rename(path.with_name("cloud-7-77-id0000000001.jsonl"))
    hosts = tmp_path / "store" / "hosts"
    hosts.mkdir(exist_ok=True)
    (hosts / "cloud-7.json").write_text(json.dumps({"boot": "", "device": 1, "locks": Locks.ALONE.value}))
    log.append("s", Titled("more"))
    log.close()
    folded = store(tmp_path, "fold").fold()
    assert (folded.facts, folded.removed) == (8, 1)
    assert journals(tmp_path) == [theirs]
    (hosts / "cloud-7.json").write_text(json.dumps({"boot": "", "device": 1, "locks": Locks.HOLD.value}))
    assert store(tmp_path, "fold").fold().removed == 1


TABLE = r"""
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro
40 22 0:45 / /home rw shared:2 - nfs4 server:/home rw,vers=4.2,hard,local_lock=none,addr=10.0.0.1
41 40 0:46 / /home/lab\040one rw shared:3 - nfs server:/lab rw,vers=3,nolock,local_lock=all
42 22 0:47 / /mnt/win rw - cifs //server/share rw,vers=3.1.1,nobrl
43 22 0:48 / /mnt/far rw - fuse.sshfs me@far:/ rw,user_id=0
broken line
"""


@pytest.mark.parametrize(
    ("folder", "kind", "known_to_others"),
    [
        ("/srv/x", "ext4", True),
        ("/home/a/.hermes", "nfs4", True),
        ("/home/lab one/.hermes", "nfs", False),
        ("/home/lab", "nfs4", True),
        ("/mnt/win", "cifs", False),
        ("/mnt/far/home", "fuse.sshfs", False),
    ],
)
def test_a_mount_that_keeps_locks_to_itself_is_known_from_the_table(folder, kind, known_to_others):
    mount = mount_in(TABLE, Path(folder))
    assert mount.kind == kind
    assert tells_others(mount) is known_to_others


def test_a_machine_without_such_a_table_is_taken_at_its_word(tmp_path):
    assert tells_others(Mount())
    assert mount_in("", tmp_path) == Mount()
    assert tells_others(mount_of(tmp_path))


EXAMINE = """
import sys
from pathlib import Path
from hermes_kernel.doctor import examine, report
from hermes_kernel.settings import Settings
findings = examine(Settings(home=Path(sys.argv[1]), base_url="local:"), {}, tuple)
print(report(tuple(each for each in findings if each.what == "store")))
"""


def test_the_doctor_says_where_the_database_is_and_why(tmp_path, computer):
    said(computer(WRITE, tmp_path / "cache", "s"))
    lines = said(computer(EXAMINE, tmp_path / "cache")).splitlines()
    (database,) = databases(tmp_path / "cache")
    assert lines[0].startswith(f"ok       store: {database} (")
    assert lines[1].split("store: ")[1] in {
        "one lock is granted to two processes there: the index is on a disk of this computer",
        "there are no locks there: the index is on a disk of this computer",
    }
    assert lines[2] == "         → go on with one session on one computer at a time"


def test_the_doctor_says_what_is_not_folded_and_who_holds_the_database(tmp_path):
    import duckdb

    from hermes_kernel.world.store.standing import standing

    log = store(tmp_path)
    told(log, "s", turn("s"))
    stands = standing(tmp_path)
    assert (stands.size, stands.journals, stands.why, stands.problem) == (0, 1, "", "")
    assert stands.unfolded == journals(tmp_path)[0].stat().st_size
    log.fold()
    assert standing(tmp_path).unfolded == 0
    assert standing(tmp_path).size == (tmp_path / "sessions.duckdb").stat().st_size
    log.append("s", Titled("more"))
    with duckdb.connect(str(tmp_path / "sessions.duckdb")):
        assert "is open in this very process" in standing(tmp_path).problem
    assert 0 < standing(tmp_path).unfolded < stands.unfolded
