"""A cron line of five fields, as people write it, in one form: digits, no names, no backward ranges; or why it is none.

What cronsim takes without a word and means otherwise than it reads (a step beyond the field's end) is refused here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time

from cronsim import CronSim, CronSimError

from hermes_kernel.core.schedule.lexicon import DAYS, MONTHS
from hermes_kernel.core.schedule.spelling import Amiss, closest, quoted
from hermes_kernel.core.schedule.when import ScheduleError

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
    """What may stand in a field: from ``low`` to ``high``, or a name or its first three letters, from ``low`` on."""

    name: str
    low: int
    high: int
    full: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each[:3] for each in self.full)


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, tuple(map(str.lower, MONTHS))),
    _Field("day of the week", 0, 7, tuple(map(str.lower, DAYS))),
)
_DATE, _WEEKDAY = _FIELDS[2], _FIELDS[4]

_VALUE = r"[0-9]{1,4}|[a-z]{3,9}"
_ITEM = re.compile(rf"(?:(?P<star>\*)|(?P<first>{_VALUE})(?:-(?P<last>{_VALUE}))?)(?:/(?P<step>[0-9]{{1,4}}))?")
_ORDINAL = re.compile(r"(?P<day>[0-9]|[a-z]{3,9}?)(?:#(?P<nth>[0-9]{1,4})|(?P<last>l))")


def looks(line: str) -> bool:
    """Nothing but a cron line looks like ``line``."""
    fields = _fields(line)
    return any(re.fullmatch(r"[*?][-*?,/0-9]*", field) for field in fields) or (
        len(fields) > 3 and all(re.fullmatch(r"[0-9l][-*?,/0-9lw]*", field) for field in fields[:3])
    )


def canonical(line: str) -> str:
    """The lower-case ``line`` of five fields in the form that `Cron` has.

    Raises:
        ScheduleError: it is none, or its times never come.
    """
    fields = _fields(line)
    if len(fields) != len(_FIELDS):
        raise _miscounted(fields)
    done: list[str] = []
    for field, written in zip(_FIELDS, fields, strict=True):
        try:
            done.append(_field(field, written))
        except Amiss as amiss:
            instead = [written.replace(amiss.written, each, 1) for each in (*amiss.instead, "*")]
            near = (" ".join([*fields[: len(done)], each, *fields[len(done) + 1 :]]) for each in [*instead, "*"])
            raise ScheduleError(amiss.what, *near) from None
    if not comes(" ".join(done)):
        raise _never(done)
    return " ".join(done)


def _fields(line: str) -> list[str]:
    return re.sub(r"\s*,[\s,]*", ",", line).split()


def comes(line: str) -> bool:
    """There is a day that has the times of the canonical ``line``. The calendar repeats within 40 years, across 2100
    too, and cronsim looks 50 ahead."""
    try:
        return next(CronSim(line, datetime.combine(date(2000, 1, 1), time())), None) is not None
    except CronSimError:
        return False


def _miscounted(fields: list[str]) -> ScheduleError:
    count = len(fields)
    what = f"a cron line has 5 fields (minute, hour, day, month, weekday) and this has {count}"
    if count == 6 and fields[0].isdigit():
        what = (
            f"a cron line has 5 fields and this has 6: the first, {fields[0][:4]}, would be seconds, which are not kept"
        )
    return ScheduleError(what, " ".join(fields[1:]), " ".join(fields[:5]), " ".join([*fields, *["*"] * (5 - count)]))


def _never(fields: list[str]) -> ScheduleError:
    near = (" ".join([*fields[:2], day, *fields[3:]]) for day in ("L", "*"))
    return ScheduleError(f"{' '.join(fields)} never comes: no such month has that day", *near)


def _field(field: _Field, written: str) -> str:
    if written == "?" and field in (_DATE, _WEEKDAY):
        return "*"
    return ",".join(_item(field, item) for item in written.split(","))


def _item(field: _Field, item: str) -> str:
    if field is _DATE and item in ("l", "lw"):
        return item.upper()
    if field is _WEEKDAY and (ordinal := _ORDINAL.fullmatch(item)):
        return _nth(ordinal)
    if not (found := _ITEM.fullmatch(item)):
        raise Amiss(f"{quoted(item)} is no {field.name}: {_allowed(field)}", item)
    if found["star"]:
        return "*" + _step(field, found)
    return _range(field, found)


def _range(field: _Field, found: re.Match[str]) -> str:
    first = _value(field, found["first"])
    if found["last"] is None and found["step"] is None:
        return str(first % 7 if field is _WEEKDAY else first)
    end = 6 if field is _WEEKDAY else field.high
    last = _value(field, found["last"]) if found["last"] else max(end, first)
    if field is _WEEKDAY and last == 0 < first:
        last = 7
    if last < first:
        step = f"/{found['step']}" if found["step"] else ""
        instead = f"{first}-{end}{step},{field.low}-{last}{step}"
        raise Amiss(f"{found[0]} goes backwards in the field of the {field.name}", found[0], instead)
    step = _step(field, found)
    if first == last:  # a step from there, to cronsim, would lead to the field's end
        return str(first % 7 if field is _WEEKDAY else first)
    return f"{first}-{last}{step}"


def _step(field: _Field, found: re.Match[str]) -> str:
    if found["step"] is None:
        return ""
    step, most = int(found["step"]), field.high - field.low
    if step > most and (unit := {"minute": "m", "hour": "h", "day of the month": "d"}.get(field.name)):
        what = f"a step of {step} in the field of the {field.name} goes beyond its end: 1 to {most}"
        raise ScheduleError(what, f"every {step}{unit}")
    if not 1 <= step <= most:
        raise Amiss(
            f"a step of {step} in the field of the {field.name}: 1 to {most}",
            found["step"],
            str(min(max(step, 1), most)),
        )
    return f"/{step}"


def _value(field: _Field, written: str) -> int:
    if not written.isdigit():
        short = written[:3]
        if short not in field.names or not field.full[field.names.index(short)].startswith(written):
            raise Amiss(
                f"{quoted(written)} is no {field.name}: {_allowed(field)}", written, closest(written, field.names)
            )
        return field.low + field.names.index(short)
    number = int(written)
    if not field.low <= number <= field.high:
        nearest = 0 if number == 24 else min(max(number, field.low), field.high)
        raise Amiss(f"{number} is no {field.name}: {_allowed(field)}", written, str(nearest), str(field.high))
    return number


def _nth(ordinal: re.Match[str]) -> str:
    day = _value(_WEEKDAY, ordinal["day"]) % 7
    if ordinal["last"]:
        return f"{day}L"
    if not 1 <= int(ordinal["nth"]) <= 5:
        raise Amiss(f"a month has no {int(ordinal['nth'])}th {DAYS[day]}: # goes from 1 to 5", ordinal[0], f"{day}L")
    return f"{day}#{int(ordinal['nth'])}"


def _allowed(field: _Field) -> str:
    names = f", or {field.names[0]} to {field.names[-1]}" if field.names else ""
    return f"{field.low} to {field.high}{names}"
