"""The time zone of this machine: its rules, for dates that a person names, asked day by day because summer has its own;
and its name, for what must mean the same on another machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from hermes_kernel.core.schedule.when import ScheduleError
from hermes_kernel.core.schedule.zones import known

UNKNOWN = "UTC"
"""The zone of a machine that does not say where it is."""
LONGEST = 256  # bytes of a file with a zone's name in it


class Local(tzinfo):
    """What the clocks on the wall show here."""

    def utcoffset(self, when: datetime | None) -> timedelta | None:
        return when.replace(tzinfo=None).astimezone().utcoffset() if when else None

    def dst(self, when: datetime | None) -> timedelta | None:
        return None

    def tzname(self, when: datetime | None) -> str | None:
        return when.replace(tzinfo=None).astimezone().tzname() if when else None

    def fromutc(self, when: datetime) -> datetime:
        return when.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)


LOCAL = Local()


def local_name(environ: Mapping[str, str] | None = None, etc: Path = Path("/etc")) -> str:
    """The IANA name of this machine's time zone, as the first of these says: the variable ``TZ``, the link
    ``/etc/localtime``, the file ``/etc/timezone``. Never fails: `UNKNOWN` where none says a name that there is."""
    for written in _written(os.environ if environ is None else environ, etc):
        name = written.strip().removeprefix(":").rpartition("zoneinfo/")[2]
        name = name.removeprefix("posix/").removeprefix("right/")
        try:
            return known(name)
        except ScheduleError:
            continue
    return UNKNOWN


def _written(environ: Mapping[str, str], etc: Path) -> Iterator[str]:
    from hermes_kernel.world.store.disk import content  # it knows this module, for `LOCAL`

    if "TZ" in environ:
        yield environ["TZ"]
    with suppress(OSError):  # a copy, or nothing: the next one may say it
        yield str((etc / "localtime").readlink())
    with suppress(OSError):
        yield content(etc / "timezone", LONGEST).decode("ascii", "replace")
