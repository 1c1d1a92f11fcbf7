"""A run is taken back: every skill as it was before it, every byte. What it finds is kept first, so that this can be
taken back in the same way; killed in the middle, it is gone on with.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace

from hermes_kernel.core.learning.curating_runs import DID, DONE, FAILED, MOVE, RUNNING, Run, Step
from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.core.learnt import SkillChanged, SkillMarked
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.curating.means import Means
from hermes_kernel.learning.curating.running import finish
from hermes_kernel.learning.curating.shelf import Shelf, explaining
from hermes_kernel.learning.curating.snapshot import (
    PutBack,
    Snapshot,
    differences,
    put_back,
    put_back_stale,
    take,
    understood,
)
from hermes_kernel.learning.skills.marks import Mark

NOTHING = "There is no run to take back."


def meant(shelf: Shelf, name: str) -> Run:
    """The run to take back: the one called `name`, or the last one that changed something and still stands.

    Raises:
        HermesError: there is none, or it left no snapshot.
    """
    if name:
        run = shelf.find(name)
    else:
        standing = [run for run in shelf.runs() if run.action == "run" and run.done and not run.rolled_back]
        if not standing:
            raise HermesError(NOTHING)
        run = standing[-1]
    if understood(shelf.snapshot(run.id)) is None:
        raise HermesError(f"The run {run.id} has left no snapshot, and changed nothing.")
    return run


class Undoing:
    """Takes back a run, for whoever is alone at the `shelf`."""

    def __init__(self, means: Means, shelf: Shelf, by: str) -> None:
        self._means = means
        self._shelf = shelf
        self._by = by

    async def taken_back(self, of: Run) -> Run:
        """The record of it.

        Raises:
            HermesError: what there is cannot be kept, so that nothing was done; or not all of it could be put back.
        """
        t = self._means.clock.now()
        run = Run(self._shelf.begin(t), t, t, self._by, "rollback", of.id)
        self._shelf.save(run)
        try:
            kept = take(self._means.skills, self._means.history, _never(self._means))
        except SkillError as error:
            finish(self._means, self._shelf, replace(run, status=FAILED, why=str(error), ended=t))
            raise HermesError(f"Nothing was taken back, for what there is cannot be kept. {error}") from None
        self._shelf.keep_snapshot(run.id, kept.plain())
        run = replace(run, snapshot=len(kept.folders))
        self._shelf.save(run)
        return await self.gone_on_with(run)

    async def gone_on_with(self, run: Run) -> Run:
        """Do what is left of a rollback that has its own snapshot, to its end.

        Raises:
            HermesError: not all of it could be put back; every skill is whole.
        """
        before = understood(self._shelf.snapshot(run.of))
        if before is None:
            raise HermesError(f"The snapshot of {run.of} is gone, so it cannot be taken back.")
        marks = dict(self._means.library.marks.read())
        try:
            with explaining(self._means.skills), self._means.workshop.changing.alone():
                run = await self._put_back(run, before)
                put_back_stale(self._means.skills, self._means.history, before)
        except (SkillError, HermesError) as error:
            self._finished(replace(run, status=FAILED, why=str(error)))
            raise HermesError(f"Not all of it was put back; run it again. {error}") from None
        run = self._record_marks(marks, run)
        self._note(run)
        return self._finished(replace(run, status=DONE))

    async def _put_back(self, run: Run, before: Snapshot) -> Run:
        found = understood(self._shelf.snapshot(run.id)) or before
        own = {step.name for step in self._shelf.find(run.of).steps}
        for change in differences(self._means.skills, before, found.left_out):
            await asyncio.sleep(0)
            put_back(self._means.skills, self._means.history, change)
            self._means.chronicle.record(
                SkillChanged(
                    change.name,
                    "rollback",
                    self._by,
                    change.before,
                    change.after,
                    _spot(change),
                    why=f"rollback of {run.of}",
                )
            )
            run = replace(run, steps=(*run.steps, _step(change, own)))
        return run

    def _record_marks(self, marks: Mapping[str, Mark], run: Run) -> Run:
        now = self._means.library.marks.read()
        for name in sorted(marks.keys() | now.keys()):
            was, stale = marks.get(name, Mark()).stale, now.get(name, Mark()).stale
            if was != stale:
                mark = "stale" if stale else "active"
                self._means.chronicle.record(SkillMarked(name, mark, self._by, why=f"rollback of {run.of}"))
                if name not in run.names:
                    step = Step(MOVE, name, "active" if stale else "stale", mark, why="as before", outcome=DID)
                    run = replace(run, steps=(*run.steps, step))
        return run

    def _note(self, run: Run) -> None:
        """The run that was taken back says so, and the skills that it had made stale are not."""
        of = self._shelf.find(run.of)
        self._shelf.save(replace(of, rolled_back=run.id))
        times = self._shelf.times()
        gone = {step.name for step in of.steps}
        self._shelf.keep_times(replace(times, stale={name: t for name, t in times.stale.items() if name not in gone}))

    def _finished(self, run: Run) -> Run:
        run = replace(run, ended=self._means.clock.now())
        finish(self._means, self._shelf, run)
        return run


def _step(change: PutBack, own: Collection[str]) -> Step:
    """What was put back; ``own`` are the skills that the run itself meant to change."""
    said = "" if change.name in own else "it was changed since by somebody else"
    why = "as before" if change.after else "it was not there"
    return Step(MOVE, change.name, why=f"{change.place}: {why}", outcome=DID, said=said)


def _spot(change: PutBack) -> str:
    """Where it stands from now on, if it is not in the archive."""
    return "" if change.place.startswith(".") or not change.after else change.place


def _never(means: Means) -> frozenset[str]:
    """Skills that no run moves: what cannot be kept of them is left as it is."""
    return frozenset(name for name, skill in means.library.all().items() if skill.origin != "agent")


def was_begun(shelf: Shelf, run: Run) -> bool:
    """Whether a rollback that died had got so far that it must be gone on with."""
    return run.action == "rollback" and run.status == RUNNING and understood(shelf.snapshot(run.id)) is not None
