"""Wait hints in every place and unit; nonsense is no hint."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.hints import LONGEST_SECONDS, duration, used_up, wait_hint

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, "", 1.5),
        ({"retry-after": "7"}, "try again in 99s", 7.0),
        ({"retry-after": "0"}, "", 0.0),
        ({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, "", 30.0),
        ({"retry-after": "Fri, 15 Jan 2027 07:00:00 GMT"}, "", 0.0),
        ({"retry-after": "2m30s"}, "", 150.0),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "-5"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({"retry-after": "99999999"}, "", None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, "", 360.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}, "", 0.02),
        ({"x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "20s"}, "", None),
        ({"x-ratelimit-remaining-requests": "-1", "x-ratelimit-reset-requests": "20s"}, "", None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int((NOW + 12) * 1000))}, "", 12.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW + 12))}, "", 12.0),
        ({"x-ratelimit-remaining": "0"}, "", None),
        ({}, '[{"error": {"details": [{"retryDelay": "37s"}]}}]', 37.0),
        ({}, "on tokens per minute (TPM): Limit 15000, Used 11972. Please try again in 5.289s.", 5.289),
        ({}, "Please retry after 37 seconds.", 37.0),
        ({}, "Please try again in 1h2m3.5s.", 3723.5),
        ({}, "Try again in 20 minutes", 1200.0),
        ({}, "try again in 350 milliseconds", 0.35),
        ({}, "Please try again in 500ms", 0.5),
        ({}, "Quota resets in 2 hours and 5 mins.", 7500.0),
        ({}, '{"error": {"retry_after": 4.5}}', 4.5),
        ({}, "Retry-After: 12", 12.0),
        ({}, "maximum context length is 8192 tokens", None),
        ({}, "try again in 900 days", None),
        ({}, "try again later", None),
        ({}, "", None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers, body, seconds):
    hint = wait_hint(headers, body, NOW)
    assert hint == (pytest.approx(seconds) if seconds is not None else None)


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-remaining", "x-ratelimit-reset", "date"]),
        st.text(max_size=20),
    ),
    st.text(),
)
def test_a_hint_is_sane_or_none(headers, body):
    hint = wait_hint(headers, body, NOW)
    assert hint is None or 0 <= hint <= LONGEST_SECONDS


@settings(deadline=None)
@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999))
def test_durations_as_go_writes_them(hours, minutes, seconds, milliseconds):
    text = f"{hours}h{minutes}m{seconds}s{milliseconds}ms"
    assert duration(text, NOW) == pytest.approx(hours * 3600 + minutes * 60 + seconds + milliseconds / 1000)


def test_of_several_limits_that_are_used_up_the_longest_counts():
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "2s",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "9s",
    }
    assert used_up(headers, NOW) == 9.0
    assert duration("later", NOW) is None


DAY = 86_400.0


@pytest.mark.parametrize("wrong", [-DAY, -3600.0, 0.0, 3600.0, DAY, 400 * DAY])
def test_an_instant_is_one_of_the_servers_clock_whatever_ours_says(wrong: float) -> None:
    there = {"date": formatdate(NOW, usegmt=True)}
    dated = there | {"retry-after": formatdate(NOW + 30, usegmt=True)}
    limits = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": f"{NOW + 30:.0f}"}
    assert wait_hint(dated, "", NOW + wrong) == pytest.approx(30, abs=1)
    assert used_up(there | limits, NOW + wrong) == pytest.approx(30, abs=1)
    assert wait_hint(dated | {"date": "yesterday"}, "", NOW) == pytest.approx(30, abs=1)
