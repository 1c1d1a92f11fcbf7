"""After a task that was worth it, its way is reviewed beside the conversation: a skill comes of it, or a patch, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hermes_kernel.core.learnt import SkillChanged
from hermes_kernel.core.messages import Observation
from hermes_kernel.testing import Request, Step, call, calls, forever, say
from tests.contracts.looks import LONG, Bench, Parts, bench, text_of, who

SKILL = {
    "name": "pricing-a-list",
    "action": "create",
    "description": "Prices every article of a list. Use when several prices are wanted.",
    "body": "# Pricing a list\n\n1. Look up each article.\n2. Pitfall: an unknown article raises; drop the prefix.\n",
}
SIX: list[Step] = [
    calls([("price", {"sku": "A1"}), ("price", {"sku": "A2"})]),
    call("price", {"sku": "bad-A3"}),
    call("price", {"sku": "A3"}),
    calls([("price", {"sku": "A4"}), ("price", {"sku": "A5"})]),
    say("Priced."),
]
OFFERED = {"skills_search", "skill_view", "skill_manage"}


def offered(request: Request) -> set[str]:
    return {made["function"]["name"] for made in request.body.get("tools", ())}


def changes(at: Bench) -> list[tuple[str, str, str]]:
    facts: list[Any] = [each.fact for each in at.chronicle.read(SkillChanged)]
    return [(fact.name, fact.action, fact.by) for fact in facts]


def seen(request: Request) -> str:
    return str(request.messages[-1]["content"])


async def test_a_task_of_six_calls_and_an_overcome_error_makes_exactly_one_skill(tmp_path: Path) -> None:
    review = [call("skills_search", {"query": "price list"}), call("skill_manage", SKILL), say("Created one.")]
    with bench(tmp_path, Parts(chat=[*SIX], review=review), nudge_every_turns=0) as (at, server):
        await at.ask("Price A1 to A5.")
        assert at.reflector.wait(LONG)
        (looked,) = at.looked("review")
        assert looked.wrote == ("skill pricing-a-list (create)",)
        assert looked.outcome == "completed"
        assert changes(at) == [("pricing-a-list", "create", "review")]
        assert at.library.get("pricing-a-list").origin == "agent"
        asked = [request for request in server.requests if who(request) == "review"]
        assert [offered(request) for request in asked] == [OFFERED] * 3
        told = text_of(asked[0])
        assert "an error of `price` was overcome" in told
        assert "there is no bad-A3" in told
        (spent,) = at.reflector.owed()
        assert (spent.what, spent.usage.calls) == ("skill review", 3)
        await at.aclose()


async def test_a_correction_where_a_skill_was_loaded_patches_that_skill(tmp_path: Path) -> None:
    patch = {"name": "pricing-a-list", "old": "Look up each article.", "new": "Look up each article, in EUR."}
    view = call("skill_view", {"name": "pricing-a-list"})
    chat = [*SIX, view, call("price", {"sku": "A1"}), say("In USD."), call("price", {"sku": "A1"}), say("In EUR.")]
    review = [call("skill_manage", SKILL), say("Created."), view, call("skill_manage", patch), say("Patched.")]
    with bench(tmp_path, Parts(chat=chat, review=review), nudge_every_turns=0) as (at, server):
        for tool in at.library.tools(lambda: at.session.turn.session_id):
            at.equipment.tools.add(tool)
        for prompt in ("Price A1 to A5.", "Price A1.", "No, I want prices in EUR."):
            await at.ask(prompt)
            assert at.reflector.wait(LONG)
        assert changes(at) == [("pricing-a-list", "create", "review"), ("pricing-a-list", "patch", "review")]
        assert "Look up each article, in EUR.\n2. Pitfall" in at.library.read("pricing-a-list")
        told = next(text_of(r) for r in reversed(server.requests) if who(r) == "review")
        assert "the person corrected what was done" in told
        assert "did not serve as they are: `pricing-a-list`. Patch" in told
        assert [looked.seen for looked in at.looked("review")] == [1, 3]
        await at.aclose()


async def test_one_look_changes_one_skill_and_puts_none_away(tmp_path: Path) -> None:
    second, away = SKILL | {"name": "pricing-again"}, {"name": "pricing-a-list", "action": "archive"}
    review = [call("skill_manage", each) for each in (SKILL, second, away)]
    with bench(tmp_path, Parts(chat=[*SIX], review=[*review, say("Done.")]), nudge_every_turns=0) as (at, _):
        await at.ask("Price A1 to A5.")
        assert at.reflector.wait(LONG)
        assert changes(at) == [("pricing-a-list", "create", "review")]
        (looked,) = at.looked("review")
        results = [m.text for m in at.side(looked).messages if isinstance(m, Observation)]
        assert "one is enough" in results[1]
        assert "puts no skill away" in results[2]
        await at.aclose()


async def test_a_skill_is_patched_only_after_this_very_look_has_read_it(tmp_path: Path) -> None:
    blind = {"name": "pricing-a-list", "old": "Look up each article.", "new": "Look up each."}
    create = [call("skill_manage", SKILL), say("Created.")]
    review = [*create, call("skill_manage", blind), say("Refused.")]
    with bench(tmp_path, Parts(chat=[*SIX, *SIX], review=review), nudge_every_turns=0) as (at, server):
        for _ in range(2):
            await at.ask("Price A1 to A5.")
            assert at.reflector.wait(LONG)
        assert len(changes(at)) == 1
        assert "skill_view" in seen(server.requests[-1])
        await at.aclose()


async def test_a_review_that_decides_for_nothing_writes_nothing_and_is_not_taken_twice(tmp_path: Path) -> None:
    with bench(tmp_path, Parts(chat=[*SIX, say("You are welcome.")]), nudge_every_turns=0) as (at, server):
        await at.ask("Price A1 to A5.")
        assert at.reflector.wait(LONG)
        await at.ask("Thank you.")
        assert at.reflector.wait(LONG)
        assert [looked.wrote for looked in at.looked("review")] == [()]
        assert [who(request) for request in server.requests].count("review") == 1
        await at.aclose()


async def test_where_a_person_is_asked_first_a_review_leaves_a_proposal(tmp_path: Path) -> None:
    review = [call("skill_manage", SKILL), say("Left it.")]
    with bench(tmp_path, Parts(chat=[*SIX], review=review), nudge_every_turns=0, skill_writes="ask") as (at, _):
        await at.ask("Price A1 to A5.")
        assert at.reflector.wait(LONG)
        assert changes(at) == []
        assert [(each.kind, each.by) for each in at.proposals.all()] == [("skill", "review")]
        await at.aclose()


async def test_a_review_that_never_comes_to_an_end_is_ended_by_its_lease(tmp_path: Path) -> None:
    script = Parts(chat=[*SIX], review=forever(call("skills_search", {"query": "anything"})))
    with bench(tmp_path, script, nudge_every_turns=0) as (at, server):
        await at.ask("Price A1 to A5.")
        assert at.reflector.wait(LONG)
        assert [who(request) for request in server.requests].count("review") == 12
        assert [looked.outcome for looked in at.looked("review")] == ["budget_exhausted"]
        await at.aclose()


async def test_a_task_with_which_a_nudge_is_due_too_has_both_one_after_the_other(tmp_path: Path) -> None:
    with bench(tmp_path, Parts(chat=[*SIX]), nudge_every_turns=1) as (at, server):
        await at.ask("Price A1 to A5.")
        assert [loop for loop, _ in at.due()] == ["nudge", "review"]
        assert at.reflector.wait(LONG)
        assert [who(request) for request in server.requests][-2:] == ["nudge", "review"]
        assert [spent.what for spent in at.reflector.owed()] == ["nudge", "skill review"]
        await at.aclose()


async def test_a_review_that_a_kernel_left_is_taken_by_the_next_which_finds_the_task_in_the_log(tmp_path: Path) -> None:
    from hermes_kernel.testing import stall

    review = [stall("Hm", after=1, seconds=float("inf")), call("skill_manage", SKILL), say("Created.")]
    with bench(tmp_path, Parts(chat=[*SIX, say("Hello.")], review=review), nudge_every_turns=0) as (at, server):
        await at.ask("Price A1 to A5.")
        assert server.await_requests(len(SIX) + 1)
        at.close()
        later = Bench(tmp_path, server.url, nudge_every_turns=0)
        await later.ask("Hello.")
        assert server.await_requests(len(SIX) + 4)
        assert later.reflector.wait(LONG)
        assert changes(later) == [("pricing-a-list", "create", "review")]
        assert [(looked.seen, looked.wrote) for looked in later.looked("review")] == [
            (1, ("skill pricing-a-list (create)",))
        ]
        await later.aclose()
