"""Words that say again and again, as a cron line; refused by name where no line says it."""

from __future__ import annotations

from hermes_kernel.core.schedule.when import ScheduleError
from hermes_kernel.core.schedule.words import DAY_NAMES, LAST, MONTH_NAMES, Said, Time

NINE = Time(9, 0)  # the time of day in what is proposed where none was given

_DEFAULT = {"hour": "0 * * * *", "day": "0 0 * * *", "week": "0 0 * * 0", "month": "0 0 1 * *", "year": "0 0 1 1 *"}


def cron_line(said: Said, *, adverb: bool) -> str:
    """The line of five fields that ``said`` means. ``adverb``: it is ``daily`` and its like, alone.

    Raises:
        ScheduleError: no line means that.
    """
    if said.other:
        raise ScheduleError("every other day or week is not said by a cron line", "every 2 weeks", "every 2 days")
    if adverb:
        return _DEFAULT[said.unit]
    if said.unit == "hour":
        return _hourly(said)
    return f"{_clock(said)} {_calendar(said)}"


def _hourly(said: Said) -> str:
    if said.times or said.days or said.dates or not said.past:
        raise ScheduleError("every hour has minutes, no times of day", "every hour at :15", "every 1h")
    return f"{_listed(said.past)} * * * *"


def _clock(said: Said) -> str:
    if not said.times:
        raise ScheduleError("at what time of the day?", f"{_days(said)} at {NINE}")
    minutes = {time.minute for time in said.times}
    if len(minutes) > 1:
        raise ScheduleError(
            "times of different minutes are not said by one schedule; make two", f"{_days(said)} at {said.times[0]}"
        )
    return f"{minutes.pop()} {_listed(time.hour for time in said.times)}"


def _calendar(said: Said) -> str:
    dates = _dates(said)
    weekdays = [*(str(day) for day in sorted(set(said.days))), *(_nth(*pair) for pair in said.nth)]
    if dates and weekdays:
        raise ScheduleError(
            "a date and a day of the week: cron would take either",
            f"every {DAY_NAMES[said.days[0] if said.days else said.nth[0][1]]} at {said.times[0]}",
        )
    if said.unit in ("month", "year", "week") and not (dates or weekdays):
        raise ScheduleError(f"on which day of the {said.unit}?", *_which(said))
    if said.months and not (dates or weekdays or said.unit == "day"):
        raise ScheduleError(
            "on which day of the month?", f"every {MONTH_NAMES[said.months[0] - 1]} 1st at {said.times[0]}"
        )
    if said.unit == "year" and dates and not said.months:
        raise ScheduleError(
            "in which month?",
            f"every year on january {dates[0].lower() if dates[0].isdigit() else 1} at {said.times[0]}",
        )
    month = _listed(said.months) if said.months else "*"
    return f"{','.join(dates) or '*'} {month} {_spans(weekdays)}"


def _dates(said: Said) -> list[str]:
    if said.numbers and not (said.months or said.unit == "month"):
        number = said.numbers[0]
        raise ScheduleError(f"what is {number}?", f"{_days(said)} at {number % 24:02}:00", f"every {number}m")
    days = [LAST_DAY if each == LAST else str(each) for each in (*said.ordinals, *said.numbers)]
    return [*said.dates, *days]


LAST_DAY = "L"


def _which(said: Said) -> tuple[str, ...]:
    time = said.times[0]
    match said.unit:
        case "week":
            return (f"every monday at {time}",)
        case "month":
            return (f"every month on the 1st at {time}",)
        case _:
            return (f"every year on january 1 at {time}",)


def _days(said: Said) -> str:
    """The days of ``said``, as a beginning for what is proposed."""
    if said.days:
        return "every " + " and ".join(DAY_NAMES[day] for day in dict.fromkeys(said.days))
    return "every day"


def _nth(nth: int, day: int) -> str:
    return f"{day}L" if nth == LAST else f"{day}#{nth}"


def _spans(days: list[str]) -> str:
    return {"1,2,3,4,5": "1-5", "0,1,2,3,4,5,6": "*", "": "*"}.get(line := ",".join(days), line)


def _listed(values: object) -> str:
    return ",".join(str(each) for each in sorted(set(values)))  # type: ignore[call-overload]
