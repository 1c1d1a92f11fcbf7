"""A tick in a process of its own: how it is started, where it says what it did, what is known of one that failed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hermes_kernel.core.safe import clean
from hermes_kernel.core.text import brief
from hermes_kernel.world.ids import fresh_id
from hermes_kernel.world.store.disk import PRIVATE_FILE, content, make, plain_in, put

LOG_MOST = 1_000_000  # bytes of the log
LOG_KEPT = 200_000  # bytes that stay of one that was longer: the last
SAID = 300  # characters of a failed tick's last line

_begun: list[subprocess.Popen[bytes]] = []
"""Those that were started here, whoever forgot them: Python warns of a process that it forgets while it runs."""


@dataclass(frozen=True, slots=True)
class FailedTick:
    """The last tick that a watching kernel had started ended at ``at`` with the exit code ``code``, having ``said``."""

    at: float
    code: int
    said: str


def start_tick(home: Path) -> subprocess.Popen[bytes]:
    """Have all jobs that are due in `home` run, by a process that outlives this one and its terminal. What it says
    goes to ``schedule/tick.log``.

    Raises:
        OSError: there is no process to be had, or the log cannot be written.
    """
    folder = home / "schedule"
    make(folder)
    trim_log(home)
    log = os.open(_log(home), os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        begun = subprocess.Popen(
            [sys.executable, "-m", "hermes_kernel", "tick"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=folder,  # in a folder of notebooks, a `random.py` beside them would be taken for Python's own
            env={**os.environ, "HERMES_HOME": str(home), "HERMES_SCHEDULE_WATCH": "off"},
            start_new_session=True,
        )
    finally:
        os.close(log)
    _begun[:] = [each for each in _begun if each.poll() is None] + [begun]
    return begun


def tick_goes_on() -> bool:
    """One that was started here has not ended."""
    return any(each.poll() is None for each in _begun)


def trim_log(home: Path) -> None:
    """Cut the log to its end, once it is too long. Who writes to it goes on at what is then its end."""
    path = _log(home)
    with suppress(OSError):
        size = path.stat().st_size
        if size > LOG_MOST:
            with path.open("r+b") as file:
                file.seek(size - LOG_KEPT)
                file.readline()
                kept = file.read(LOG_KEPT)
                file.truncate(0)
                file.seek(0)
                file.write(kept)


def note_end(home: Path, code: int, now: float, said: str = "") -> None:
    """What is known of ticks that fail, after one that ended with `code`, having `said` (nothing: what is in the log
    says it)."""
    path = home / "schedule" / "tick.json"
    fresh = path.with_name(f"tick.{fresh_id()[:12]}.new")
    with suppress(OSError):
        if not code:
            path.unlink(missing_ok=True)
            return
        put(json.dumps({"at": now, "code": code, "said": said or _last_line(home)}).encode(), path, fresh)


def failed_tick(home: Path) -> FailedTick | None:
    """The last one, if it failed."""
    match plain_in(home / "schedule" / "tick.json", 4 * SAID + 1000):
        case {"at": int() | float() as at, "code": int() as code, "said": str() as said}:
            return FailedTick(float(at), code, clean(brief(said, SAID)))
    return None


def _log(home: Path) -> Path:
    return home / "schedule" / "tick.log"


def _last_line(home: Path) -> str:
    try:
        lines = content(_log(home), 2 * LOG_MOST).decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return brief(next((line.strip() for line in reversed(lines) if line.strip()), ""), SAID)
