"""What is worth remembering is asked beside the conversation, after the answer, and what came of it can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes_kernel.core.events import Opened
from hermes_kernel.errors import HermesError
from hermes_kernel.testing import FastClock, say
from tests.contracts.looks import KEY, LONG, Bench, Parts, bench, remember, text_of, who

ENTRY = "The person wants prices in EUR."


async def test_after_so_many_turns_it_is_asked_what_is_worth_keeping_and_that_is_remembered(tmp_path: Path) -> None:
    script = Parts(nudge=[remember(ENTRY, "user"), say("Kept one.")])
    with bench(tmp_path, script, nudge_every_turns=3) as (at, server):
        for n in range(3):
            assert at.due() == []
            await at.ask(f"question {n}")
        assert at.due() == [("nudge", "3 turns since the last look")]
        assert at.reflector.wait(LONG)
        assert at.memory.entries("user") == (ENTRY,)
        (looked,) = at.looked()
        assert (looked.session, looked.seen, looked.wrote) == (at.session.turn.session_id, 3, ("USER.md",))
        asked = [request for request in server.requests if who(request) == "nudge"]
        assert [f"question {n}" in text_of(asked[0]) for n in range(3)] == [True] * 3
        assert [[made["function"]["name"] for made in request.body["tools"]] for request in asked] == [["memory"]] * 2
        await at.aclose()


async def test_the_side_conversation_is_a_session_of_its_own_and_its_cost_is_owed_to_the_conversation(
    tmp_path: Path,
) -> None:
    script = Parts(nudge=[remember(ENTRY), say("Kept one.")])
    with bench(tmp_path, script, nudge_every_turns=1) as (at, _):
        await at.ask("a question")
        at.reflector.wait(LONG)
        (looked,) = at.looked()
        side = at.side(looked)
        opened = at.store.recall(looked.aside)[0]
        assert isinstance(opened, Opened)
        assert (opened.kind, opened.parent) == ("nudge", at.session.turn.session_id)
        assert (side.text, side.usage.calls) == ("Kept one.", 2)
        (spent,) = at.reflector.owed()
        assert (spent.usage, spent.what, spent.itemised) == (side.usage, "nudge", True)
        assert at.reflector.owed() == ()
        await at.aclose()


async def test_a_later_look_is_told_only_what_was_said_since_the_last(tmp_path: Path) -> None:
    with bench(tmp_path, Parts(), nudge_every_turns=2) as (at, server):
        for n in range(4):
            await at.ask(f"question {n}")
            at.reflector.wait(LONG)
        first, second = (text_of(request) for request in server.requests if who(request) == "nudge")
        assert ("question 1" in first, "question 2" in first) == (True, False)
        assert ("question 1" in second, "question 3" in second) == (False, True)
        await at.aclose()


async def test_a_conversation_left_idle_is_looked_at(tmp_path: Path) -> None:
    with bench(tmp_path, Parts(), clock=FastClock(), nudge_every_turns=10, nudge_seconds=600) as (at, server):
        await at.ask("the only question")
        assert server.await_requests(2)
        at.reflector.wait(LONG)
        assert [looked.seen for looked in at.looked()] == [1]
        assert at.due()[0][1].startswith("nothing was asked for")
        await at.aclose()


async def test_what_is_remembered_already_is_told_with_how_full_it_is(tmp_path: Path) -> None:
    script = Parts(nudge=[remember("Their data is in lake/."), say("Kept."), say("Nothing.")])
    with bench(tmp_path, script, nudge_every_turns=1, memory_chars=100) as (at, server):
        await at.ask("first")
        at.reflector.wait(LONG)
        await at.ask("second")
        at.reflector.wait(LONG)
        told = text_of(server.requests[-1])
        assert "memory (MEMORY.md) holds 23 of 100 characters:\n| Their data is in lake/." in told
        assert "user (USER.md) holds 0 of 1,375 characters: it is empty." in told
        await at.aclose()


async def test_where_memory_is_full_a_nudge_curates_it(tmp_path: Path) -> None:
    from hermes_kernel.testing import call

    curated = call("memory", {"action": "replace", "old": "first fact", "content": "Two facts, shortly."})
    steps = [remember("The first fact, said at length."), say("ok"), remember("Another fact that is as long."), curated]
    with bench(tmp_path, Parts(nudge=[*steps, say("Done.")]), nudge_every_turns=1, memory_chars=40) as (at, server):
        await at.ask("one")
        at.reflector.wait(LONG)
        await at.ask("two")
        at.reflector.wait(LONG)
        assert at.memory.entries("memory") == ("Two facts, shortly.",)
        refused = server.requests[-2].messages[-1]
        assert refused["role"] == "tool"
        assert "The first fact" in refused["content"], "it is shown what there is"
        await at.aclose()


async def test_where_a_person_is_asked_first_a_nudge_leaves_a_proposal_and_asks_nobody(tmp_path: Path) -> None:
    script = Parts(nudge=[remember(ENTRY), say("Left.")])
    with bench(tmp_path, script, nudge_every_turns=1, memory_writes="ask") as (at, _):
        await at.ask("one")
        at.reflector.wait(LONG)
        assert at.memory.entries("memory") == ()
        assert [(each.kind, each.by) for each in at.proposals.all()] == [("memory", "nudge")]
        await at.aclose()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"learning": False}, "learning is off"),
        ({"nudge_every_turns": 0}, "nudge_every_turns is 0"),
        ({"memory_writes": "off"}, "memory_writes is off"),
    ],
)
async def test_what_is_off_does_not_run_and_says_why(tmp_path: Path, settings: dict[str, object], why: str) -> None:
    with bench(tmp_path, Parts(), **({"nudge_every_turns": 1} | settings)) as (at, server):
        await at.ask("one")
        at.reflector.wait(LONG)
        assert [who(request) for request in server.requests] == ["chat"]
        assert at.due() == []
        nudge, _ = at.reflector.status()
        assert (nudge.off, nudge.next) == (why, "")
        await at.aclose()
        assert at.due() == []


async def test_a_person_can_ask_for_a_look_and_awaits_what_came_of_it(tmp_path: Path) -> None:
    script = Parts(nudge=[remember(ENTRY), say("Kept one.")])
    with bench(tmp_path, script, learning=False) as (at, _):
        with pytest.raises(HermesError, match="Nothing was said"):
            await at.reflector.look("nudge")
        await at.ask("one")
        looked = await at.reflector.look("nudge")
        assert (looked.wrote, looked.outcome, looked.why) == (("MEMORY.md",), "completed", "a person asked")
        assert [spent.what for spent in at.reflector.owed()] == ["nudge"]
        assert (await at.reflector.look("nudge")).wrote == (), "asked again, it looks at the last turn again"
        await at.aclose()


async def test_nothing_is_asked_for_where_nothing_may_be_written(tmp_path: Path) -> None:
    with bench(tmp_path, Parts(), memory_writes="off") as (at, server):
        await at.ask("one")
        with pytest.raises(HermesError, match="memory_writes is off"):
            await at.reflector.look("nudge")
        assert len(server.requests) == 1
        await at.aclose()


async def test_a_turn_that_was_taken_back_is_not_looked_at(tmp_path: Path) -> None:
    with bench(tmp_path, Parts(), nudge_every_turns=3) as (at, server):
        await at.ask("the first question")
        await at.ask("a slip of the tongue")
        at.session.undo(1)
        await at.ask("what was meant")
        at.reflector.wait(LONG)
        told = text_of(server.requests[-1])
        assert "slip of the tongue" not in told
        assert "what was meant" in told
        assert [looked.seen for looked in at.looked()] == [3], "turns are numbered as the log counts them"
        await at.aclose()


async def test_no_secret_is_told_nor_kept(tmp_path: Path) -> None:
    with bench(tmp_path, Parts(), nudge_every_turns=1) as (at, server):
        await at.ask(f"my key is {KEY}")
        at.reflector.wait(LONG)
        assert KEY not in str(server.requests[-1].body)
        (looked,) = at.looked()
        assert KEY not in repr(at.store.recall(looked.aside))
        await at.aclose()


async def test_how_it_stands_is_told(tmp_path: Path) -> None:
    with bench(tmp_path, Parts(), nudge_every_turns=2, nudge_seconds=0) as (at, _):
        nudge, review = at.reflector.status()
        assert (nudge.last, nudge.due, nudge.next) == (None, (), "after 2 more turns")
        assert review.next == "after a turn that is worth a skill"
        await at.ask("one")
        assert at.reflector.status()[0].next == "after 1 more turn"
        await at.ask("two")
        at.reflector.wait(LONG)
        nudge, _ = at.reflector.status()
        assert nudge.last is not None
        assert (nudge.last.fact.seen, nudge.running, nudge.due) == (2, "", ())
        await at.aclose()


async def test_what_another_kernel_left_is_looked_at_after_the_first_turn_and_no_more_than_a_few(
    tmp_path: Path,
) -> None:
    with bench(tmp_path, Parts(), nudge_every_turns=5) as (at, server):
        for n in range(5):
            await at.ask(f"left {n}")
            at.new()
        assert [why for _, why in at.due()] == ["the conversation was left"] * 5
        at.reflector.wait(LONG)
        assert at.looked() == []
        at.close()
        later = Bench(tmp_path, server.url, nudge_every_turns=5)
        await later.ask("here again")
        assert server.await_requests(5 + 1 + 3)
        later.reflector.wait(LONG)
        told = [text_of(request) for request in server.requests if who(request) == "nudge"]
        assert [f"left {n}" in text for n, text in zip((4, 3, 2), told, strict=True)] == [True] * 3
        assert len(later.looked()) == 3
        assert later.reflector.owed() == (), "another conversation's looks are not this one's to pay"
        await later.aclose()


async def test_a_conversation_that_somebody_is_in_is_left_to_them(tmp_path: Path) -> None:
    with bench(tmp_path, Parts(), nudge_every_turns=5) as (at, server):
        await at.ask("left")
        left = at.session.turn.session_id
        at.new()
        at.close()
        other = Bench(tmp_path, server.url, learning=False)
        other.session.load(left)
        later = Bench(tmp_path, server.url, nudge_every_turns=5)
        await later.ask("here again")
        later.reflector.wait(LONG)
        assert later.looked() == []
        await other.aclose()
        await later.aclose()
