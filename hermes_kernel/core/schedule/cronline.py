"""A cron line of five fields, as people write it, in one form: digits, no names, no backward ranges; or why it is none.

What cronsim takes without a word and means otherwise than it reads (a step beyond the field's end) is refused here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from cronsim import CronSim, CronSimError

from hermes_kernel.core.schedule.when import ScheduleError

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")

MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


@dataclass(frozen=True, slots=True)
class _Field:
    """What may stand in a field: from ``low`` to ``high``, or one of ``names``, the first of which is ``low``."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, MONTHS),
    _Field("day of the week", 0, 7, DAYS),
)
_DATE, _WEEKDAY = _FIELDS[2], _FIELDS[4]

_VALUE = r"[0-9]{1,4}|[a-z]{3,9}"
_ITEM = re.compile(rf"(?P<star>\*)|(?P<first>{_VALUE})(?:-(?P<last>{_VALUE}))?")
_ORDINAL = re.compile(r"(?P<day>[0-9]|[a-z]{3,9}?)(?:#(?P<nth>[0-9]{1,4})|(?P<last>l))")


class _Amiss(Exception):
    """A field is not what it must be: ``what`` is wrong, ``instead`` could stand there."""

    def __init__(self, what: str, instead: str = "") -> None:
        self.what, self.instead = what, instead
        super().__init__(what)


def canonical(line: str) -> str:
    """The lower-case ``line`` of five fields in the form that `Cron` has.

    Raises:
        ScheduleError: it is none, or its times never come.
    """
    fields = line.split()
    if len(fields) != len(_FIELDS):
        raise _miscounted(fields)
    done: list[str] = []
    for field, written in zip(_FIELDS, fields, strict=True):
        try:
            done.append(_field(field, written))
        except _Amiss as amiss:
            near = [" ".join([*fields[: len(done)], amiss.instead, *fields[len(done) + 1 :]])] if amiss.instead else []
            raise ScheduleError(amiss.what, *near) from None
    if not comes(" ".join(done)):
        raise _never(done)
    return " ".join(done)


def comes(line: str) -> bool:
    """There is a day that has the times of the canonical ``line``. The calendar repeats within 40 years, across 2100
    too, and cronsim looks 50 ahead."""
    try:
        return next(CronSim(line, datetime(2000, 1, 1)), None) is not None  # noqa: DTZ001 - a calendar has no zone
    except CronSimError:
        return False


def _miscounted(fields: list[str]) -> ScheduleError:
    count = len(fields)
    if count == 6 and fields[0].isdigit():
        what = f"a cron line has 5 fields and this has 6; the first, {fields[0]}, is one too many: seconds are not kept"
        return ScheduleError(what, " ".join(fields[1:]))
    if count > 5:
        what = f"a cron line has 5 fields and this has {count}: after {' '.join(fields[:5])!r} nothing may follow"
        return ScheduleError(what, " ".join(fields[:5]))
    what = f"a cron line has 5 fields (minute, hour, day, month, weekday) and this has {count}"
    return ScheduleError(what, " ".join([*fields, *["*"] * (5 - count)]))


def _never(fields: list[str]) -> ScheduleError:
    line = " ".join(fields)
    last, every = (" ".join([*fields[:2], date, *fields[3:]]) for date in ("l", "*"))
    return ScheduleError(f"{line} never comes: no such month has that day", last if comes(last.upper()) else every)


def _field(field: _Field, written: str) -> str:
    if written == "?" and field in (_DATE, _WEEKDAY):
        return "*"
    return ",".join(_item(field, item) for item in written.split(","))


def _item(field: _Field, item: str) -> str:
    if field is _DATE and item in ("l", "lw"):
        return item.upper()
    if field is _WEEKDAY and (ordinal := _ORDINAL.fullmatch(item)):
        return _nth(ordinal)
    span, _, step = item.partition("/")
    found = _ITEM.fullmatch(span)
    if not found or ("/" in item and not re.fullmatch("[0-9]{1,4}", step)):
        raise _Amiss(f"{item!r} is no {field.name}: {_allowed(field)}", "*")
    if found["star"]:
        return "*" + _step(field, step, field.high - field.low)
    return _range(field, found, step)


def _range(field: _Field, found: re.Match[str], step: str) -> str:
    first = _value(field, found["first"])
    if found["last"] is None and not step:
        return str(first % 7 if field is _WEEKDAY else first)
    last = _value(field, found["last"]) if found["last"] else min(field.high, 6 if field is _WEEKDAY else field.high)
    if field is _WEEKDAY and last == 0 < first:
        last = 7
    if last < first:
        low, high = field.low, field.high - (field is _WEEKDAY)
        instead = f"{first}-{high},{low}-{last}" + (f"/{step}" if step else "")
        raise _Amiss(f"{found[0]!r} goes backwards in the field of the {field.name}", instead)
    return f"{first}-{last}" + _step(field, step, max(last - first, 1))


def _step(field: _Field, step: str, most: int) -> str:
    if not step:
        return ""
    if not 1 <= int(step) <= most:
        raise _Amiss(f"a step of {int(step)} in the field of the {field.name}: from 1 to {most}", "*")
    return f"/{int(step)}"


def _value(field: _Field, written: str) -> int:
    if not written.isdigit():
        if written[:3] not in field.names:
            raise _Amiss(f"{written!r} is no {field.name}: {_allowed(field)}", "*")
        return field.low + field.names.index(written[:3])
    number = int(written)
    if not field.low <= number <= field.high:
        raise _Amiss(f"{number} is no {field.name}: {_allowed(field)}", str(_nearest(field, number)))
    return number


def _nearest(field: _Field, number: int) -> int:
    return 0 if field.name == "hour" and number == 24 else min(max(number, field.low), field.high)


def _nth(ordinal: re.Match[str]) -> str:
    day = _value(_WEEKDAY, ordinal["day"]) % 7
    if ordinal["last"]:
        return f"{day}L"
    if not 1 <= int(ordinal["nth"]) <= 5:
        raise _Amiss(f"a month has no {int(ordinal['nth'])}th such weekday: # goes from 1 to 5", f"{day}#5")
    return f"{day}#{int(ordinal['nth'])}"


def _allowed(field: _Field) -> str:
    names = f", or {field.names[0]} to {field.names[-1]}" if field.names else ""
    return f"{field.low} to {field.high}{names}"
