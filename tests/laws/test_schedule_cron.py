"""Any cron line, in any night in which clocks are moved, is due when a look at the clock in every minute says; and on
common days when croniter and dateutil say, too.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

import pytest
from croniter import croniter
from dateutil.rrule import DAILY, MONTHLY, WEEKLY, YEARLY, rrule
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.schedule.cronline import canonical
from hermes_kernel.core.schedule.grammar import parse, stored, text
from hermes_kernel.core.schedule.instants import instants, upcoming
from hermes_kernel.core.schedule.when import Cron, ScheduleError, Timed
from tests.laws.schedule_oracle import Fixed, Often, due

DAY = 86_400
# A zone, and midnight UTC of a day in whose neighbourhood its clocks are moved: by an hour, by half of one, at midnight.
MOVES = [
    ("Europe/Zurich", date(2027, 3, 28)), ("Europe/Zurich", date(2027, 10, 31)),
    ("America/New_York", date(2027, 3, 14)), ("America/New_York", date(2027, 11, 7)),
    ("Australia/Lord_Howe", date(2027, 4, 4)), ("Australia/Lord_Howe", date(2027, 10, 3)),
    ("America/Havana", date(2027, 3, 14)), ("America/Havana", date(2027, 11, 7)),
    ("America/Santiago", date(2027, 9, 5)), ("America/Santiago", date(2027, 4, 4)),
    ("Africa/Casablanca", date(2027, 2, 7)), ("Asia/Tokyo", date(2028, 2, 29)),
]  # fmt: skip


def field(low: int, high: int) -> st.SearchStrategy[tuple[str, frozenset[int]]]:
    """What may stand in a field, and what it means."""
    values = st.integers(low, high)
    every = st.just(("*", frozenset(range(low, high + 1))))
    steps = st.integers(1, high - low).map(lambda n: (f"*/{n}", frozenset(range(low, high + 1, n))))
    ranges = st.tuples(values, values, st.integers(1, 3)).map(sorted_range)
    lists = st.lists(values, min_size=1, max_size=4).map(lambda vs: (",".join(map(str, vs)), frozenset(vs)))
    return st.one_of(every, steps, ranges, lists)


def sorted_range(given: tuple[int, int, int]) -> tuple[str, frozenset[int]]:
    low, high = sorted(given[:2])
    step = min(given[2], max(high - low, 1))
    return f"{low}-{high}/{step}", frozenset(range(low, high + 1, step))


minutes, hours, dates, months, weekdays = field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6)
Fields = tuple[tuple[str, frozenset[int]], ...]


def meaning(fields: Fields) -> Fixed | Often:
    (minute, ms), (hour, hs), (dom, ds), (_, months), (dow, ws) = fields

    def days(day: date) -> bool:
        dated, weekly = day.day in ds, day.isoweekday() % 7 in ws
        either = dom[0] != "*" and dow[0] != "*"
        return day.month in months and (dated or weekly if either else dated and weekly)

    if minute.startswith("*") or hour.startswith("*"):
        return Often(days, lambda t: t.minute in ms and t.hour in hs)
    return Fixed(days, tuple(time(h, m) for h in sorted(hs) for m in sorted(ms)))


@settings(max_examples=120)
@given(minutes, hours, dates, weekdays, st.sampled_from(MOVES), st.integers(-14 * 60, 20 * 60))
def test_when_clocks_are_moved_it_is_due_as_a_look_at_the_clock_says(minute, hour, dom, dow, move, shift):
    zone, day = move
    now = (day - date(1970, 1, 1)).days * DAY + shift * 60
    fields = (minute, hour, dom, ("*", frozenset(range(1, 13))), dow)
    timed = Timed(Cron(canonical(" ".join(each for each, _ in fields))), zone)
    wanted = due(meaning(fields), zone, now, 8, last=day + timedelta(days=4))
    assert tuple(islice(instants(timed, since=now, after=now), len(wanted))) == wanted


@settings(max_examples=80)
@given(minutes, hours, st.sampled_from(MOVES), st.integers(-14 * 3_600, 20 * 3_600))
def test_whoever_asks_in_the_midst_of_a_night_hears_the_rest_of_it(minute, hour, move, shift):
    """The instants after any moment are those of the whole line that lie after it; and each is later than the last."""
    zone, day = move
    begin = (day - date(1970, 1, 1)).days * DAY - DAY
    timed = Timed(Cron(canonical(f"{minute[0]} {hour[0]} * * *")), zone)
    now = begin + DAY + shift + 0.5
    told = []
    for t in instants(timed, since=0, after=begin):
        told.append(t)
        if t > now + 3 * DAY:
            break
    assert told == sorted(set(told))
    rest = [t for t in told if t > now]
    assert list(islice(instants(timed, since=now, after=0), len(rest))) == rest


@pytest.mark.parametrize(
    ("line", "after", "due_at"),
    [  # in Zurich clocks show 02:00 to 02:59 at 00:00 to 00:59 UTC and again at 01:00 to 01:59
        ("30 2 * * *", "00:10", "2027-10-31 00:30"),
        ("30 2 * * *", "00:30", "2027-11-01 01:30"),
        ("30 2 * * *", "01:10", "2027-11-01 01:30"),
        ("0,30 2 * * *", "00:10", "2027-10-31 00:30"),
        ("*/30 2 * * *", "00:10", "2027-10-31 00:30"),
        ("*/30 2 * * *", "00:40", "2027-10-31 01:00"),
        ("*/30 2 * * *", "01:00", "2027-10-31 01:30"),
        ("*/30 2 * * *", "01:40", "2027-11-01 01:00"),
        ("10 * * * *", "00:40", "2027-10-31 01:10"),
    ],
)
def test_in_an_hour_that_comes_twice_what_is_fixed_ran_in_the_first(line: str, after: str, due_at: str):
    now = datetime.fromisoformat(f"2027-10-31 {after}+00:00").timestamp()
    found = next(instants(Timed(Cron(line), "Europe/Zurich"), since=now, after=now))
    assert f"{datetime.fromtimestamp(found, UTC):%Y-%m-%d %H:%M}" == due_at


def test_times_that_clocks_jump_over_run_once_when_they_have_jumped():
    now = datetime(2027, 3, 28, 0, 30, tzinfo=UTC).timestamp()
    told = upcoming(Timed(Cron("0,20,40 2,3 * * *"), "Europe/Zurich"), now=now, count=4)
    assert [f"{datetime.fromtimestamp(t, UTC):%H:%M}" for t in told] == ["01:00", "01:20", "01:40", "00:00"]


@settings(max_examples=200)
@given(minutes, hours, dates, months, weekdays, st.integers(1_700_000_000, 2_000_000_000))
def test_away_from_such_nights_croniter_agrees(minute, hour, dom, month, dow, now):
    if (dom[0][0] == "*" or dow[0][0] == "*") and not (dom[0] == "*" or dow[0] == "*"):
        return  # a star with a step beside the other field: Debian takes days that have both, croniter either
    line = " ".join(each for each, _ in (minute, hour, dom, month, dow))
    try:
        timed = parse(line, now=now, zone="UTC")
    except ScheduleError as error:
        assert "never comes" in error.what
        return
    theirs = croniter(text(timed.when), datetime.fromtimestamp(now, UTC))
    assert list(upcoming(timed, now=now, count=4)) == [theirs.get_next(float) for _ in range(4)]


@pytest.mark.parametrize(
    ("phrase", "rule"),
    [
        ("every day at 09:00", {"freq": DAILY}),
        ("every monday and friday at 9", {"freq": WEEKLY, "byweekday": (0, 4)}),
        ("every first monday at 9am", {"freq": MONTHLY, "byweekday": 0, "bysetpos": 1}),
        ("every last friday of the month at 9", {"freq": MONTHLY, "byweekday": 4, "bysetpos": -1}),
        ("every month on the last day at 9", {"freq": MONTHLY, "bymonthday": -1}),
        ("last weekday of the month at 9", {"freq": MONTHLY, "byweekday": range(5), "bysetpos": -1}),
        ("every month on the 31st at 9", {"freq": MONTHLY, "bymonthday": 31}),
        ("every year on 29 february at 9", {"freq": YEARLY, "bymonth": 2, "bymonthday": 29}),
        ("0 9 * 11 4#4", {"freq": YEARLY, "bymonth": 11, "byweekday": 3, "bysetpos": 4}),
    ],
)
def test_dates_of_a_calendar_are_those_of_dateutil(phrase: str, rule: dict):
    start = datetime(2026, 12, 1, 12, tzinfo=UTC)
    theirs = rrule(**rule, dtstart=start, byhour=9, byminute=0, bysecond=0, count=40)
    assert upcoming(parse(phrase, now=start.timestamp(), zone="UTC"), now=start.timestamp(), count=40) == tuple(
        each.timestamp() for each in theirs
    )


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("0 9 * * mon-fri", "0 9 * * 1-5"),
        ("0 9 * * SUNDAY", "0 9 * * 0"),
        ("0 9 * * 7", "0 9 * * 0"),
        ("0 9 * * fri-sun", "0 9 * * 5-7"),
        ("0 9 * * sat-7", "0 9 * * 6-7"),
        ("00 09 01 jan-mar ?", "0 9 1 1-3 *"),
        ("5/20 22/1 * * 2/2", "5-59/20 22-23/1 * * 2-6/2"),
        ("0 9 L,lw * *", "0 9 L,LW * *"),
        ("0 9 L 1 0", "0 9 L 1 0"),
        ("0 9 * * wedL,thursday#2,0#5", "0 9 * * 3L,4#2,0#5"),
        ("0, 30 9 * * 1 , 2", "0,30 9 * * 1,2"),
        ("5,*/10 9 * * *", "5,*/10 9 * * *"),
        ("59/7 9 31/1 12/1 7/1", "59 9 31 12 0"),
    ],
)
def test_a_line_is_kept_in_digits(written: str, kept: str):
    assert canonical(written.lower()) == kept
    assert canonical(kept.lower()) == kept
    assert stored(kept, "UTC").when == parse(written, now=0.0, zone="UTC").when == Cron(kept)
