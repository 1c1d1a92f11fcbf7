"""The time zone of this machine, for dates that a person names. Its rules are asked day by day: summer has its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo


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
