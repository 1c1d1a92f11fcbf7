"""A look is taken: what there is to look at is read from the log, and what came of it is recorded. One at a time in a
home, so that none is taken twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from hermes_kernel.core.events import Outcome
from hermes_kernel.core.learning.looking import (
    KEPT_DUE_SECONDS,
    Matter,
    latest,
    remembering,
    reviewing,
    seen_of,
    still_due,
    turns_of,
)
from hermes_kernel.core.learnt import SKIPPED, LookDue, Looked
from hermes_kernel.core.turn import Turn
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.reflecting.look import LOOPS, Look, Means
from hermes_kernel.learning.reflecting.ours import claim_of, ours
from hermes_kernel.learning.reflecting.watch import Want
from hermes_kernel.world.ports import Claim
from hermes_kernel.world.store import NoSession, StoreError

AT_A_TIME = 3
"""Looks that other processes left, and that are taken up together: a person who comes back is not to pay for a week."""

ASKED = "a person asked"
AGAIN = "the last look failed"
"""Why it is due once more, later: a model that cannot be reached now will be; but nothing is tried for ever."""


def claimed(means: Means) -> Claim | None:
    """The right to be the one who looks, in this home; None while another process does, or none can be had."""
    try:
        return means.resources.store.claim(claim_of(means.settings))
    except StoreError:
        return None


async def take(means: Means, look: Look, want: Want) -> Looked | None:
    """Take `look`, because of `want`; None where it was cut: then it is due as before.

    Raises:
        StoreError: the store cannot be used.
        NoEndpoint: there is no model to ask.
    """
    seen, matter = _matter(means, want, anyway=False)
    if matter is not None:
        return await _taken(means, look, want, seen, matter)
    looked = Looked(want.loop, want.session, seen=seen, outcome=SKIPPED, why="nothing is left to look at")
    means.chronicle.record(looked)
    return looked


async def take_anyway(means: Means, look: Look, want: Want) -> Looked | None:
    """The same for a person who asks for it: where nothing is new, the last turn is looked at again.

    Raises:
        HermesError: nothing was said in it yet.
        StoreError, NoEndpoint: as `take`.
    """
    seen, matter = _matter(means, want, anyway=True)
    if matter is None:
        raise HermesError("Nothing was said in this conversation yet, so there is nothing to look at.")
    return await _taken(means, look, want, seen, matter)


async def _taken(means: Means, look: Look, want: Want, seen: int, matter: Matter) -> Looked | None:
    turn = await look.play(matter)
    if turn is None or turn.outcome in (None, Outcome.INTERRUPTED):
        return None
    done = _done(turn)
    looked = _came(look, want, turn, max(matter.seen, seen) if done else seen)
    later = () if done or want.why in (AGAIN, ASKED) else (LookDue(want.loop, want.session, AGAIN),)
    means.chronicle.record(looked, *later)
    return looked


def left_over(means: Means, here: str, before: float) -> Iterator[Want]:
    """What became due lately in this home, `before` so many seconds since 1970, and nobody took: of the conversation
    `here` or of those that nobody is in, the newest few.

    Raises:
        StoreError: the store cannot be read.
    """
    since = means.resources.clock.now() - KEPT_DUE_SECONDS
    waiting = still_due(means.chronicle.read(LookDue, Looked, since=since))
    facts = (each.fact for each in reversed(waiting) if each.t <= before)
    wants = (Want(fact.loop, fact.session, fact.why) for fact in facts if isinstance(fact, LookDue))
    mine = ours(means.settings)
    free = (want for want in wants if want.loop in LOOPS and mine(want.session) and _free(means, want.session, here))
    yield from islice(free, AT_A_TIME)


def _matter(means: Means, want: Want, *, anyway: bool) -> tuple[int, Matter | None]:
    """The number of the last turn that was looked at, and what there is to look at now."""
    seen = seen_of(means.chronicle.read(Looked), want.loop, want.session)
    try:
        told = turns_of(means.resources.store.recall(want.session))
    except NoSession:
        return seen, None
    if want.loop == "nudge":
        matter = remembering(told, seen)
    else:
        matter = reviewing(told, seen, means.settings.skill_trigger_calls)
    return seen, matter or (latest(told, want.why) if anyway else None)


def _done(turn: Turn) -> bool:
    """It had its say. A model that could not be reached, or not in time, has seen nothing: the next look tells it."""
    return turn.outcome is not Outcome.FAILED and not turn.stopped


def _came(look: Look, want: Want, turn: Turn, seen: int) -> Looked:
    outcome = str(turn.outcome.value) if turn.outcome else ""
    why = want.why if _done(turn) else turn.reason or "its time was up"
    return Looked(want.loop, want.session, look.aside, seen, look.wrote(), outcome, why)


def _free(means: Means, session: str, here: str) -> bool:
    """Nobody else is in that conversation, where more may be said at any moment."""
    if session == here:
        return True
    with suppress(StoreError):
        means.resources.store.claim(session).close()
        return True
    return False
