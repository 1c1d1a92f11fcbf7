"""One run: a snapshot, the plan by age, what a model says, and each step carried out and written down before the next.

Killed anywhere, every skill is whole: a step is one change of a folder or of a mark, and the next run does the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from hermes_kernel.core.learning.curating import Life, Plan, State, plan
from hermes_kernel.core.learning.curating_runs import (
    DID,
    DONE,
    FAILED,
    INTERRUPTED,
    MOVE,
    PLANNED,
    RUNNING,
    UNDONE,
    Run,
    Step,
    step_of,
    words,
)
from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.core.learnt import SKIPPED, Looked
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.curating.carrying import carried_out, standing
from hermes_kernel.learning.curating.judging import Judge, Judged
from hermes_kernel.learning.curating.knowing import Census
from hermes_kernel.learning.curating.means import Means
from hermes_kernel.learning.curating.shelf import Shelf, Times
from hermes_kernel.learning.curating.snapshot import take
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.store import StoreError

STOPPED = "It was stopped."
NAMED = 50  # skills that the record of a look names


class Running:
    """A run at `now`, for whoever is alone at the `shelf`."""

    def __init__(self, means: Means, shelf: Shelf, judge: Judge, now: float, by: str) -> None:
        self._means = means
        self._shelf = shelf
        self._judge = judge
        self._times = shelf.times()
        began = means.clock.now()
        self.run = Run("", began, now, by)

    async def rehearsed(self, stop: Stop) -> Run:
        """What it would do; nothing is written.

        Raises:
            HermesError, StoreError: it cannot be looked at.
        """
        census, lives, made = self._looked()
        self.run = replace(self.run, status=PLANNED, steps=tuple(map(step_of, made.moves)), held=made.held)
        judged = await self._judge.judged(self.run, census, after(lives, made), self._times.reviewed, stop)
        deeds = tuple(step for deed in judged.deeds for step in deed)
        return replace(self.run, steps=(*self.run.steps, *deeds), reviews=judged.reviews, asked=judged.told)

    async def played(self, stop: Stop) -> Run:
        """What it did. Stopped or cancelled, it is closed as interrupted.

        Raises:
            HermesError: there is no snapshot, so nothing was done; or the disk is full.
            StoreError: the store cannot be used.
        """
        self.run = replace(self.run, id=self._shelf.begin(self.run.began))
        try:
            self._shelf.save(self.run)
            await self._all(stop)
        except SkillError as error:
            self._end(FAILED, f"Nothing was done, for what there is cannot be kept. {error}")
            raise HermesError(self.run.why) from None
        except BaseException as error:
            ordinary = isinstance(error, Exception)
            with suppress(HermesError, StoreError):  # then the next run closes it
                self._end(FAILED if ordinary else INTERRUPTED, str(error) if ordinary else STOPPED)
            raise
        self._end(INTERRUPTED if stop.by else DONE, STOPPED if stop.by else "")
        return self.run

    async def _all(self, stop: Stop) -> None:
        census, lives, made = self._looked()
        kept = take(self._means.skills, self._means.history, frozenset(name for name, _ in made.held))
        self._shelf.keep_snapshot(self.run.id, kept.plain())
        self.run = replace(
            self.run, snapshot=len(kept.folders), steps=tuple(map(step_of, made.moves)), held=made.held
        )  # fmt: skip
        self._shelf.save(self.run)
        await self._carry([(step,) for step in self.run.steps], stop)
        judged = await self._judge.judged(self.run, census, after(lives, made), self._times.reviewed, stop)
        self.run = replace(self.run, reviews=judged.reviews, asked=judged.told)
        await self._carry(self._added(judged), stop)
        if not stop.by:
            self._shelf.keep_times(self._known(census, judged))

    def _looked(self) -> tuple[Census, tuple[Life, ...], Plan]:
        census = Census(self._means.library, self._times, self._means.scheduled(), self._means.clock.now())
        lives = census.lives()
        return census, lives, plan(lives, self.run.now, self._means.ages)

    def _added(self, judged: Judged) -> Sequence[tuple[Step, ...]]:
        """The deeds that the reviews want, written down before the first is done."""
        self.run = replace(self.run, steps=(*self.run.steps, *(step for deed in judged.deeds for step in deed)))
        self._shelf.save(self.run)
        return judged.deeds

    async def _carry(self, deeds: Iterable[tuple[Step, ...]], stop: Stop) -> None:
        """Carry out the steps of each deed in order; where one fails, those after it in the same deed are left."""
        for deed in deeds:
            before = DID
            for step in deed:
                await asyncio.sleep(0)  # a kernel that ends is heard between two steps
                if stop.by:
                    return
                done = self._carried_out(step, before)
                before = done.outcome if before == DID else before
                self._write_down(step, done)

    def _carried_out(self, step: Step, before: str) -> Step:
        """`step`, where the one that has to come first was done; proposed, where that one only waits."""
        if before == UNDONE:
            return replace(step, outcome=UNDONE, said="what had to come first was not done")
        return carried_out(self._means, step, ask=before != DID)

    def _write_down(self, step: Step, done: Step) -> None:
        """What came of a change of a text is on disk before the next; of a move the skill itself tells."""
        self.run = self.run.with_step(self.run.steps.index(step), done)
        if done.kind != MOVE:
            self._shelf.save(self.run)

    def _known(self, census: Census, judged: Judged) -> Times:
        """What the next run must know."""
        stale = {
            name: self.run.now if self._became(name, State.STALE) else t
            for name, t in {**dict.fromkeys(self.run.names, self.run.now), **self._times.stale}.items()
            if self._became(name, State.STALE) or (name in self._times.stale and name not in self.run.names)
        }
        asked = {question.key: self._means.clock.now() for question in judged.asked}
        reviewed = {**self._times.reviewed, **asked}
        last = max(self._times.last, self._means.clock.now())
        return Times(last, self.run.id, stale, {**self._times.seen, **census.seen}, reviewed)

    def _became(self, name: str, state: State) -> bool:
        return any(step.name == name and step.after == state.value for step in self.run.done)

    def _end(self, status: str, why: str) -> None:
        self.run = replace(self.run, status=status, why=why, ended=self._means.clock.now())
        finish(self._means, self._shelf, self.run)


def after(lives: Iterable[Life], made: Plan) -> tuple[Life, ...]:
    """The skills as they are once the plan was carried out."""
    to = {move.name: move.after for move in made.moves}
    return tuple(replace(life, state=to.get(life.name, life.state)) for life in lives)


def finish(means: Means, shelf: Shelf, run: Run) -> None:
    """The report of a run, and the fact that the curator looked.

    Raises:
        HermesError, StoreError: they cannot be written.
    """
    shelf.finish(run)
    aside = next((review.session for review in run.reviews if review.session), "")
    wrote = tuple(f"{step.name}: {step.after or 'patched'}" for step in run.done)[:NAMED]
    outcome = {DONE: "completed", INTERRUPTED: "interrupted", FAILED: SKIPPED}[run.status]
    means.chronicle.record(Looked("curator", aside=aside, wrote=wrote, outcome=outcome, why=f"{run.id}: {words(run)}"))


def closed(means: Means, run: Run) -> Run:
    """A run whose process has died, with what is known of its steps: whatever it wrote last, the skills say it."""
    steps = tuple(replace(step, outcome=DID) if _stands(means, step) else step for step in run.steps)
    return replace(run, status=INTERRUPTED, steps=steps, ended=means.clock.now(), why="Its process ended.")


def _stands(means: Means, step: Step) -> bool:
    if step.outcome != PLANNED or step.kind != MOVE:
        return False
    try:
        return standing(means, means.library.get(step.name)) is State(step.after)
    except (SkillError, ValueError):
        return False


def unfinished(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Those that never came to an end, to whoever is alone: their processes have died."""
    return tuple(run for run in runs if run.status == RUNNING)
