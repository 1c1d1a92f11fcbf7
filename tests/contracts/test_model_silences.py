"""Where an answer was silent stands in the fact of it, by the clock that was injected; an answer that was not says
nothing of it."""

from __future__ import annotations

import time

import pytest

from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Failed, Replied, TextDelta
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import User
from hermes_kernel.core.plain import dump
from hermes_kernel.settings import Settings
from hermes_kernel.testing import Server, late, queued, refused_parameter, say, stall
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.model import OpenAIModel
from hermes_kernel.world.stop import Stop

ASK = CallModel((User("q"),))
FOREVER = float("inf")
SPEED = 10


class Quick(SystemClock):
    """Ten times as fast as the wall's: what a test waits for is a tenth of what is measured."""

    def elapsed(self) -> float:
        return time.monotonic() * SPEED


async def once(*steps, **settings):
    """The final event of one call. Looks are often enough for a clock so fast."""
    with Server(list(steps)) as server:
        url, patience = server.url, {"stale_seconds": 90, "queued_seconds": 0.1} | settings
        model = OpenAIModel(Settings(base_url=url, model="m", api_key="k", **patience), Quick())
        model.warm()
        events = [event async for event in model.reply(ASK, (), Stop())]
        await model.aclose()
    return events[-1], events


async def test_a_silence_within_an_answer_is_kept_with_its_place_and_its_length():
    final, _ = await once(late(stall("one two three", after=2, seconds=0.4), 0.1))
    assert isinstance(final, Replied)
    ((began, seconds),) = final.silences
    assert seconds == pytest.approx(4, abs=1.5)
    assert began == pytest.approx(final.first_byte_seconds, abs=1), "it stalled right after it had begun"
    assert began + seconds <= final.seconds + 0.1


async def test_what_is_said_before_another_request_counts_to_the_place_of_a_silence():
    late_lesson = late(refused_parameter("stream_options"), 0.2)
    final, _ = await once(late_lesson, stall("one two", after=1, seconds=0.4))
    ((began, _),) = final.silences
    assert began >= final.first_byte_seconds + 1.5, "the first request had taken two seconds"


async def test_the_silence_that_ended_a_call_is_kept():
    final, events = await once(stall("one two", after=1, seconds=FOREVER), stale_seconds=0.4)
    assert isinstance(final, Failed)
    assert final.fault is Fault.STALE_STREAM
    assert any(isinstance(event, TextDelta) for event in events)
    ((_, seconds),) = final.silences
    assert seconds == pytest.approx(4, abs=0.6)


async def test_being_queued_is_a_silence_too():
    final, _ = await once(queued(say("x"), 1.5, every=0.02), queued_seconds=90)
    ((began, seconds),) = final.silences
    assert began == pytest.approx(final.first_byte_seconds, abs=0.2)
    assert 10 <= seconds < 60, "of a clock ten times as fast as the loop's, which guards"


@pytest.mark.parametrize("step", [say("Hello there."), late(say("x"), 0.5), say(["a"] * 40, gap=0.01)])
async def test_an_answer_that_went_on_says_nothing_of_silences(step):
    final, _ = await once(step)
    assert "silences" not in dump(final), "the wait for the first byte is no silence within"
