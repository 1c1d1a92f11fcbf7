"""A process is killed in the middle of a nudge or a review: nothing is lost, nothing is halved, nothing is done twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_kernel.core.events import Asked, Replied
from hermes_kernel.core.learnt import LookDue, SkillChanged
from hermes_kernel.testing import Server, call, say, stall
from tests.contracts.looks import LONG, Bench, Parts, remember, who
from tests.contracts.test_reflecting_skills import SIX, SKILL
from tests.kill.nursery import Nursery, nursery

ENTRY = "The person wants prices in EUR."
HANGS = stall("Hm", after=1, seconds=float("inf"))


@pytest.fixture(scope="module")
def children() -> Iterator[Nursery]:
    with nursery("tests.kill.looks:child") as children:
        yield children


@pytest.mark.slow
@pytest.mark.parametrize("written", [False, True], ids=["before it wrote", "after it wrote"])
@pytest.mark.parametrize("loop", ["nudge", "review"])
def test_a_look_that_was_killed_is_taken_again_once_and_its_cost_is_known(
    children: Nursery, tmp_path: Path, loop: str, written: bool
) -> None:
    writes = remember(ENTRY) if loop == "nudge" else call("skill_manage", SKILL)
    steps = {"nudge": [say("Nothing.")], "review": [say("Nothing.")]}
    steps[loop] = [*([writes] if written else []), HANGS, *([] if written else [writes]), say("Done.")]
    script = Parts(chat=[*SIX, say("Hello.")], **steps)
    with Server(script) as server:

        def hanging() -> None:
            count = len(SIX) + (loop == "review") + 1 + written
            assert server.await_requests(count, LONG)

        task = {"home": str(tmp_path), "url": server.url, "prompt": "Price A1 to A5."}
        assert children.run(task, until=hanging) == -9
        at = Bench(tmp_path, server.url, nudge_every_turns=100)
        assert loop in {each.fact.loop for each in at.chronicle.read(LookDue) if isinstance(each.fact, LookDue)}
        assert at.looked(loop) == []
        (aside,) = _asides(at, loop)
        facts = at.store.recall(aside)
        assert any(isinstance(fact, Asked) for fact in facts)
        answered = sum(fact.usage.input_tokens for fact in facts if isinstance(fact, Replied))
        assert sum(row.usage.input_tokens for row in at.store.usage() if row.name == loop) == answered
        assert bool(answered) is written
        asyncio.run(_again(at, loop))
        assert len(_asides(at, loop)) == 2
        assert [who(request) for request in server.requests].count("chat") == len(SIX) + 1
        at.close()


async def _again(at: Bench, loop: str) -> None:
    """The next process takes it up, and no process after that."""
    await at.ask("Hello.")
    async with asyncio.timeout(LONG):
        while not at.looked(loop):
            await asyncio.sleep(0.01)
    assert at.reflector.wait(LONG)
    (looked,) = at.looked(loop)
    assert (looked.seen, looked.outcome) == (1, "completed")
    if loop == "nudge":
        assert at.memory.entries("memory") == (ENTRY,)
    else:
        made = [each.fact for each in at.chronicle.read(SkillChanged) if isinstance(each.fact, SkillChanged)]
        assert [fact.action for fact in made] == ["create"]
        assert at.library.get(SKILL["name"]).offered
    await at.aclose()


def _asides(at: Bench, loop: str) -> list[str]:
    with at.store.connect() as connection:
        return [row[0] for row in connection.execute("SELECT id FROM sessions WHERE kind = ?", [loop]).fetchall()]
