"""A session by the dice of one seed: an agent with random settings, its turns, and what a person does between them."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hermes_kernel import Agent, HermesError, Turn
from hermes_kernel.core.events import Event, FellBack, Repaired, Subagent
from hermes_kernel.core.question import Question
from hermes_kernel.limits import turn_limits
from hermes_kernel.testing import FastClock, Server
from hermes_kernel.world.ports import Archive
from hermes_kernel.world.spec import StillClock
from hermes_kernel.world.store import Store
from tests.campaign import laws, leaks
from tests.campaign.model import Model
from tests.campaign.replays import replayed
from tests.campaign.saying import ANSWERS, KEY, OTHER_KEY, prompt
from tests.campaign.stops import Stopping
from tests.campaign.tools import Bench

LONGEST = 600.0  # seconds of one turn, in which nothing waits longer than a second, on a machine that is starved
OTHER = "CAMPAIGN_OTHER_KEY"
os.environ[OTHER] = OTHER_KEY


class Someone:
    """A person by the dice: answers, says nothing, goes away, or never looks."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self.present = dice.random() < 0.8

    async def ask(self, question: Question) -> str | None:
        """See `ports.Person`."""
        way = self._dice.randrange(4)
        if way == 0:
            await asyncio.Event().wait()
        if way == 1:
            await asyncio.sleep(0.002)
        return self._dice.choice([*question.choices, *ANSWERS])


@dataclass(slots=True)
class Tale:
    """What was played of one seed: how often what, and how many turns."""

    seed: str
    counts: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    told: list[str] = field(default_factory=list)

    def note(self, kind: str, *names: object) -> None:
        """Count each."""
        for name in names:
            self.counts[f"{kind}: {name}"] += 1

    def took(self, what: str) -> None:
        """Remember the last steps, for who has to find out what happened."""
        self.told.append(what)


def settings(dice: random.Random, url: str) -> dict[str, Any]:
    """Random settings, within their ranges."""
    others: tuple[tuple[str, ...], ...] = ((), (), ("b",), (f"c@{url}#{OTHER}",), ("b", f"c@{url}#{OTHER}"))
    base = dice.choice([0, 0.01, 5])
    return {
        "approvals": dice.choice(["deny", "allow", "ask"]),
        "fallback_models": dice.choice(others),
        "aux_model": dice.choice(["", "", "side"]),
        "max_iterations": dice.choice([1, 2, 3, 5, 8, 12]),
        "max_retries": dice.choice([0, 1, 3]),
        "retry_base_seconds": base,
        "retry_max_seconds": max(base, dice.choice([0.02, 8])),
        "max_continuations": dice.choice([0, 1, 3, 3]),
        "max_tokens": dice.choice([0, 0, 64]),
        "model_max_tokens": dice.choice([0, 4096]),
        "requests_per_minute": dice.choice([0, 0, 0, 4, 20]),
        "stale_seconds": 0.3,
        "first_byte_seconds": dice.choice([0.6, 5]),
        "queued_seconds": dice.choice([0.4, 600]),
        "tool_seconds": dice.choice([0.5, 300]),
        "tool_workers": dice.choice([1, 2, 8]),
        "tool_result_chars": dice.choice([200, 2000, 50_000]),
        "answer_seconds": dice.choice([1, 60]),
        "refunds": dice.choice([0, 0, 2]),
        "delegate_workers": dice.choice([1, 2, 8]),
        "delegate_depth": dice.choice([0, 1, 1, 2]),
        "memory_writes": dice.choice(["on", "ask", "off"]),
        "skill_writes": dice.choice(["on", "ask", "off"]),
        "schedule_writes": dice.choice(["ask", "off"]),
        "vision": dice.choice(["auto", "on", "off"]),
        **_window(dice),
        **_learning(dice),
    }


def _window(dice: random.Random) -> dict[str, Any]:
    """One that a few turns fill, or none."""
    if dice.random() < 0.55:
        return {}
    return {
        "context_window": dice.choice([7000, 9000, 12_000, 20_000]),
        "compress_at": dice.choice([0.05, 0.3, 0.5]),
        "compress_hard_at": dice.choice([0.5, 0.7, 0.85]),
        "protect_first": dice.choice([0, 2]),
        "protect_last": dice.choice([0, 2, 5, 20]),
    }


def _learning(dice: random.Random) -> dict[str, Any]:
    """The slow loops, seldom: they look back beside the turns."""
    if dice.random() < 0.88:
        return {"learning": False}
    return {"learning": True, "nudge_every_turns": dice.choice([1, 2]), "skill_trigger_calls": 1}


class Play:
    """One session of one seed in the folders at ``root``, over ``server``. ``look`` is called after each turn and move."""

    def __init__(self, tale: Tale, root: Path, server: Server, model: Model, dice: random.Random) -> None:
        self.tale, self.root, self.server, self.model, self.dice = tale, root, server, model, dice
        self.home = root / "home"
        self.bench = Bench(root / "marks")
        self.chosen = settings(dice, server.url)
        self.dearly = False  # requests were made that no turn tells of
        self.share = dice.choice([0, 0.15, 0.4])
        self.sessions: list[str] = []
        self.called = 0
        self.agent = self.made()

    def made(self, session: str | None = None) -> Agent:
        """An agent with these settings."""
        agent = Agent(
            "scripted",
            self.bench.tools(),
            session=session,
            person=self.dice.choice([None, Someone(self.dice)]),
            clock=FastClock(real=0.06, chances=(0.1, 0.5, 0.9)),
            log=self.log(),
            home=self.home,
            base_url=self.server.url,
            api_key=KEY,
            **self.chosen,
        )
        self.tale.took(f"agent in {session or 'a new session'}: {self.chosen}")
        return agent

    def log(self) -> Archive:
        """Where facts are kept: by a clock that stands still, so that no other process is started to fold them."""
        return Store(self.home, clock=StillClock())

    # --- a turn

    async def turn(self, retry: bool = False) -> Turn:
        """Play one, stopped or not, and look at it."""
        dice, agent = self.dice, self.agent
        options = {"budget": dice.choice([None, None, dice.randint(1, 12)]), "timeout": dice.choice([None] * 9 + [3])}
        if dice.random() < 0.15:
            options["tools"] = dice.choice([[], ["price", "mark"], ["delegate", "mark_async", "clarify"]])
        stopping, before = Stopping.by(dice, self.share), len(self.server.requests)
        said = prompt(dice)
        self.tale.took(f"turn {said[:20]!r} {options} {stopping.way} {stopping.kind} {stopping.count}")
        events = agent.retrying(**options) if retry else agent.stream(said, **options)
        async with asyncio.timeout(LONGEST):
            await stopping.play(agent, events)
        closing_took = stopping.closing
        if agent.tools.cwd != self.root / "work":
            raise AssertionError(f"it works in {agent.tools.cwd}")
        assert self.server.await_idle(), "a request is being answered after the end"
        if stopping.left:
            agent._session.flush()
        seen = laws.Seen(
            agent.turn,
            tuple(stopping.events),
            self.server.requests[before:],
            agent.store.recall(agent.session_id),
            turn_limits(agent.settings),
            stopping.pressed,
            stopping.left,
            closing_took,
        )
        self._count(seen, stopping)
        laws.check(seen)
        self.called += laws.called(seen.events)
        asked = laws.asked(self.server.requests)
        assert asked <= self.called or self.dearly, f"{asked} requests for {self.called} calls"
        self.tale.turns += 1
        return agent.turn

    def _count(self, seen: laws.Seen, stopping: Stopping) -> None:
        tale = self.tale
        tale.note("outcome", seen.turn.outcome)
        tale.note("fault told", *laws.faults(seen.events))
        tale.note("tool", *(call.name[:30] for call in seen.turn.tool_calls))
        tale.note("events", *{_name(event) for event in seen.events})
        tale.note("fallback", *(e.fault for e in seen.events if isinstance(e, FellBack)))
        tale.note("repair", *(e.level for e in seen.events if isinstance(e, Repaired)))
        tale.note("parallel calls", *(min(n, 12) for n in _batches(seen.own) if n > 1))
        if stopping.at:
            tale.note("stop", stopping.way)
            tale.note("stopped at", stopping.at)
        if seen.turn.budget.limit < 4:
            tale.note("budget", f"of {seen.turn.budget.limit}")

    # --- between turns

    async def move(self) -> None:
        """What a person does between two turns. What cannot be done is refused in a line."""
        moves: list[Callable[[], Any]] = [
            self._undo, self._retry, self._branch, self._new, self._resume, self._title, self._compress, self._configure,
            self._search, self._again, self._delegate, self._fold, self._finish,
        ]  # fmt: skip
        move = self.dice.choices(moves, [4, 4, 4, 2, 4, 2, 4, 3, 2, 4, 2, 0.15, 2])[0]
        self.tale.took(move.__name__)
        name = move.__name__.strip("_")
        try:
            await move()
            self.tale.note("move", name)
        except HermesError as error:
            assert "\n" not in str(error), str(error)
            laws.secret_free(str(error), "an error")
            self.tale.note("move", f"{name}, refused")
        self.sessions.append(self.agent.session_id)
        laws.messages(self.agent.turn)

    async def _undo(self) -> None:
        self.agent.undo(self.dice.choice([1, 1, 2, 9]))

    async def _retry(self) -> None:
        await self.turn(retry=True)

    async def _branch(self) -> None:
        before = self.agent.turn.transcript
        at = self.dice.choice([None, None, 1, 2, 99])
        self.agent.branch(at)
        found = self.agent.turn.transcript
        assert found == before[: len(found)] or at is not None, "a branch is no copy"

    async def _new(self) -> None:
        self.agent.new()

    async def _resume(self) -> None:
        known = [*self.sessions[-4:], "last", "nothing-like-it", "\ud800"]
        self.agent.resume(self.dice.choice(known))
        await self.agent.finish()

    async def _title(self) -> None:
        self.agent.title(self.dice.choice(["a title", "", "x" * 200, f"the key {KEY}", "日本 \u202e"]))

    async def _compress(self) -> None:
        await self.agent.compress(self.dice.choice(["", "the marks", f"\ud800 {KEY}"]))

    async def _configure(self) -> None:
        fresh = settings(self.dice, self.server.url)
        names = self.dice.sample(sorted(fresh), 3)
        self.agent.configure(**{name: fresh[name] for name in names if not name.startswith(("retry", "compress"))})

    async def _search(self) -> None:
        self.agent.search(self.dice.choice(["A1", "日本", "session:x", '"', "title:title", KEY]))

    async def _again(self) -> None:
        """The same conversation with another agent, as in another process."""
        await self.leave()
        before = self.agent.turn
        self.agent = self.made()
        if before.asked:
            found = self.agent.resume(before.session_id)
            laws.same(replace(found, limits=before.limits, room=before.room), before)  # of its settings

    async def _finish(self) -> None:
        before = self.agent.turn
        assert await self.agent.finish() is before, "a turn that was over went on"

    async def _delegate(self) -> None:
        self.dearly = True
        reports = await self.agent.delegate(["count", "look \ud800"][: self.dice.choice([1, 2])], budget=4)
        for report in reports:
            assert report.used <= report.calls
            report.text.encode()

    async def _fold(self) -> None:
        with closing(Store(self.home)) as store:
            store.fold()

    # --- its end

    async def leave(self) -> None:
        """Close the agent; nothing of it is left in this process."""
        self.bench.release()
        await self.agent.__aexit__(None, None, None)
        left = await leaks.tasks_end()
        assert not left, f"tasks are left: {left}"
        assert await asyncio.to_thread(leaks.passing, lambda: self.server.connected), "a connection is left"
        self.bench = Bench(self.root / "marks")


def _name(event: Event) -> str:
    return "Subagent" if isinstance(event, Subagent) else type(event).__name__


def _batches(events: list[Any]) -> list[int]:
    from hermes_kernel.core.events import Replied

    return [len(event.calls) for event in events if isinstance(event, Replied)]


def play(seed: str, turns: int | None = None) -> Tale:
    """One session of `seed`, with the laws looked at after each turn and at its end.

    Raises:
        AssertionError: a law does not hold; `seed` is in its notes.
    """
    dice, tale = random.Random(seed), Tale(seed)
    try:
        with leaks.folders() as root, leaks.writes() as written:
            _played(tale, dice, root, turns or dice.randint(6, 24))
            laws.private(root / "home")
            # jupyter_client makes an empty `.ipython` where it looks for kernels
            house = sorted(str(path.relative_to(root)) for path in (root / "house").rglob("*"))
            assert house in ([], ["house/.ipython"]), f"{house} in the house of the user"
            strays = leaks.outside(written, root)
            assert not strays, f"{strays} were written outside"
    except BaseException as error:
        error.add_note(f"seed {seed}; then:\n  " + "\n  ".join(line[:300] for line in tale.told[-6:]))
        raise
    return tale


def _played(tale: Tale, dice: random.Random, root: Path, turns: int) -> None:
    before, threads, kids = leaks.descriptors(), leaks.threads(), leaks.children()
    quick = random.Random(f"{tale.seed}/quick").random() < REPLAYED
    slow, weights = dice.random() < SLOW, dice.choice(WEIGHTS)
    model = Model(tale.seed, slow=slow and not quick, quick=quick, weights=QUICK if quick else weights)
    with Server(model) as server:
        if quick:
            tale.turns = asyncio.run(replayed(root, server, dice))
        else:
            asyncio.run(_conversed(Play(tale, root, server, model, dice), turns))
    tale.note("sessions", "recorded and replayed" if quick else "played")
    for name, count in model.played.items():
        tale.counts[f"step: {name}"] += count
    ended = leaks.passing(lambda: len(leaks.threads()), len(threads))
    assert ended, f"threads are left: {leaks.threads()}, there were {threads}"
    assert leaks.passing(lambda: len(leaks.children()), len(kids)), f"processes are left: {leaks.children()}"
    assert leaks.passing(lambda: len(leaks.descriptors()), len(before)), (
        f"descriptors are left: {set(leaks.descriptors()) - set(before)}"
    )


SLOW = 0.25  # the share of sessions in which servers are silent for longer than is borne
REPLAYED, QUICK = (
    0.06,
    (6, 8, 3, 3, 2, 0),
)  # the share of sessions that are recorded and replayed, and what is said there
WEIGHTS = ((7, 8, 3, 2, 2, 2), (10, 4, 1, 1, 1, 1), (2, 12, 1, 1, 1, 0), (3, 2, 2, 5, 5, 5), (2, 1, 8, 1, 1, 1))


async def _conversed(play: Play, turns: int) -> None:
    try:
        while play.tale.turns < turns:
            if play.dice.random() < 0.3:
                await play.move()
            else:
                await play.turn()
    finally:
        await play.leave()
