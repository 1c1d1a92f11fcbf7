"""Texts of schedules with what a person means by each, said by hand for the oracle; and their next five instants, which
stand in ``schedule_cases.txt`` to be read, one under the other as a clock shows them and in UTC.

``python -m tests.laws.schedule_cases`` writes that file anew from the oracle alone. Neither the grammar nor cronsim takes
part, so that what is written there is what they must come to.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.laws.schedule_oracle import (
    FRI,
    MON,
    SAT,
    SUN,
    THU,
    TUE,
    WED,
    After,
    Apart,
    Meaning,
    at,
    both,
    due,
    either,
    is_last,
    last_weekday,
    month,
    nth,
    often,
    once,
    week,
    year,
)  # fmt: skip

TABLE = Path(__file__).with_name("schedule_cases.txt")

ZURICH, NEW_YORK, LORD_HOWE = "Europe/Zurich", "America/New_York", "Australia/Lord_Howe"
TOKYO, HAVANA, SANTIAGO, CASABLANCA, KATHMANDU = (
    "Asia/Tokyo", "America/Havana", "America/Santiago", "Africa/Casablanca", "Asia/Kathmandu",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """What is due after ``now`` (UTC) by ``text``, which means ``meaning`` by clocks in ``zone``."""

    text: str
    meaning: Meaning
    now: str = "2026-12-01 12:00"
    zone: str = ZURICH
    given: str = ""
    """The zone of the machine, where the text names another."""

    @property
    def t(self) -> int:
        return int(datetime.fromisoformat(self.now).replace(tzinfo=UTC).timestamp())

    @property
    def title(self) -> str:
        return f"{self.text} | {self.zone} | after {self.now} UTC"

    @property
    def home(self) -> str:
        return self.given or self.zone


workday, weekend = week(MON, TUE, WED, THU, FRI), week(SAT, SUN)


def quarter(t):
    return t.minute % 15 == 0


# Clocks go forward and back: the two nights of three zones, from half a day before on. Each with a time that the night
# in spring leaves out and the one in autumn has twice.
NIGHTS = [
    (ZURICH, "2027-03-27 23:10", "02:30"),
    (ZURICH, "2027-10-30 22:10", "02:30"),
    (NEW_YORK, "2027-03-14 05:10", "02:30"),
    (NEW_YORK, "2027-11-07 04:10", "01:30"),
    (LORD_HOWE, "2027-10-02 14:10", "02:15"),
    (LORD_HOWE, "2027-04-03 13:10", "01:45"),
]


def night(zone: str, now: str, moved: str) -> list[Case]:
    hour, minute = (int(part) for part in moved.split(":"))
    fixed = [f"{each:02}:{half:02}" for each in (1, 2, 3) for half in (0, 30)]
    meanings = {
        f"every day at {moved}": at(moved),
        f"{minute} {hour} * * *": at(moved),
        f"every sunday at {moved}": at(moved, week(SUN)),
        "0,30 1-3 * * *": at(" ".join(fixed)),
        f"every hour at :{minute:02}": often(lambda t: t.minute == minute),
        "*/30 * * * *": often(lambda t: t.minute % 30 == 0),
        f"*/20 {hour} * * *": often(lambda t: t.hour == hour and t.minute % 20 == 0),
        "5 */2 * * *": often(lambda t: t.hour % 2 == 0 and t.minute == 5),
        "@hourly": often(lambda t: t.minute == 0),
        "every 90m": Apart(5_400),
    }
    return [Case(text, meaning, now, zone) for text, meaning in meanings.items()]


MIDNIGHTS = [  # where the day itself begins at one o'clock, or its first or last hour comes twice
    Case("@daily", at("00:00"), "2027-03-13 12:00", HAVANA),
    Case("30 0 * * sun", at("00:30", week(SUN)), "2027-03-13 12:00", HAVANA),
    Case("*/20 0 * * *", often(lambda t: t.hour == 0 and t.minute % 20 == 0), "2027-03-13 05:30", HAVANA),
    Case("@daily", at("00:00"), "2027-11-06 12:00", HAVANA),
    Case("*/20 0 * * *", often(lambda t: t.hour == 0 and t.minute % 20 == 0), "2027-11-07 03:30", HAVANA),
    Case("every day at midnight", at("00:00"), "2027-09-04 12:00", SANTIAGO),
    Case("every saturday at 23:30", at("23:30", week(SAT)), "2027-04-03 12:00", SANTIAGO),
    Case("*/15 23 * * *", often(lambda t: t.hour == 23 and quarter(t)), "2027-04-04 01:00", SANTIAGO),
    Case("0 3 * * *", at("03:00"), "2027-02-05 12:00", CASABLANCA),
    Case("30 2 * * *", at("02:30"), "2027-03-13 12:00", CASABLANCA),
    Case("0 12 * * *", at("12:00"), "2027-03-13 12:00", KATHMANDU),
]

LEAP_DAYS = [
    Case("every year on 29 february at 12:00", at("12:00", year(2, 29))),
    Case("0 0 29 2 *", at("00:00", year(2, 29)), "2094-01-01 00:00"),
    Case("every month on the last day at 18:00", at("18:00", is_last), "2028-01-31 18:00"),
    Case("0 18 L 2 *", at("18:00", both(is_last, lambda day: day.month == 2)), "2098-06-01 00:00"),
    Case("0 9 28-31 2 *", at("09:00", year(2, 28, 29, 30, 31)), "2027-01-01 00:00"),
    Case(
        "0 9 29 2 mon", at("09:00", both(lambda day: day.month == 2, either(month(29), week(MON)))), "2028-02-20 00:00"
    ),
    Case("0 9 29 2 */7", at("09:00", both(year(2, 29), week(SUN)))),
    Case("0 9 * 2 mon#5", at("09:00", both(lambda day: day.month == 2, nth(5, MON)))),
    Case("every day at 9", at("09:00"), "2028-02-27 12:00"),
    Case("every day at 9", at("09:00"), "2100-02-27 12:00"),
    Case("0 0 31 * *", at("00:00", month(31)), "2027-12-31 12:00"),
    Case("every month on the 30th at 8am", at("08:00", month(30)), "2028-01-29 00:00"),
]

PHRASES = [
    Case("every 2h", Apart(7_200)),
    Case("every 90 minutes", Apart(5_400)),
    Case("every 1h30m", Apart(5_400)),
    Case("Every  2  Weeks.", Apart(14 * 86_400)),
    Case("every hour", Apart(3_600)),
    Case("each minute", Apart(60)),
    Case("every 36 hours", Apart(36 * 3_600), "2027-03-27 12:00"),
    Case("every 1 day and 6 hours", Apart(30 * 3_600)),
    Case("hourly", often(lambda t: t.minute == 0)),
    Case("hourly at :45", often(lambda t: t.minute == 45)),
    Case("every hour at :00 and :20", often(lambda t: t.minute in (0, 20))),
    Case("every hour on weekdays", often(lambda t: t.minute == 0, workday), "2026-12-04 21:30"),
    Case("daily", at("00:00")),
    Case("weekly", at("00:00", week(SUN))),
    Case("monthly", at("00:00", month(1))),
    Case("yearly", at("00:00", year(1, 1))),
    Case("daily at 07:00", at("07:00")),
    Case("every day at 9", at("09:00")),
    Case("at 9:30 pm every day", at("21:30")),
    Case("EVERY DAY AT 12AM", at("00:00")),
    Case("every day at 12 p.m.", at("12:00")),
    Case("every day at 9 and 17", at("09:00 17:00")),
    Case("every monday 9am", at("09:00", week(MON))),
    Case("mondays at 9", at("09:00", week(MON))),
    Case("every mon, wed and fri at 9:30", at("09:30", week(MON, WED, FRI))),
    Case("every tuesday & thursday at 6 o'clock", at("06:00", week(TUE, THU))),
    Case("monday to thursday at 8", at("08:00", week(MON, TUE, WED, THU))),
    Case("fri-mon 9am", at("09:00", week(FRI, SAT, SUN, MON))),
    Case("every week on sunday at noon", at("12:00", week(SUN))),
    Case("every weekday at 18:30", at("18:30", workday)),
    Case("weekdays at midnight", at("00:00", workday)),
    Case("every weekend at noon", at("12:00", weekend)),
    Case("every month on the 1st at 07:00", at("07:00", month(1))),
    Case("every month on the 31st at 07:00", at("07:00", month(31))),
    Case("on the 1st and 15th at 9", at("09:00", month(1, 15))),
    Case("monthly on the 2nd at 8am", at("08:00", month(2))),
    Case("every first monday at 9am", at("09:00", nth(1, MON))),
    Case("every month on the first and third tuesday at 10:00", at("10:00", either(nth(1, TUE), nth(3, TUE)))),
    Case("every last friday of the month at 17:00", at("17:00", nth(0, FRI))),
    Case("every second wednesday of the month at 14:00", at("14:00", nth(2, WED))),
    Case("the 5th friday of every month at 9", at("09:00", nth(5, FRI))),
    Case("last weekday of the month at 16:00", at("16:00", last_weekday)),
    Case("every january 1st at 9am", at("09:00", year(1, 1))),
    Case("every 24 december at 18:00", at("18:00", year(12, 24))),
    Case("every year on the last day of february at 9", at("09:00", both(is_last, lambda day: day.month == 2))),
    Case("every monday in january and july at 9", at("09:00", both(week(MON), lambda day: day.month in (1, 7)))),
    Case("every day in february at 6am", at("06:00", lambda day: day.month == 2)),
]

ONCE = [
    Case("30m", After(1_800)),
    Case("2h", After(7_200)),
    Case("1d", After(86_400)),
    Case("1h30m", After(5_400)),
    Case("90s", After(90)),
    Case("2 weeks", After(14 * 86_400)),
    Case("1.5h", After(5_400)),
    Case("in 90 minutes", After(5_400)),
    Case("in an hour", After(3_600)),
    Case("in half an hour", After(1_800)),
    Case("in two days and 3 hours", After(51 * 3_600)),
    Case("1d", After(86_400), "2027-03-27 12:00"),
    Case("tomorrow at 9am", once("2026-12-02 09:00")),
    Case("today at 18:00", once("2026-12-01 18:00")),
    Case("at 9am", once("2026-12-02 09:00")),
    Case("at 17:30", once("2026-12-01 17:30")),
    Case("monday 9am", once("2026-12-07 09:00")),
    Case("tuesday at 18:00", once("2026-12-01 18:00")),
    Case("next tuesday at 18:00", once("2026-12-08 18:00")),
    Case("2026-12-24 18:00", once("2026-12-24 18:00")),
    Case("2026-12-24T18:00:00", once("2026-12-24 18:00")),
    Case("2026-12-24 at 6pm", once("2026-12-24 18:00")),
    Case("2026-12-24T18:00:00Z", once("2026-12-24 19:00")),
    Case("2026-12-24T18:00-05:00", once("2026-12-25 00:00")),
    Case("24 december at 18:00", once("2026-12-24 18:00")),
    Case("29 february at 9", once("2028-02-29 09:00")),
    Case("Jan 5th, 2027, 6:45 pm", once("2027-01-05 18:45")),
    Case("2027-10-31 02:30", once("2027-10-31 02:30")),
    Case("sunday at 02:30", once("2027-10-31 02:30"), "2027-10-28 00:00"),
]

CRON = [
    Case("0 9 * * *", at("09:00")),
    Case("* * * * *", often(lambda _: True)),
    Case("*/15 * * * *", often(quarter)),
    Case("5/20 * * * *", often(lambda t: t.minute in (5, 25, 45))),
    Case("0 9 * * MON-FRI", at("09:00", workday)),
    Case("0 9 * * fri-sun", at("09:00", week(FRI, SAT, SUN))),
    Case("30 18 * * 1,3,5", at("18:30", week(MON, WED, FRI))),
    Case("0 0 * * 7", at("00:00", week(SUN))),
    Case("0 0 1 JAN,jul *", at("00:00", lambda day: day.day == 1 and day.month in (1, 7))),
    Case("0 8-18/5 * * *", at("08:00 13:00 18:00")),
    Case("*/10 9-10 * * *", often(lambda t: t.hour in (9, 10) and t.minute % 10 == 0)),
    Case("0 9 L * *", at("09:00", is_last)),
    Case("0 9 LW * *", at("09:00", last_weekday)),
    Case("0 9 * * 5L", at("09:00", nth(0, FRI))),
    Case("0 9 * * TUE#2", at("09:00", nth(2, TUE))),
    Case("0 9 * * 1#1,1#3", at("09:00", either(nth(1, MON), nth(3, MON)))),
    Case("0 9 13 * 5", at("09:00", either(month(13), week(FRI)))),
    Case("0 9 13 * ?", at("09:00", month(13))),
    Case("0 9 */10 * mon", at("09:00", both(month(1, 11, 21, 31), week(MON)))),
    Case("0 9 1-7 * */7", at("09:00", both(month(*range(1, 8)), week(SUN)))),
    Case("15 10 ? * 6L", at("10:15", nth(0, SAT))),
    Case("@daily", at("00:00")),
    Case("@weekly", at("00:00", week(SUN))),
    Case("@Monthly", at("00:00", month(1))),
    Case("@annually", at("00:00", year(1, 1))),
]

ZONED = [
    Case("every day at 9 America/New_York", at("09:00"), zone=NEW_YORK, given=ZURICH),
    Case("every monday at 9 in asia/tokyo", at("09:00", week(MON)), zone=TOKYO, given=ZURICH),
    Case("every weekday at 18:30 (Australia/Lord_Howe)", at("18:30", workday), zone=LORD_HOWE, given=ZURICH),
    Case("daily at 07:00 UTC", at("07:00"), zone="UTC", given=ZURICH),
    Case("CRON_TZ=Asia/Tokyo 0 9 * * *", at("09:00"), zone=TOKYO, given=ZURICH),
    Case("TZ=america/new_york 30 2 * * *", at("02:30"), "2027-03-13 12:00", NEW_YORK, ZURICH),
    Case("0 9 * * * Asia/Kathmandu", at("09:00"), zone=KATHMANDU, given=ZURICH),
    Case("tomorrow at 9am Asia/Tokyo", once("2026-12-02 09:00"), zone=TOKYO, given=NEW_YORK),
    Case("2026-12-24 18:00 America/New_York", once("2026-12-24 18:00"), zone=NEW_YORK, given=ZURICH),
]

CASES = [
    *(case for zone, now, moved in NIGHTS for case in night(zone, now, moved)),
    *MIDNIGHTS, *LEAP_DAYS, *PHRASES, *ONCE, *CRON, *ZONED,
]  # fmt: skip


def line(t: float, zone: str) -> str:
    """``Mon 2026-12-07 09:00 +01:00 = 2026-12-07 08:00Z``."""
    here, there = (datetime.fromtimestamp(t, ZoneInfo(each)) for each in (zone, "UTC"))
    clock = "%H:%M:%S" if here.second else "%H:%M"  # 90 s from now
    offset = f"{here:%z}"
    return f"{here:%a %Y-%m-%d {clock}} {offset[:3]}:{offset[3:]} = {there:%Y-%m-%d {clock}}Z"


def expected() -> dict[str, list[str]]:
    """The lines of the table under each title."""
    found: dict[str, list[str]] = {}
    for block in TABLE.read_text(encoding="utf-8").split("\n\n"):
        title, *lines = [each for each in block.splitlines() if not each.startswith("#")]
        found[title] = [each.strip() for each in lines]
    return found


def of_oracle(case: Case) -> list[str]:
    return [line(t, case.zone) for t in due(case.meaning, case.zone, case.t, last=date(2400, 1, 1))]


def main() -> None:
    """Write the table as the oracle has it."""
    blocks = ["\n".join([case.title, *(f"  {each}" for each in of_oracle(case))]) for case in CASES]
    TABLE.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
