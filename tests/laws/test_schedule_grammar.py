"""A schedule is printed and read back as it was; its instants lie ahead and only increase; it is always said in words."""

from __future__ import annotations

import math
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice, pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hermes_kernel.core.schedule import durations
from hermes_kernel.core.schedule.cronline import canonical
from hermes_kernel.core.schedule.grammar import parse, stored, text
from hermes_kernel.core.schedule.instants import END, instants, upcoming
from hermes_kernel.core.schedule.saying import moment, sentence
from hermes_kernel.core.schedule.when import At, Cron, Every, ScheduleError, Timed
from tests.laws.schedule_cases import ONCE, PHRASES, ZONED

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC).timestamp()

moments = st.floats(0, 4_102_444_800, allow_nan=False)
whole = st.integers(1, 7_258_118_400).map(float)
zones = st.sampled_from(
    [
        "UTC",
        "Europe/Zurich",
        "America/New_York",
        "Australia/Lord_Howe",
        "America/Havana",
        "Africa/Casablanca",
        "Asia/Kathmandu",
        "Pacific/Apia",
    ]
)
spans = st.integers(60, 3_155_760_000)


def items(low: int, high: int, *others: str) -> st.SearchStrategy[str]:
    values = st.integers(low, high)
    spanned = st.tuples(values, values).map(lambda pair: "{}-{}".format(*sorted(pair)))
    stepped = st.tuples(st.one_of(st.just("*"), values.map(str), spanned), st.integers(1, high - low)).map(
        "{0[0]}/{0[1]}".format
    )
    some = st.one_of(values.map(str), spanned, stepped, *([st.sampled_from(others)] if others else []))
    return st.one_of(st.just("*"), st.lists(some, min_size=1, max_size=3).map(",".join))


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A canonical line whose times come."""
    fields = (
        items(0, 59),
        items(0, 23),
        items(1, 31, "l", "lw"),
        items(1, 12, "feb", "dec"),
        items(0, 7, "mon#2", "5l", "sun", "0#5"),
    )
    with suppress(ScheduleError):
        return canonical(" ".join(draw(field) for field in fields))
    return draw(st.just("0 9 29 2 *"))


whens = st.one_of(whole.map(At), spans.map(Every), lines().map(Cron))
timeds = st.builds(Timed, whens, zones)


@given(timeds, moments)
@example(Timed(Cron("0 0 L,*/1 1 0"), "UTC"), 0.0)
@example(Timed(Cron("0 0 1,*/1 1 0"), "UTC"), 0.0)
def test_what_is_printed_is_read_back(timed: Timed, now: float):
    kept = text(timed.when)
    assert stored(kept, timed.zone) == timed
    if not isinstance(timed.when, At) or now < timed.when.t < now + 3e9:
        assert parse(kept, now=now, zone=timed.zone) == timed
        assert parse(f"  {kept.upper()} . ", now=now, zone=timed.zone) == timed


@pytest.mark.no_cover
@given(timeds, moments, moments)
def test_instants_lie_ahead_of_both_and_only_increase(timed: Timed, since: float, after: float):
    told = list(islice(instants(timed, since=since, after=after), 6))
    assert all(t > max(since, after) and t == int(t) for t in told)
    assert all(one < two for one, two in pairwise(told))
    if not isinstance(timed.when, At):
        assert len(told) == 6


@given(spans, moments, st.integers(0, 10**9))
def test_an_interval_is_counted_from_when_it_was_set(seconds: int, since: float, steps: int):
    timed = Timed(Every(seconds), "UTC")
    after = since + steps
    t = next(instants(timed, since=since, after=after))
    assert after < t <= after + seconds + 1
    assert (t - math.ceil(since)) % seconds == 0


@given(timeds, moments)
def test_it_is_always_said_on_one_line(timed: Timed, t: float):
    for said in (sentence(timed), moment(t, timed.zone)):
        assert said == said.strip()
        assert said.isprintable()
        assert len(said) < 600


@pytest.mark.parametrize("case", [*PHRASES, *ONCE, *ZONED], ids=lambda case: case.title)
def test_what_is_said_of_a_phrase_would_be_understood_as_that_phrase(case):
    timed = parse(case.text, now=case.t, zone=case.home)
    assert parse(sentence(timed), now=case.t, zone="UTC" if "(" in sentence(timed) else timed.zone) == timed


@given(spans)
def test_a_span_is_short_and_long_the_same(seconds: int):
    assert durations.seconds(durations.short(seconds)) == seconds
    assert durations.seconds(durations.spelt(seconds)) in (seconds, None)  # ``hour`` alone stands after ``every``
    assert parse(f"every {durations.spelt(seconds)}", now=NOW, zone="UTC").when == Every(seconds)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("30 18 * * 1-5", "every weekday at 18:30"),
        ("0 9 * * 1", "every Monday at 09:00"),
        ("0 12 * * 0,6", "every weekend at 12:00"),
        ("0 9,17 * * *", "every day at 09:00 and 17:00"),
        ("* * * * *", "every minute by the clock"),
        ("*/15 * * * *", "every 15 minutes by the clock"),
        ("*/7 * * * *", "every hour at :00, :07, :14, … and :56"),
        ("5 * * * *", "every hour at :05"),
        ("0 * * * 1-5", "every hour at :00, every weekday"),
        ("5 */2 * * *", "every 2 hours at :05"),
        ("*/10 9-17 * * 1-5", "every 10 minutes from 09:00 to 17:50, every weekday"),
        ("5 9-17 * * *", "every hour from 09:05 to 17:05"),
        ("5,35 9-17 * * *", "every hour from 09:05 to 17:35 at :05 and :35"),
        ("* 9,17 * * *", "every minute past 09 and 17 o'clock"),
        ("1,2,4 9,17,20 * * 1", "every Monday at :01, :02 and :04 past 09, 17 and 20 o'clock"),
        ("0 7 1,15 * *", "every month on the 1st and 15th at 07:00"),
        ("0 9 L * *", "every month on the last day at 09:00"),
        ("0 9 3,LW,L * *", "every month on the 3rd, last weekday and last day at 09:00"),
        ("0 12 29 2 *", "every year on 29 February at 12:00"),
        ("0 0 1 1,7 *", "every year on the 1st of January and July at 00:00"),
        ("0 9 L 2 *", "every year on the last day of February at 09:00"),
        ("0 9 * 1 *", "every day in January at 09:00"),
        ("0 9 * 1,7 1", "every Monday in January and July at 09:00"),
        ("0 9 * * 1#1,5L", "every first Monday of the month and last Friday of the month at 09:00"),
        ("0 9 13 * 5", "every month on the 13th, and every Friday at 09:00"),
        (
            "0 9 13 2,3 5",
            "every year on the 13th of February and March, and every Friday in February and March at 09:00",
        ),
        ("0 9 */10 * 1", "every Monday that is the 1st, 11th, 21st and 31st of a month at 09:00"),
        ("0 9 29 2 */7", "every Sunday that is the 29th of February at 09:00"),
    ],
)
def test_a_line_is_said_as_a_person_would(line: str, said: str):
    assert sentence(Timed(Cron(line), "Europe/Zurich")) == f"{said} (Europe/Zurich)"


def test_a_time_for_once_and_an_interval_are_said():
    assert sentence(Timed(At(NOW), "Europe/Zurich")) == "once, on Tue 1 Dec 2026 at 13:00 (Europe/Zurich)"
    assert sentence(Timed(At(NOW + 30), "UTC")) == "once, on Tue 1 Dec 2026 at 12:00:30 (UTC)"
    assert [sentence(Timed(Every(n), "UTC")) for n in (3_600, 5_400, 1_209_600)] == [
        "every hour", "every 1 hour and 30 minutes", "every 2 weeks",
    ]  # fmt: skip
    assert moment(1_796_630_400.0, "Europe/Zurich") == "Mon 7 Dec 2026 09:00 CET"
    assert moment(1_796_630_430.0, "Asia/Kathmandu") == "Mon 7 Dec 2026 13:45:30 +0545"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../UTC", "Europe"])
def test_in_a_zone_that_is_not_known_here_a_time_is_said_in_utc(zone: str):
    assert moment(1_796_630_400.0, zone) == "Mon 7 Dec 2026 08:00 UTC"


def test_what_is_for_once_is_over_after_it():
    timed = Timed(At(NOW), "UTC")
    assert list(instants(timed, since=0, after=NOW - 1)) == [NOW]
    assert list(instants(timed, since=0, after=NOW)) == []
    assert upcoming(timed, now=NOW) == ()


def test_a_fraction_of_a_second_is_waited_for():
    assert parse("30m", now=NOW + 0.001, zone="UTC").when == At(NOW + 1_801)


def test_the_calendar_ends_without_an_error():
    for when in (Cron("* * * * *"), Cron("0 0 29 2 *"), Every(60), At(END - 60)):
        assert len(list(islice(instants(Timed(when, "UTC"), since=0, after=END - 61), 9))) <= 1
        assert list(instants(Timed(when, "Asia/Tokyo"), since=0, after=END + 1)) == []
        assert list(instants(Timed(when, "UTC"), since=math.inf, after=0)) == []


@given(st.sampled_from([case.text for case in PHRASES]), st.sampled_from(["", ".", " . ", ",", ";"]), st.booleans())
def test_case_spaces_and_a_full_stop_change_nothing(phrase: str, end: str, upper: bool):
    shouted = "   ".join((phrase.upper() if upper else phrase).split()) + end
    assert parse(shouted, now=NOW, zone="UTC") == parse(phrase, now=NOW, zone="UTC")


@pytest.mark.no_cover
@given(lines(), moments)
def test_a_line_that_was_taken_has_times(line: str, now: float):
    assume(now < END)
    assert upcoming(Timed(Cron(line), "UTC"), now=now, count=1)
