"""What is no schedule is refused by name, with a valid form beside it; whatever the text is."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_kernel.core.schedule.grammar import parse, stored
from hermes_kernel.core.schedule.lexicon import WORDS
from hermes_kernel.core.schedule.when import ScheduleError, Timed

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC).timestamp()  # a Tuesday, 13:00 in Zurich
ZURICH = "Europe/Zurich"


def read(text: str, now: float = NOW) -> Timed:
    return parse(text, now=now, zone=ZURICH)


def proposed(error: ScheduleError) -> list[str]:
    return re.findall("`([^`]*)`", str(error))


# A text, a part of what is said of it, and the form that is proposed first.
REFUSED = [
    ("", "an empty schedule", "every monday at 09:00"),
    (" \t . ", "an empty schedule", "every monday at 09:00"),
    ("x" * 10_000, "10,000 characters", "every monday at 09:00"),
    ("every 0m", "every 0m is too often", "every 1m"),
    ("every 30s", "every 30s is too often", "every 1m"),
    ("every 59 seconds", "at most once in 60 seconds", "every 1m"),
    ("0m", "that is now", "in 1m"),
    ("in 99999999 weeks", "more than 100 years", "in 52w"),
    ("every 99999999 weeks", "more than 100 years", "every 52w"),
    ("30", "30 of what?", "in 30m"),
    ("every 9", "9 of what?", "every day at 09:00"),
    ("1.0001h", "no part of a schedule", None),
    ("every 1.001m", "“1.001m” is no part of a schedule", None),
    ("every first weekday of the month at 9", "“weekday” after an ordinal", "every first monday of the month at 9"),
    ("2026-12-24 december 25 at 9", "two dates", "2026-12-24 at 09:00"),
    ("2027 at 9", "on which day of 2027?", "2027-12-24 09:00"),
    ("day at 9", "a day by itself", "every day at 09:00"),
    ("every day on the 1st at 9", "on some days?", "every day at 09:00"),
    ("every 3 months on the 1st at 9", "3 months", "0 9 1 */3 *"),
    ("in 2 months", "2 months", "in 60d"),
    ("every 2 weeks on monday", "an interval of 2 weeks", "every 2w"),
    ("every 2h on weekdays", "knows no “on weekdays”", "every 2h"),
    ("every 2 days at 9", "knows no “at 9”", "every 2d"),
    ("every other tuesday at 9", "every other", "every tuesday at 09:00"),
    ("every second monday at 9", "every other", "every 2nd monday of the month at 09:00"),
    ("every 2nd day at 9", "counted from now?", "every month on the 2nd at 09:00"),
    ("every monday", "at what time of the day?", "every monday at 09:00"),
    ("every january 5", "at what time of the day?", "every year on january 5 at 09:00"),
    ("every first monday", "at what time of the day?", "every 1st monday of the month at 09:00"),
    ("on the 15th", "at what time of the day?", "every month on the 15th at 09:00"),
    ("tomorrow", "at what time of the day?", "tomorrow at 09:00"),
    ("friday", "at what time of the day?", "friday at 09:00"),
    ("2026-12-24", "at what time of the day?", "2026-12-24 at 09:00"),
    ("24 december", "at what time of the day?", "december 24 at 09:00"),
    ("every month at 9", "on which day of the month?", "every month on the 1st at 09:00"),
    ("every month on monday at 9", "on which day of the month?", "every first monday at 09:00"),
    ("every week at 9", "on which day of the week?", "every monday at 09:00"),
    ("every year at 9", "on which day of the year?", "every year on january 1 at 09:00"),
    ("every january at 9", "on which day of the month?", "every january 1 at 09:00"),
    ("january at 9", "on which day?", "january 1 at 09:00"),
    ("every 25:00", "“25:00” is no time", "every 01:00"),
    ("every day at 9:75", "“9:75” is no time", "every day at 09:59"),
    ("every day at 13pm", "1 to 12 stand before am and pm", "every day at 13:00"),
    ("every hour at :75", ":75 is no minute", "every hour at :59"),
    ("at :15", "minutes past the hour go with every hour", "every hour at :15"),
    ("every hour at 9:15", "minutes past the hour", "every hour at :00"),
    ("every day at 9:30 and 17:00", "different minutes", "every day at 09:30"),
    ("every day at 9:00:30", "seconds are for once", "every day at 09:00"),
    ("every day from 9 to 17", "“from” is said by a cron line alone", "*/30 9-16 * * 1-5"),
    ("every day 9am-5pm", "a span", "0 9-17 * * 1-5"),
    ("every friday 13th at 9", "cron would take either", "every friday at 09:00"),
    ("tomorrow every day at 9", "for once", "every day at 09:00"),
    ("every dya at 9", "“dya” is no word", "every day at 9"),
    ("evry monday at 9", "“evry” is no word", "every monday at 9"),
    ("every mondya at 9", "“mondya” is no word", "every monday at 9"),
    ("every weekday morning", "“morning” is no word", "every weekday at 09:00"),
    ("every morning", "“morning” is no word", "every day at 09:00"),
    ("kindly every monday at 9", "“kindly” is no word", "every monday at 9"),
    ("every afternoon at 3pm", "“afternoon” is no word", "every day at 3pm"),
    ("every day at 9 Zurich", "“zurich” is no word", "every day at 9"),
    ("once a day", "“once” is for once: again and again is said with “every”", "every day at 09:00"),
    ("once a month", "“once” is for once", "every month on the 1st at 09:00"),
    ("1.2.2027", "“1.2.2027” is no part", "2027-2-1 at 09:00"),
    ("dayly", "“dayly” is no word", "daily"),
    ("morning", "“morning” is no word", "every monday at 09:00"),
    ("every weekday 18h30", "“18h30” is no part", "every weekday 18:30"),
    ("every weekday at 18h", "“18h” is no part", "every weekday at 18:00"),
    ("31.12.2026 18:00", "“31.12.2026” is no part", "2026-12-31 18:00"),
    ("every hour between 9 and 17", "“between” is said by a cron line alone", "0 9-17 * * *"),
    ("every hour until 17", "“until” is said by a cron line alone", "*/30 9-16 * * 1-5"),
    ("every other day at 9", "every other", "every 2d"),
    ("every other month on the 1st at 9", "every other", "0 9 1 */2 *"),
    ("every other hour", "every other", "every 2h"),
    ("jeden montag um 9", "“jeden” is no word", None),
    ("tomorrow at 9 and 17", "two times", "tomorrow at 09:00"),
    ("next at 9", "next what?", "next monday at 09:00"),
    ("tomorrow monday at 9", "never comes", "tomorrow at 09:00"),
    ("2020-01-01 09:00", "2020-01-01 09:00 has passed", "2027-01-01 09:00"),
    ("2026-12-01T12:00:00Z", "2026-12-01 13:00 has passed", "tomorrow at 13:00"),
    ("2026-12-01 09:00", "has passed", "tomorrow at 09:00"),
    ("today at 9", "has passed", "tomorrow at 09:00"),
    ("9999-12-31 09:00", "more than 100 years ahead", "tomorrow at 09:00"),
    ("2026-13-01 09:00", "no day of the calendar", "2026-12-31 09:00"),
    ("2027-02-30 09:00", "no day of the calendar", "2027-02-28 09:00"),
    ("31 february at 9", "never comes", "february 29 at 09:00"),
    ("2027-03-28 02:30", "does not exist in Europe/Zurich: clocks go forward over it, to 03:00", "2027-03-28 03:00"),
    ("2026-12-24 09:00 +99:00", "no offset", "2026-12-24 09:00 z"),
    ("tomorrow at 9:00 +02:00", "an offset from UTC goes with a date", "tomorrow at 09:00 utc"),
    ("0 9 31 2 *", "0 9 31 2 * never comes", "0 9 L 2 *"),
    ("0 9 30 2 *", "never comes", "0 9 L 2 *"),
    ("0 9 31 4,6,9,11 *", "never comes", "0 9 L 4,6,9,11 *"),
    ("61 * * * *", "61 is no minute: 0 to 59", "59 * * * *"),
    ("0 24 * * *", "24 is no hour: 0 to 23", "0 0 * * *"),
    ("0 9 0 * *", "0 is no day of the month: 1 to 31", "0 9 1 * *"),
    ("0 9 1 13 *", "13 is no month", "0 9 1 12 *"),
    ("0 9 * * 8", "8 is no day of the week: 0 to 7, or sun to sat", "0 9 * * 7"),
    ("0 9 * * mom", "“mom” is no day of the week", "0 9 * * mon"),
    ("0 9 * * monkey", "“monkey” is no day of the week", None),
    ("*/90 * * * *", "a step of 90", "every 90m"),
    ("0 */36 * * *", "a step of 36", "every 36h"),
    ("*/0 * * * *", "a step of 0", "*/1 * * * *"),
    ("0 22-6 * * *", "22-6 goes backwards", "0 22-23,0-6 * * *"),
    ("0 9 * * fri-mon", "fri-mon goes backwards", "0 9 * * 5-6,0-1"),
    ("0 9 * * 1#6", "a month has no 6th Monday", "0 9 * * 1L"),
    ("0 9 15W * *", "“15w” is no day of the month", None),
    ("0 0 9 * * *", "the first, 0, would be seconds", "0 9 * * *"),
    ("0 9 * * * *", "this has 6", "9 * * * *"),
    ("0 9 * *", "this has 4", "0 9 * * *"),
    ("0 9 * * * on weekdays", "this has 7", "0 9 * * *"),
    ("@reboot", "“@reboot” is none of @hourly", "@daily"),
    ("@dayly", "is none of", "@daily"),
    ("@every 2h", "is none of", "every 2h"),
    ("every day at 9 Europe/Zürich", "only the letters a to z", None),
    ("every day at 9 Europe/Zuric", "“europe/zuric” is no time zone", "every day at 9 Europe/Zurich"),
    ("every day at 9 in Tokio", "“tokio” is no time zone", "every day at 9 Asia/Tokyo"),
    ("every day at 9 in new york", "“new york” is no time zone", "every day at 9 America/New_York"),
    ("every day at 9am PST", "“pst” is no time zone", "every day at 9am America/Los_Angeles"),
    ("every day at 9 UTC+2", "“utc+2” is no time zone", "every day at 9 Etc/GMT-2"),
    ("TZ=Mars/Olympus 0 9 * * *", "“mars/olympus” is no time zone", None),
    ("every 0m Asia/Tokyo", "too often", "every 1m Asia/Tokyo"),
    ("٣٠m", "only the letters a to z, the digits 0 to 9", None),
    ("毎日9時", "only the letters a to z", None),
    ("every day\x00 at 9", "only the letters a to z", None),
    ("every day at 9; rm -rf /", "“;” is no part of a schedule", None),
    ("<script>alert(1)</script>", "“<script>alert(1)</script>” is no part of a schedule", None),
    ("`every day at 9`", "“'every” is no part of a schedule", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said", "near"), REFUSED, ids=lambda value: str(value)[:40])
def test_it_is_refused_by_name_with_the_nearest_form(text: str, said: str, near: str | None):
    with pytest.raises(ScheduleError) as caught:
        read(text)
    error = caught.value
    assert said in error.what
    assert len(str(error).splitlines()) <= 2
    assert len(error.what) < 200
    forms = proposed(error)
    assert near is None or near in forms
    assert forms
    for form in forms:
        assert read(form)


# Half of a valid text, and half of anything.
words = st.sampled_from(
    [
        *WORDS,
        *[
            "0",
            "9",
            "9am",
            "17:30",
            ":15",
            "*/5",
            "1st",
            "3rd",
            "L",
            "5L",
            "1-5",
            "2026-12-24",
            "T",
            "Z",
            "+01:00",
            "30m",
            "2h",
            "@daily",
            "tz=",
            ",",
            "-",
            ".",
            "(",
            ")",
            "utc",
            "Europe/Zurich",
            "asia/tokyo",
        ],
    ]
)
texts = st.one_of(
    st.text(max_size=30),
    st.lists(words, max_size=9).map(" ".join),
    st.lists(st.one_of(words, st.text(max_size=4)), max_size=9).map("".join),
)


@given(texts)
@example("`")
@example("every 2h `rm`")
@example("0 9 * * 1 \ud800")
@example("9999-99-99 99:99:99.999")
@example("0000-01-01 00:00")
@example("december 0 at 9")
@example("in " + "9" * 150 + "h")
@example("0 9 * * " + "1," * 80 + "1")
@example("every 999th at 9")
@example("99999 december at 9")
def test_any_text_is_a_schedule_or_an_error_that_proposes_what_is_one(text: str):
    try:
        timed = read(text)
    except ScheduleError as error:
        assert len(str(error).splitlines()) <= 2
        assert str(error).isascii() or all(each.isprintable() or each == "\n" for each in str(error))
        for form in proposed(error):
            assert read(form)
    else:
        assert timed.zone


@given(texts)
def test_what_was_kept_is_read_or_refused(text: str):
    for zone in (ZURICH, text):
        with suppress(ScheduleError):
            assert stored(text, zone).zone == zone


def test_a_zone_that_is_none_is_refused_with_those_that_are_alike():
    with pytest.raises(ScheduleError, match="“Europe/Zurch” is no time zone; Europe/Zurich would be"):
        parse("every day at 9", now=NOW, zone="Europe/Zurch")
    with pytest.raises(ScheduleError, match="is no time zone; Europe/Zurich or UTC would be"):
        stored("every 2h", "/etc/passwd")
