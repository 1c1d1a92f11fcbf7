"""What is said stays between a person and the store, at every moment of its making."""

from __future__ import annotations

import os
import stat
import threading

from hermes_kernel.core.events import Asked, Opened
from tests.contracts.stores import store, told, turn


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


def test_what_does_not_fit_into_memory_goes_where_nobody_else_may_look_and_nowhere_else(tmp_path, monkeypatch):
    working = tmp_path / "working"
    working.mkdir()
    monkeypatch.chdir(working)
    log = store(tmp_path / "home")
    told(log, "s", turn("s"))
    log.fold()
    with log.connect() as connection:
        connection.execute("SET memory_limit = '100MB'")
        connection.execute("SELECT i, repeat('y', 100) z FROM range(2000000) t(i) ORDER BY z, i DESC").fetchone()
        spilled = [path for path in (tmp_path / "home").rglob("*") if path.name.startswith("duckdb_temp")]
        assert spilled
        assert all(tmp_path / "home" / "store" in path.parents for path in spilled)
        assert stat.S_IMODE((tmp_path / "home" / "store").stat().st_mode) == 0o700
    assert not list(working.iterdir())
    assert not any(path.exists() for path in spilled)


def test_a_question_over_journals_alone_leaves_nothing_in_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = store(tmp_path / "home")
    told(log, "s", turn("s"))
    with log.connect() as connection:
        assert connection.execute("SELECT current_setting('temp_directory')").fetchall() == [("",)]
