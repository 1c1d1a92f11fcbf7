"""Words that say again and again, as a cron line; refused by name where no line says it."""

from __future__ import annotations

from collections.abc import Iterable

from hermes_kernel.core.schedule.cronline import MACROS
from hermes_kernel.core.schedule.lexicon import DAYS, LAST, MONTHS, th
from hermes_kernel.core.schedule.when import ScheduleError
from hermes_kernel.core.schedule.words import Said, Time

NINE = Time(9, 0)
"""The time of day in what is proposed where none was given."""

ALONE = {name[1:]: line for name, line in MACROS.items() if name != "@midnight"}
"""What these words say when they are all there is: what cron's own say. ``midnight`` alone is a time, for once."""

EVERY_OTHER = {"minute": "every 2m", "hour": "every 2h", "day": "every 2d", "week": "every 2w", "month": "0 9 1 */2 *"}
"""What comes closest to every other one of these."""


def recurs(said: Said) -> bool:
    """It is not for once."""
    return (
        said.every
        or bool(said.unit or said.dates or said.nth or said.past)
        or (len(set(said.days)) > 1 or bool(said.ordinals and not said.months))
    )


def cron_line(said: Said) -> str:
    """The line of five fields that ``said`` means.

    Raises:
        ScheduleError: no line means that.
    """
    _single(said)
    _placed(said)
    _counted(said)
    _each(said)
    clock = _often(said) if said.unit in ("minute", "hour") or said.past else _at(said)
    return f"{clock} {_calendar(said)}"


def _single(said: Said) -> None:
    for part in (said.relative, said.coming, said.date or "", said.year or "", said.offset or "", "once" * said.once):
        if part:
            raise ScheduleError(
                f"{part} is for once, the rest is for again and again", f"{_days(said)} at {_time(said)}"
            )


def _placed(said: Said) -> None:
    """A number is a day of a month, or nothing that one could know."""
    if said.numbers and not (said.months or said.unit == "month"):
        number = said.numbers[0]
        raise ScheduleError(f"{number} of what?", f"{_days(said)} at {number % 24:02}:00", f"every {number}m")


def _counted(said: Said) -> None:
    """Every second monday: of the month, or every other?"""
    one = said.nth[0] if len(said.nth) == 1 and not said.days else None
    if said.other or (one and said.every and one[0] not in (LAST, 1) and not said.unit and not said.months):
        days = _days(said)
        of_month = f"every {one[0]}{th(one[0])} {DAYS[one[1]].lower()} of the month at {_time(said)}" if one else ""
        what = "every other day or week is said by no cron line, and an interval is counted from now"
        every_other = EVERY_OTHER.get(said.unit, "")
        raise ScheduleError(what, *filter(None, (of_month, every_other, f"{days} at {_time(said)}", "every 2w")))
    if said.unit != "month" and not said.months and said.dates and said.every and said.dates[0].isdigit():
        date = int(said.dates[0])
        raise ScheduleError(
            f"every {date}{th(date)} day: of the month, or counted from now?",
            f"every month on the {date}{th(date)} at {_time(said)}", f"every {date}d",
        )  # fmt: skip


def _each(said: Said) -> None:
    """What is counted is counted with ``every``, and all of it or some of it."""
    if said.unit in ("minute", "hour", "day", "week") and not said.every:
        raise ScheduleError(f"a {said.unit} by itself", f"every {said.unit}", f"every {said.unit} at {_time(said)}")
    if said.unit == "day" and (said.days or said.dates or said.nth or said.ordinals):
        raise ScheduleError(
            "every day, or on some days?", f"every day at {_time(said)}", f"{_proposed(said)} at {_time(said)}"
        )


def _often(said: Said) -> str:
    if said.times or (said.past and said.unit != "hour"):
        raise ScheduleError("minutes past the hour go with every hour, a time of the day with every day",
                            f"every hour at :{(said.past or (0,))[0]:02}", f"every day at {_time(said)}")  # fmt: skip
    return f"{_listed(said.past or (0,))} *" if said.unit == "hour" else "* *"


def _at(said: Said) -> str:
    if not said.times:
        raise ScheduleError("at what time of the day?", f"{_proposed(said)} at {NINE}", f"{_days(said)} at {NINE}")
    if any(time.second for time in said.times):
        raise ScheduleError("seconds are for once alone", f"{_days(said)} at {_time(said)}")
    minutes = {time.minute for time in said.times}
    if len(minutes) > 1:
        raise ScheduleError("times with different minutes are two schedules", f"{_days(said)} at {_time(said)}")
    return f"{minutes.pop()} {_listed(time.hour for time in said.times)}"


def _calendar(said: Said) -> str:
    dates = [*said.dates, *("L" if each == LAST else str(each) for each in (*said.ordinals, *said.numbers))]
    weekdays = [
        *map(str, sorted(set(said.days))),
        *(f"{day}L" if nth == LAST else f"{day}#{nth}" for nth, day in said.nth),
    ]
    if dates and weekdays:
        raise ScheduleError("a date and a day of the week: cron would take either", f"{_days(said)} at {_time(said)}")
    _specific(said, dated=bool(dates))
    week = ",".join(weekdays)
    return f"{','.join(dates) or '*'} {_listed(said.months) or '*'} { {'1,2,3,4,5': '1-5', '': '*'}.get(week, week) }"


def _specific(said: Said, *, dated: bool) -> None:
    """The unit that is counted has a day in it."""
    match said.unit:
        case "week" if not said.days or dated:
            raise ScheduleError("on which day of the week?", f"every monday at {_time(said)}")
        case "month" if not (dated or said.nth):
            near = f"every first {DAYS[said.days[0]].lower()} at" if said.days else "every month on the 1st at"
            raise ScheduleError(
                "on which day of the month?", f"{near} {_time(said)}", f"{_days(said)} at {_time(said)}"
            )
        case "year" if not (said.months and (dated or said.nth)):
            raise ScheduleError("on which day of the year?", f"{_proposed(said)} at {_time(said)}",
                                f"every year on january 1 at {_time(said)}")  # fmt: skip
        case _ if said.months and not (dated or said.nth or said.days or said.unit):
            month = MONTHS[said.months[0] - 1].lower()
            first, each = f"every {month} 1 at {_time(said)}", f"every day in {month} at {_time(said)}"
            raise ScheduleError("on which day of the month?", first, each)
        case _:
            pass


def _days(said: Said) -> str:
    """The days of ``said``, as a proposal begins."""
    days = dict.fromkeys((*said.days, *(day for _, day in said.nth)))
    return "every " + (" and ".join(DAYS[day].lower() for day in days) or "day")


def _proposed(said: Said) -> str:
    """The dates of ``said``, as a proposal begins."""
    if said.nth:
        nth, day = said.nth[0]
        return f"every {'last' if nth == LAST else f'{nth}{th(nth)}'} {DAYS[day].lower()} of the month"
    if said.days:
        return _days(said)
    dates = [
        date for date in (*map(str, (*said.ordinals, *said.numbers)), *said.dates) if date.isdigit() and date != "0"
    ]
    date = int(dates[0]) if dates else 1
    if said.months:
        return f"every year on {MONTHS[said.months[0] - 1].lower()} {date}"
    return _days(said) if said.unit == "day" or not (dates or said.unit) else f"every month on the {date}{th(date)}"


def _time(said: Said) -> Time:
    return Time(said.times[0].hour, said.times[0].minute) if said.times else NINE


def _listed(values: Iterable[int]) -> str:
    return ",".join(str(each) for each in sorted(set(values)))
