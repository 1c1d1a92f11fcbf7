"""A report as a file. A path from ``/`` or ``~`` is the person's, and a link in it is followed, as any program of
theirs would. One below the folder that the job works in stays there: what works in it may make links too. What is no
ordinary file is left alone."""

from __future__ import annotations

import re
import secrets
from datetime import datetime
from pathlib import Path

from hermes_kernel.core.schedule.zones import rules
from hermes_kernel.scheduling.delivery.wording import Message
from hermes_kernel.scheduling.ports import Report
from hermes_kernel.world.store.disk import make, put

FIELD = re.compile(r"\{(date|time|job|run)\}")
UNSAFE = re.compile(r"[^\w.-]+|^\.+")
LONGEST_NAME = 80


def write(wanted: str, report: Report, message: Message, runs: Path) -> str:
    """Have the file `wanted` hold the message: nothing, or in one line why it could not be written."""
    try:
        path = placed(wanted, report, runs)
        if path is None:
            return f"{wanted} leads out of the job's folder, or into the agent's own: name the file from / or ~ on"
        if path.exists() and not path.is_file():
            return f"{path} is no file that can be written: name another in `file:`"
        make(path.parent)
        put(message.page.encode(), path, path.with_name(f".{secrets.token_hex(8)}.new"))
    except (OSError, ValueError, RuntimeError) as error:  # in order: the disk, a NUL, a `~user` who is nobody
        said = error.strerror if isinstance(error, OSError) and error.strerror else "it is no path"
        return f"{wanted} could not be written: {said}"
    return ""


def placed(wanted: str, report: Report, runs: Path) -> Path | None:
    """The path that `wanted` means for this run; None for one that is to be below a folder and is not, or is where the
    agent keeps what it knows."""
    path = Path(FIELD.sub(lambda found: _fields(report)[found[1]], wanted)).expanduser()
    if path.is_absolute():
        return path.resolve()
    folder = (report.folder or runs).resolve()
    whole = (folder / path).resolve()
    own = whole.is_relative_to(runs.parent.resolve()) and not whole.is_relative_to(runs.resolve())
    return whole if whole.is_relative_to(folder) and not own else None


def _fields(report: Report) -> dict[str, str]:
    due = datetime.fromtimestamp(report.due, rules(report.zone))
    names = {"job": report.name, "run": report.run}
    said = {key: UNSAFE.sub("-", name)[:LONGEST_NAME].strip("-") or "job" for key, name in names.items()}
    return {**said, "date": f"{due:%Y-%m-%d}", "time": f"{due:%H-%M}"}
