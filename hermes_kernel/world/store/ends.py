"""Where the next fact of each session goes. A fact that may be on disk already, since a Ctrl-C broke off its append or
came right before it returned, is known again by being the same object: given again it gets the name and the place it
had, so that readers keep one of it. An equal one is another.

Not for two threads at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hermes_kernel.core.events import Kept
from hermes_kernel.core.plain import Plain
from hermes_kernel.world.store.records import Record

Told = tuple[Record, ...]

RECENT = 64  # sessions of which the last append is known: more than are written by as many threads at once


class Placed(NamedTuple):
    """An append: what was given, and as what records."""

    events: Sequence[Kept]
    told: Told


class Ends:
    """The ends of the sessions that this process writes."""

    def __init__(self, now: Callable[[], float], mint: Callable[[], str]) -> None:
        """``now`` is the time in seconds since 1970-01-01 UTC, ``mint`` a new uid."""
        self._now = now
        self._mint = mint
        self._ends: dict[str, tuple[int, float]] = {}
        self._last: dict[str, Placed] = {}

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

    def place(self, session_id: str, events: Sequence[Kept], facts: Sequence[Plain]) -> Told:
        """The facts of `events` as records: those that the last append began with as they were, the others behind all
        before them.

        Raises:
            OSError: no uid can be had.
        """
        again = _again(self._last.get(session_id), events, facts)
        told = (*again, *(self._record(session_id, fact) for fact in facts[len(again) :]))
        if session_id not in self._last and len(self._last) >= RECENT:
            del self._last[next(iter(self._last))]
        self._last[session_id] = Placed(events, told)  # before anything of it can be on disk
        return told

    def _record(self, session_id: str, fact: Plain) -> Record:
        """A number is taken whatever becomes of the fact: a gap means nothing, the same number twice would. Time never
        goes back within a session."""
        n, last = self._ends[session_id]
        now = max(self._now(), last)
        self._ends[session_id] = (n + 1, now)
        return Record(self._mint(), session_id, n, now, fact)


def _again(last: Placed | None, events: Sequence[Kept], facts: Sequence[Plain]) -> Told:
    """The records of the last append that are of what `events` begin with."""
    if last is None:
        return ()
    known = zip(last.events, last.told, events, facts, strict=False)
    for number, (before, record, event, fact) in enumerate(known):
        if event is not before or record.fact != fact:
            return last.told[:number]
    return last.told[: len(events)]
