"""Scripted turns of a real agent, killed at random moments, resumed in a new process, and checked fact by fact.

``python -m tests.kill.turns 200 [SEED]`` does it two hundred times.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import duckdb  # noqa: F401 - the nursery imports it once for all children
import openai  # noqa: F401

from hermes_kernel import Agent, tool
from hermes_kernel.core.events import Final, Kept, Observed, Outcome, Replied
from hermes_kernel.core.plain import dump
from hermes_kernel.core.turn import recall
from hermes_kernel.testing import Request, Server, Step, calls, say
from hermes_kernel.world.store import Store
from tests.kill.acks import Acknowledged, acknowledged, await_acknowledged, noted
from tests.kill.nursery import Nursery, nursery
from tests.laws.worlds import check_whole

ROUNDS, BATCH = 4, 3
FACTS = 2 + ROUNDS * (1 + 2 * BATCH) + 2  # opened, asked; replied, started and observed; replied, final
ANSWER = "Every mark has been made, and none of them twice."


@dataclass(frozen=True, slots=True)
class Ground:
    """Where it happens."""

    home: Path
    url: str
    nursery: Nursery


@contextmanager
def ground(home: Path) -> Iterator[Ground]:
    """A home, a scripted server that outlives every child, and a nursery."""
    with Server(script) as server, nursery("tests.kill.turns:child") as children:
        yield Ground(home, server.url, children)


def script(request: Request) -> Step:
    """What the model says follows from what was said: three calls a round, four rounds, then the answer."""
    rounds = sum(bool(message.get("tool_calls")) for message in request.messages)
    if rounds == ROUNDS:
        return say(ANSWER)
    kinds = ("mark", "mark_async", "mark")
    return calls([(kind, {"name": f"{rounds}.{n}"}) for n, kind in enumerate(kinds[:BATCH])], text=f"Round {rounds}. ")


def child(home: str, url: str, session: str, acks: str, marks: str) -> None:
    """One life of the agent: begin the turn, or finish the one that a death cut off."""

    def made(name: str) -> str:
        handle = os.open(marks, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        os.write(handle, f"{name}\n".encode())
        os.fsync(handle)
        os.close(handle)
        return f"made {name}"

    @tool
    def mark(name: str) -> str:
        """Make a mark."""
        time.sleep(0.002)
        return made(name)

    @tool
    async def mark_async(name: str) -> str:
        """Make a mark."""
        await asyncio.sleep(0.002)
        return made(name)

    log = Acknowledged(Store(Path(home)), Path(acks))
    agent = Agent(
        "any", [mark, mark_async], session=session or None, home=home, base_url=url, api_key="none-at-all", log=log
    )
    with closing(agent):
        asyncio.run(agent.finish() if session else agent.ask("Make the marks."))  # type: ignore[arg-type]


def one(ground: Ground, seed: int) -> list[Kept]:
    """A turn that is killed one to three times at random moments and then left in peace; the facts of its session.

    Raises:
        AssertionError: something that was promised does not hold.
    """
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        acks, marks = Path(folder, "acks"), Path(folder, "marks")
        task = {"home": str(ground.home), "url": ground.url, "acks": str(acks), "marks": str(marks)}
        for _ in range(dice.choice([1, 1, 2, 3])):
            ground.nursery.run({**task, "session": _session(acks)}, partial(_moment, acks, dice))
        assert ground.nursery.run({**task, "session": _session(acks)}) == 0
        session = _session(acks)
        facts = Store(ground.home).recall(session)
        check(facts, [fact for owner, fact in noted(acks) if owner == session], marks.read_text().split())
    return facts


def check(facts: list[Kept], told: list[dict[str, Any]], marks: list[str]) -> None:
    """Nothing lost, nothing doubled, nothing run twice, and an end."""
    written = iter([dump(fact) for fact in facts])
    assert all(fact in written for fact in told), "an acknowledged fact is lost or out of its order"
    asked = [call.id for fact in facts if isinstance(fact, Replied) for call in fact.calls]
    answered = Counter(fact.call_id for fact in facts if isinstance(fact, Observed))
    assert answered == Counter(asked), "a call without exactly one result"
    turn = recall(facts)
    check_whole(turn.transcript)
    assert (turn.outcome, turn.text) == (Outcome.COMPLETED, ANSWER)
    assert sum(isinstance(fact, Final) for fact in facts) == 1
    assert max(Counter(marks).values()) == 1, "a tool ran twice"
    finished = {fact.text.removeprefix("made ") for fact in facts if isinstance(fact, Observed) and fact.ok}
    assert finished <= set(marks)
    assert len(asked) == ROUNDS * BATCH


def _session(acks: Path) -> str:
    """The session that was begun, or nothing when the child died before it said a word."""
    return next((session for session, _ in noted(acks)), "")


def _moment(acks: Path, dice: random.Random) -> None:
    """Return shortly after one more fact or another was acknowledged, as the dice say."""
    told = acknowledged(acks)
    await_acknowledged(acks, dice.randint(told, max(told, FACTS - 1)))
    time.sleep(dice.uniform(0, 0.008))


def main() -> None:
    """As many as are asked for, from a seed."""
    times, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with tempfile.TemporaryDirectory() as home, ground(Path(home)) as here:
        facts = lost = 0
        for seed in range(first, first + times):
            told = one(here, seed)
            facts += len(told)
            lost += sum(isinstance(fact, Observed) and not fact.ok for fact in told)
        folded = Store(Path(home)).fold()
        print(f"{times} turns killed and resumed, {facts} facts, {lost} calls of unknown outcome; {folded}")


if __name__ == "__main__":
    main()
