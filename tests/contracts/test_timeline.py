"""What a person reads of when a turn did what is what happened: with a real store, and once with a real agent and server."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from hermes_kernel import Agent, HermesError, tool
from hermes_kernel.core.events import (
    Approved,
    Asked,
    Compressed,
    Compressing,
    Continued,
    Failed,
    Final,
    Leased,
    Observed,
    Opened,
    Outcome,
    Replied,
    Retrying,
    Returned,
    Started,
    Undone,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import ToolCall, Usage
from hermes_kernel.looking.timeline import of_all, of_turn, played
from hermes_kernel.testing import Server, call, calls, late, say, stall, status
from hermes_kernel.view.charts.waterfall import timeline_html, timeline_text
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.store import Store

USED = Usage(1, 1_000, 50)
DONE = Final(Outcome.COMPLETED, "Done.")


class Hand(SystemClock):
    """A clock whose hands a test puts where it wants them."""

    t = 1_000_000.0

    def now(self) -> float:
        return self.t


class Log:
    """A real store, in which facts are written down at the seconds that are given."""

    def __init__(self, home: Path) -> None:
        self._clock = Hand()
        self.store = Store(home, clock=self._clock)

    def write(self, session: str, *facts: tuple[float, Any]) -> None:
        for at, fact in facts:
            self._clock.t = Hand.t + at
            self.store.append(session, fact)


@pytest.fixture
def log(tmp_path: Path) -> Any:
    made = Log(tmp_path / "home")
    yield made
    made.store.close()


def reply(*names: str, seconds: float = 2.0, **more: Any) -> Replied:
    made = tuple(ToolCall(name, name, "{}") for name in names)
    return Replied("x", made, usage=USED, seconds=seconds, **more)


def rows(told: Any) -> list[tuple[str, float, float]]:
    """What was shown when."""
    return [(span.name, round(span.began, 1), round(span.seconds, 1)) for span in told.spans]


def test_calls_waits_and_tools_stand_where_they_were_and_tools_side_by_side(log: Log) -> None:
    log.write(
        "a1",
        (0, Opened("a1")), (0, Asked("Count.")),
        (4, Failed(Fault.STALE_STREAM, "the stream was silent", seconds=4, silences=((1.0, 3.0),))),
        (4, Retrying(1, 3, 5.0, Fault.STALE_STREAM)),
        (12, reply("left", "right", seconds=3.0, first_byte_seconds=1.0, silences=((1.5, 1.0),))),
        (12, Started("left")), (12, Started("right")),
        (14, Observed("right", "2", ok=False, seconds=2.0)), (17, Observed("left", "1", seconds=5.0)),
        (19, reply()), (19, DONE),
    )  # fmt: skip
    told = of_turn(log.store, played(log.store, "a1"))
    assert rows(told) == [
        ("failed call: stale stream", 0, 4), ("wait before asking again", 4, 5), ("call 1", 9, 3),
        ("left", 12, 5), ("right", 12, 2), ("call 2", 17, 2),
    ]  # fmt: skip
    first, call_1 = told.spans[0], told.spans[2]
    assert [(mark.what, mark.began, mark.seconds) for mark in first.marks] == [("failed", 0, 1), ("silence", 1, 3)]
    assert [(mark.what, mark.seconds) for mark in call_1.marks] == [
        ("wait", 1.0), ("text", 0.5), ("silence", 1.0), ("text", 0.5)
    ]  # fmt: skip
    assert told.seconds == 19
    assert told.title == "turn 1: Count."
    assert told.about == "19.0 s · completed · 2 calls, 1 failed call, 2 tools, 1 wait"
    text, page = timeline_text(told), timeline_html(told)
    for words in ("left", "5.0 s", "1 of 3 · stale stream", "silent 3.0 s", "failed"):
        assert words in text
        assert words in page
    lines = text.splitlines()
    left, right = (next(line for line in lines if line.startswith(name)) for name in ("left", "right"))
    assert left.index("▬") == right.index("▬"), "they began together"
    assert left.count("▬") > 2 * right.count("▬")


def test_a_wait_that_was_cut_short_ends_where_the_next_call_begins(log: Log) -> None:
    log.write(
        "a1",
        (0, Opened("a1")), (0, Asked("Go.")), (1, Failed(Fault.RATE_LIMIT, seconds=1)),
        (1, Retrying(1, 3, 60.0, Fault.RATE_LIMIT)), (6, reply(seconds=2.0)), (6, DONE),
    )  # fmt: skip
    assert rows(of_turn(log.store, played(log.store, "a1")))[1] == ("wait before asking again", 1, 3)


def test_a_reply_that_the_output_limit_cut_says_so_and_the_call_that_goes_on_follows(log: Log) -> None:
    log.write(
        "a1",
        (0, Opened("a1")), (0, Asked("Go.")), (2, reply(finish=Finish.LENGTH)), (5, reply(seconds=3.0)), (5, DONE),
    )  # fmt: skip
    told = of_turn(log.store, played(log.store, "a1"))
    assert rows(told) == [("call 1", 0, 2), ("call 2", 2, 3)]
    assert [("cut off by the output limit" in span.note) for span in told.spans] == [True, False]


def test_the_last_turn_is_the_last_that_stands(log: Log) -> None:
    log.write("a1", (0, Opened("a1")), (0, Asked("One.")), (2, reply()), (2, DONE))
    log.write("a1", (3, Asked("Wrong.")), (5, reply()), (5, DONE), (6, Undone()))
    assert of_turn(log.store, played(log.store, "a1")).title == "turn 1: One."
    log.write("a1", (7, Undone()))
    assert of_turn(log.store, played(log.store, "a1")).title == "taken back: Wrong."


def test_what_waited_for_a_person_is_no_tool_at_work(log: Log) -> None:
    log.write(
        "a1",
        (0, Opened("a1")), (0, Asked("Go.")), (2, reply("terminal")), (9, Approved("terminal", True, "person")),
        (9, Started("terminal")), (10, Observed("terminal", "ok", seconds=1)), (12, reply()), (12, DONE),
    )  # fmt: skip
    told = of_turn(log.store, played(log.store, "a1"))
    assert rows(told)[1:3] == [("waited for you: terminal", 2, 7), ("terminal", 9, 1)]
    assert told.spans[1].note == "allowed by person (once)"


def test_a_subagent_has_its_own_work_below_it_and_what_is_deeper_is_counted(log: Log) -> None:
    log.write(
        "a1",
        (0, Opened("a1")), (0, Asked("Go.")), (2, reply("delegate")), (2, Started("delegate")),
        (3, Leased("c1", 9, "look around", "delegate")),
    )  # fmt: skip
    log.write(
        "c1",
        (3, Opened("c1", kind="subagent", parent="a1")), (3, Asked("look around")), (5, reply("peek")),
        (5, Started("peek")), (5, Leased("d1", 2, "deeper", "peek")), (6, Returned("d1", 1, Outcome.COMPLETED)),
        (7, Observed("peek", "ok", seconds=2.0)), (9, reply()), (9, DONE),
    )  # fmt: skip
    log.write(
        "a1",
        (9, Returned("c1", 3, Outcome.COMPLETED)), (9, Observed("delegate", "seen", seconds=7.0)),
        (11, reply()), (11, DONE),
    )  # fmt: skip
    told = of_turn(log.store, played(log.store, "a1"))
    assert [(span.depth, span.name, round(span.began), round(span.seconds)) for span in told.spans] == [
        (0, "call 1", 0, 2), (0, "delegate", 2, 7), (0, "look around", 3, 6), (1, "call 1", 3, 2), (1, "peek", 5, 2),
        (1, "deeper", 5, 1), (1, "call 2", 7, 2), (0, "call 2", 9, 2),
    ]  # fmt: skip
    assert told.spans[2].note == "completed · 3 of 9 calls · 1 subagent of its own"
    assert "2 calls, 1 tool, 1 subagent" in told.about, "what is inside a subagent is counted there"


def test_a_summary_beside_the_turn_lasts_from_when_it_was_begun(log: Log) -> None:
    log.write(
        "a1",
        (0, Opened("a1")), (0, Asked("Go.")), (2, reply("x")), (2, Compressing(9_000)), (3, Observed("x", "ok")),
        (5, Compressed((), 9_000, 2_000, "summary")), (7, reply()), (7, DONE),
    )  # fmt: skip
    told = of_turn(log.store, played(log.store, "a1"))
    assert ("compression", 2, 3) in rows(told)
    assert "9,000 → 2,000 tokens" in timeline_text(told)


def test_a_conversation_is_one_across_its_sessions_and_turns_that_were_taken_back_have_no_number(log: Log) -> None:
    log.write("a1", (0, Opened("a1")), (0, Asked("One.")), (2, reply()), (2, DONE))
    log.write("a1", (100, Asked("Wrong.")), (103, reply(seconds=3.0)), (103, DONE), (110, Undone()))
    log.write("b1", (500, Opened("b1", parent="a1")), (500, Asked("Two.")), (504, reply(seconds=4.0)), (504, DONE))
    log.write("a1", (500, Continued("b1")))
    found = played(log.store, "b1")
    assert [(play.number, play.prompt) for play in found] == [(1, "One."), (0, "Wrong."), (2, "Two.")]
    told = of_all(found, "b1")
    assert [(span.name, round(span.began), round(span.seconds)) for span in told.spans] == [
        ("turn 1: One.", 0, 2), ("call 1", 0, 2), ("taken back: Wrong.", 2, 3), ("call 1", 2, 3),
        ("turn 2: Two.", 5, 4), ("call 1", 5, 4),
    ]  # fmt: skip
    assert told.note == "Time between turns is left out."
    assert rows(of_turn(log.store, found, 2)) == [("call 1", 0, 4)]
    with pytest.raises(HermesError, match=r"There is no turn 3: this conversation has 2 turns\."):
        of_turn(log.store, found, 3)


def test_a_turn_that_is_being_played_is_shown_as_far_as_it_is_known(log: Log) -> None:
    log.write("a1", (0, Opened("a1")), (0, Asked("Go.")), (2, reply("nap", "sip")), (2, Started("nap")))
    log.write("a1", (3, Started("sip")), (5, Observed("sip", "ok", seconds=2.0)))
    told = of_turn(log.store, played(log.store, "a1"))
    assert rows(told) == [("call 1", 0, 2), ("nap", 2, 3), ("sip", 3, 2)]
    assert told.spans[1].note == "not finished"
    assert "5.0 s · not finished" in told.about


def test_a_session_of_5_000_calls_is_read_soon_and_stays_small(log: Log) -> None:
    for turn in range(100):
        calls_made = [fact for _ in range(50) for fact in (reply("x"), Started("x"), Observed("x", "ok", seconds=2.0))]
        log.write("a1", (100.0 * turn, Asked(f"prompt {turn} <b>")))
        log.store.append("a1", *calls_made)
        log.write("a1", (100.0 * turn + 90, DONE))
    began = time.process_time()  # others may have the machine meanwhile
    found = played(log.store, "a1")
    page = timeline_html(of_all(found, "a1"))
    assert time.process_time() - began < 10, "1 s on a quiet machine"
    assert len(page) < 50_000
    assert "100 turns, several in a row" in page
    assert len(timeline_html(of_turn(log.store, found, 7))) < 50_000


# --- a turn as it is really played ------------------------------------------------------------------------------------

SPEED = 10


class Quick(SystemClock):
    """Ten times as fast as the wall's."""

    def now(self) -> float:
        return self.elapsed()

    def elapsed(self) -> float:
        return time.monotonic() * SPEED

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / SPEED)


@tool
async def nap(name: str) -> str:
    """Sleep for a while."""
    await asyncio.sleep(0.2)
    return name


def script(request: Any) -> Any:
    """A failure; two naps at once; a subagent that naps, too; an answer that stalls."""
    said = [message["role"] for message in request.messages]
    if "You are a subagent" in str(request.messages[0]):
        return say("Seen.") if "tool" in said else call("nap", {"name": "inside"})
    match said.count("tool"):
        case 0 if script.fails:  # type: ignore[attr-defined]
            script.fails = False  # type: ignore[attr-defined]
            return status(503, "overloaded")
        case 0:
            return calls([("nap", {"name": "one"}), ("nap", {"name": "two"})])
        case 2:
            return late(call("delegate", {"tasks": ["look"]}), 0.1)
        case _:
            return stall("one two", after=1, seconds=0.4)


async def test_what_an_agent_did_is_what_its_timeline_says(tmp_path: Path) -> None:
    script.fails = True  # type: ignore[attr-defined]
    with Server(script) as server:
        options = {"base_url": server.url, "api_key": "k", "retry_base_seconds": 3, "queued_seconds": 0.1}
        agent = Agent("scripted", [nap], home=tmp_path / "home", clock=Quick(), learning="off", **options)
        turn = await agent.ask("Go.")
        assert turn.outcome == "completed", turn.reason
        told = of_turn(agent.store, played(agent.store, agent.session_id))  # type: ignore[arg-type]
        agent.close()
    names = [(span.depth, span.what, span.name) for span in told.spans]
    assert names == [
        (0, "failed", "failed call: overloaded"), (0, "pause", "wait before asking again"), (0, "text", "call 1"),
        (0, "tool", "nap: one"), (0, "tool", "nap: two"), (0, "text", "call 2"), (0, "tool", "delegate: look"),
        (0, "agent", "look"), (1, "text", "call 1"), (1, "tool", "nap: inside"), (1, "text", "call 2"),
        (0, "text", "call 3"),
    ]  # fmt: skip
    by_name = {span.name: span for span in told.spans if not span.depth}
    one, two, last = by_name["nap: one"], by_name["nap: two"], by_name["call 3"]
    assert min(one.ended, two.ended) - max(one.began, two.began) > 1, "side by side"
    assert 2 <= by_name["wait before asking again"].seconds <= 5
    (silence,) = [mark for mark in last.marks if mark.what == "silence"]
    assert silence.seconds == pytest.approx(4, abs=2)
    inside = [span for span in told.spans if span.depth]
    assert all(by_name["look"].began - 0.2 <= span.began <= by_name["look"].ended for span in inside)
    assert told.seconds == pytest.approx(max(span.ended for span in told.spans))
    assert all(first.began <= second.began for first, second in zip(told.spans, told.spans[1:], strict=False))
