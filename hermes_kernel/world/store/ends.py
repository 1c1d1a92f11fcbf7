"""Where the next fact of each session goes. A fact whose append was broken off, by a Ctrl-C while the disk was waited
for, say, may be on disk already: given again it gets the name and the place it had, so that readers keep one of it.

Not for two threads at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hermes_kernel.core.plain import Plain
from hermes_kernel.world.store.records import Record

Told = tuple[Record, ...]


class Ends:
    """The ends of the sessions that this process writes."""

    def __init__(self, now: Callable[[], float], mint: Callable[[], str]) -> None:
        """``now`` is the time in seconds since 1970-01-01 UTC, ``mint`` a new uid."""
        self.broken: dict[str, Told] = {}
        """By session, what was placed last and then neither acknowledged nor given again. Plain assignments keep it:
        a call would be one more moment for the next interrupt."""
        self._now = now
        self._mint = mint
        self._ends: dict[str, tuple[int, float]] = {}

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._ends

    def remember(self, session_id: str, found: Sequence[Record]) -> None:
        """These are the facts of a session, in order. An end never goes back: while one thread read, another may have
        appended."""
        end = (found[-1].n + 1, found[-1].t) if found else (0, 0.0)
        self._ends[session_id] = max(end, self._ends.get(session_id, end))

    def forget(self, session_id: str) -> None:
        """Others may have added to a session: it is looked up again before the next fact."""
        self._ends.pop(session_id, None)

    def place(self, session_id: str, facts: Sequence[Plain]) -> Told:
        """The facts as records: those that were broken off as they were, the others behind all before them.

        Raises:
            OSError: no uid can be had.
        """
        again = _again(self.broken.get(session_id, ()), facts)
        return (*again, *(self._record(session_id, fact) for fact in facts[len(again) :]))

    def _record(self, session_id: str, fact: Plain) -> Record:
        """A number is taken whatever becomes of the fact: a gap means nothing, the same number twice would. Time never
        goes back within a session."""
        n, last = self._ends[session_id]
        now = max(self._now(), last)
        self._ends[session_id] = (n + 1, now)
        return Record(self._mint(), session_id, n, now, fact)


def _again(broken: Told, facts: Sequence[Plain]) -> Told:
    """The broken records that `facts` begin with."""
    for number, (record, fact) in enumerate(zip(broken, facts, strict=False)):
        if record.fact != fact:
            return broken[:number]
    return broken[: len(facts)]
