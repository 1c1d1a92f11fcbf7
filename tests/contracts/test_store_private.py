"""What is said stays between a person and the store, at every moment of its making."""

from __future__ import annotations

import os
import stat
import threading

from hermes_kernel.core.events import Asked, Opened
from tests.contracts.stores import store


def watch(home, over, seen):
    """Note every file in `home` and how it may be used, again and again."""
    while not over.is_set():
        with os.scandir(home) as entries:
            for entry in entries:
                try:
                    seen.add((entry.name, stat.S_IMODE(entry.stat().st_mode)))
                except FileNotFoundError:
                    continue


def test_a_log_that_comes_and_goes_with_a_fold_is_private_from_its_first_byte(tmp_path):
    """In a home that others may look into, in a process whose umask is somebody else's business."""
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    before = os.umask(0o022)
    over, seen = threading.Event(), set()
    watcher = threading.Thread(target=watch, args=(home, over, seen))
    try:
        log = store(home)
        log.append("s", Opened("s"))
        watcher.start()
        for n in range(10):
            log.append("s", *[Asked(f"mark {n} {m}" * 20) for m in range(200)])
            log.fold()
    finally:
        over.set()
        watcher.join()
        assert os.umask(before) == 0o022
    modes = {name: {mode for each, mode in seen if each == name} for name, _ in seen}
    assert modes["sessions.duckdb"] == {0o600}
    assert modes["sessions.duckdb.wal"] == {0o600}
    assert modes["store"] == {0o700}
    assert set(modes) == {"sessions.duckdb", "sessions.duckdb.wal", "store"}
