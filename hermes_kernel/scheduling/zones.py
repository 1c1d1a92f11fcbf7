"""The time zone a person is in, by its IANA name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import available_timezones

UTC = "UTC"
LOCALTIME = Path("/etc/localtime")
NAMED = Path("/etc/timezone")
NAME_BYTES = 200


def local_zone(environ: Mapping[str, str] | None = None, link: Path = LOCALTIME, named: Path = NAMED) -> str:
    """That of this machine: as ``TZ`` says, or the system's files; UTC where none of them names one."""
    environ = os.environ if environ is None else environ
    known = available_timezones()
    for found in (environ.get("TZ", "").lstrip(":"), _linked(link), _written(named)):
        if found in known:
            return found
    return UTC


def _linked(link: Path) -> str:
    return os.path.realpath(link).rpartition("zoneinfo/")[2]


def _written(named: Path) -> str:
    try:
        with named.open(encoding="utf-8", errors="replace") as file:
            return file.read(NAME_BYTES).strip()
    except OSError:
        return ""
