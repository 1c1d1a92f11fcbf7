"""A disk that is full at any step says so in one line, costs nothing that was there, and is gone on with."""

from __future__ import annotations

import os

import pytest

from hermes_kernel.core.events import Asked, Opened
from hermes_kernel.world.store import StoreError
from hermes_kernel.world.store.retention.deletion import delete
from tests.contracts.stores import store
from tests.disks import small_disk

FACTS = 600


@pytest.fixture
def disk(tmp_path):
    """A file system of its own with 24 megabytes."""
    with small_disk(tmp_path, "24m") as place:
        yield place


def fill(place, room):
    """Leave `room` bytes on the disk."""
    left = os.statvfs(place)
    with (place / "ballast").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(left.f_bavail * left.f_frsize - room, 1))


def asked(n):
    return Asked(f"mark {n} " + " ".join(f"word{n * k % 997}" for k in range(1, 60)))


def refused(act):
    """Whether the disk was too full for it, which is said in one line."""
    try:
        assert not getattr(act(), "waiting", "")
    except StoreError as error:
        assert str(error).startswith("the disk with ")
        assert str(error).endswith(" is full: free some space and run this again; what was saved stands")
        return True
    return False


def test_a_fold_that_finds_no_room_at_any_of_its_steps_is_made_good_when_there_is_some(disk):
    home = disk / "home"
    log = store(home)
    log.append("s", Opened("s"))
    marks = [asked(n) for n in range(FACTS)]
    log.append("s", *marks)
    log.close()
    outcomes = []
    for room in range(0, 8 * 2**20, 2**19):
        fill(disk, room)
        outcomes.append(refused(store(home, f"fold{room}").fold))
        assert store(home).recall("s") == [Opened("s"), *marks]
        (disk / "ballast").unlink()
        assert store(home).search("mark").total == len(marks)
    assert outcomes[0]
    assert not outcomes[-1]
    assert not refused(store(home, "last").fold)
    assert store(home).recall("s") == [Opened("s"), *marks]
    assert store(home).search("word1").total == sum("word1 " in f"{mark.text} " for mark in marks)
    assert not (home / "sessions.duckdb.wal").exists()


def test_sessions_that_are_deleted_on_a_full_disk_are_there_or_gone_and_the_others_whole(disk):
    home = disk / "home"
    log = store(home)
    for session in ("kept", "gone"):
        log.append(session, Opened(session), *[asked(n) for n in range(FACTS // 2)])
    log.close()
    log.fold()
    kept = log.recall("kept")
    for room in (0, 2**18, 2**20):
        fill(disk, room)
        refused(lambda: delete(store(home), ["gone"], 2e9))
        assert store(home).recall("kept") == kept
        (disk / "ballast").unlink()
    refused(lambda: delete(store(home), ["gone"], 2e9))
    assert not refused(store(home, "last").fold)
    assert [row.id for row in store(home).sessions()] == ["kept"]
    assert store(home).search("mark").total == FACTS // 2
    assert store(home).recall("kept") == kept
