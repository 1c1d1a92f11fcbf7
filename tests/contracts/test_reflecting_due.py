"""What is due in the conversation at hand, as turns come and go; and what is never begun where it would be in the way."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hermes_kernel.core.events import Asked, Compressing, Opened, Undone
from hermes_kernel.core.learnt import Learnt, LookDue
from hermes_kernel.core.turn import Turn, recall
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.reflecting.watch import Watch
from hermes_kernel.settings import Settings
from hermes_kernel.testing import say, stall
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.store import StoreError
from tests.contracts.looks import LONG, Bench, Parts, bench, who
from tests.laws.test_triggers import WORK, facts

SETTINGS = Settings(nudge_every_turns=10, nudge_seconds=600)


def told(session: str, *turns: object) -> Turn:
    return recall([Opened(session), *(fact for each in turns for fact in each)])  # type: ignore[attr-defined]


def wants(watch: Watch, turn: Turn, now: float = 0.0) -> list[tuple[str, str, str]]:
    return [(want.loop, want.session, want.why) for want in watch.over(turn, now, SETTINGS)]


def test_a_turn_is_counted_once_however_often_it_is_told() -> None:
    watch, turn = Watch(), told("a", facts("one"))
    for _ in range(20):
        assert wants(watch, turn) == []
    assert watch.turns == 1


def test_a_turn_that_is_not_over_is_not_counted() -> None:
    watch = Watch()
    assert wants(watch, recall([Opened("a"), Asked("one")])) == []
    assert wants(watch, recall([Opened("a")])) == []
    assert watch.turns == 0


def test_so_many_seconds_after_the_last_look_the_next_is_due() -> None:
    watch = Watch()
    assert wants(watch, told("a", facts("one")), 1_000.0) == []
    assert wants(watch, told("a", facts("one"), facts("two")), 1_600.0) == [
        ("nudge", "a", "600 s since the last look")
    ]  # fmt: skip
    assert wants(watch, told("a", facts("one"), facts("two"), facts("three")), 1_700.0) == []


def test_while_prompts_come_a_conversation_is_not_idle() -> None:
    watch = Watch()
    list(watch.over(told("a", facts("one")), 1_000.0, SETTINGS))
    assert list(watch.idle(1_599.0, SETTINGS)) == []
    assert [want.why for want in watch.idle(1_600.0, SETTINGS)] == ["nothing was asked for 600 s"]
    assert list(watch.idle(9_999.0, SETTINGS)) == []


def test_before_a_conversation_is_compressed_it_is_looked_at() -> None:
    watch = Watch()
    filling = [*facts("one")[:-1], Compressing(900), facts("one")[-1]]
    assert wants(watch, told("a", filling)) == [("nudge", "a", "the conversation is being compressed")]


def test_what_was_not_seen_of_a_conversation_that_goes_on_elsewhere_is_looked_at_where_it_was() -> None:
    watch = Watch()
    wants(watch, told("a", facts("one")))
    assert wants(watch, told("b", facts("two"))) == [("nudge", "a", "the conversation was compressed")]
    assert watch.line == {"a", "b"}
    assert wants(watch, told("c", facts("three"))) == [("nudge", "b", "the conversation was compressed")]


def test_a_turn_that_was_taken_back_and_asked_anew_is_a_correction() -> None:
    watch = Watch()
    assert wants(watch, told("a", facts("the mean", *WORK[:1]))) == []
    again = told("a", facts("the mean", *WORK[:1]), [Undone()], facts("the median", *WORK[:1]))
    assert wants(watch, again) == [("review", "a", "the person corrected what was done")]


async def test_with_a_model_that_answers_one_call_at_a_time_no_look_is_begun_by_itself(tmp_path: Path) -> None:
    at = Bench(tmp_path, "local:", nudge_every_turns=1)
    at.said(*facts("clean it", *WORK))
    assert at.due() == []
    nudge, review = at.reflector.status()
    assert "one call at a time" in nudge.off
    assert "aux_model" in review.off
    at.reflector.close()
    at.equipment.configure({"aux_model": "other@http://127.0.0.1:9/v1"})
    assert [each.off for each in at.reflector.status()] == ["", ""]
    await at.aclose()


async def test_a_look_that_a_person_asked_for_gives_way_to_a_prompt_on_such_a_model(tmp_path: Path) -> None:
    script = Parts(nudge=[stall("Hm", after=1, seconds=float("inf")), say("Nothing.")])
    with bench(tmp_path, script, learning=False, solitary=True) as (at, server):
        await at.ask("first")
        asked = asyncio.ensure_future(at.reflector.look("nudge"))
        assert await asyncio.to_thread(server.await_requests, 2)
        await at.ask("second")
        with pytest.raises(HermesError, match="cut"):
            await asked
        with at.reflector.giving_way(), pytest.raises(HermesError, match="cut"):
            await at.reflector.look("nudge")
        assert [who(request) for request in server.requests] == ["chat", "nudge", "chat"], "nor is one begun in a turn"
        assert (await at.reflector.look("nudge")).seen == 2
        await at.aclose()


async def test_side_work_goes_to_the_model_for_side_work(tmp_path: Path) -> None:
    with bench(tmp_path, Parts(), nudge_every_turns=1, aux_model="aside") as (at, server):
        await at.ask("one")
        assert at.reflector.wait(LONG)
        assert [(who(r), r.body["model"]) for r in server.requests] == [("chat", "scripted"), ("nudge", "aside")]
        await at.aclose()


async def test_a_conversation_that_is_left_or_closed_is_due_for_whoever_comes_later(tmp_path: Path) -> None:
    with bench(tmp_path, Parts(), nudge_every_turns=10) as (at, _):
        await at.ask("one")
        first = at.session.turn.session_id
        at.new()
        at.new()
        await at.ask("two")
        second = at.session.turn.session_id
        at.reflector.close()
        at.reflector.close()
        due = [each.fact for each in at.chronicle.read(LookDue)]
        assert [(fact.session, fact.why) for fact in due if isinstance(fact, LookDue)] == [
            (first, "the conversation was left"), (second, "the conversation was left"),
        ]  # fmt: skip
        await at.aclose()


async def test_no_look_begins_by_itself_in_a_recording_and_all_are_taken_after_it(tmp_path: Path) -> None:
    tape = tmp_path / "x.cassette.jsonl"
    with bench(tmp_path, Parts(), nudge_every_turns=10) as (before, server):
        await before.ask("of another notebook")
        await before.aclose()
        at = Bench(tmp_path, server.url, nudge_every_turns=1, record=str(tape))
        await at.ask("one")
        assert at.reflector.wait(LONG)
        assert {who(request) for request in server.requests} == {"chat"}
        assert at.reflector.status()[0].off == "record is on"
        at.equipment.configure({"record": ""})
        await at.ask("two")
        async with asyncio.timeout(LONG):
            while len(at.looked()) < 2:
                await asyncio.sleep(0.01)
        assert sum(looked.seen for looked in at.looked()) == 3, "nothing of what was said stays unseen"
        assert "another notebook" not in tape.read_text("utf-8")
        await at.aclose()


async def test_a_look_that_was_cut_is_not_taken_up_in_a_recording(tmp_path: Path) -> None:
    tape = tmp_path / "x.cassette.jsonl"
    script = Parts(nudge=[stall("Hm", after=1, seconds=float("inf")), say("Nothing.")])
    with bench(tmp_path, script, nudge_every_turns=1, solitary=True) as (at, server):
        await at.ask("one")
        assert await asyncio.to_thread(server.await_requests, 2)
        at.equipment.configure({"record": str(tape)})
        await at.ask("two")
        assert at.reflector.wait(LONG)
        assert [who(request) for request in server.requests] == ["chat", "nudge", "chat"]
        assert tape.read_text("utf-8").count('"request"') == 1
        await at.aclose()


async def test_a_conversation_that_was_deleted_is_not_due_any_more(tmp_path: Path) -> None:
    with bench(tmp_path, Parts(), nudge_every_turns=10) as (at, server):
        at.chronicle.record(LookDue("nudge", "0" * 32, "the conversation was left"))
        later = Bench(tmp_path, server.url, nudge_every_turns=10)
        await later.ask("one")
        async with asyncio.timeout(LONG):
            while not later.looked():
                await asyncio.sleep(0.01)
        (looked,) = later.looked()
        assert (looked.outcome, looked.why) == ("skipped", "nothing is left to look at")
        assert [who(request) for request in server.requests] == ["chat"]
        await later.aclose()


class Full(Chronicle):
    """One on a disk that is full."""

    def record(self, *_: Learnt) -> None:
        raise StoreError("the disk is full")


async def test_where_nothing_can_be_recorded_a_turn_is_over_all_the_same(tmp_path: Path) -> None:
    with bench(tmp_path, Parts(), nudge_every_turns=1, chronicle=Full) as (at, _):
        assert (await at.ask("one")).text == "Done."
        assert at.reflector.wait(LONG)
        assert at.reflector.status()[0].trouble == "the disk is full"
        await at.aclose()
