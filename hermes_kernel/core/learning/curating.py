"""The life of a skill as one literal table, and the plan of a curator's run by age alone: what moves, and why.

What is absent from the table is illegal. Nothing here deletes: an archived skill is kept whole and can be restored.
Knows no clock, no disk and no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

DAY = 86_400.0  # seconds
YOUNG_DAYS = 30.0
"""A skill that nobody ever used is left alone until it is so old, however short the settings' days are."""

AGENT = "agent"
"""The origin of skills that a model made: the only ones that are ever moved."""


class State(Enum):
    """Where a skill is in its life. The value is the word that is kept."""

    ACTIVE = "active"
    STALE = "stale"
    ARCHIVED = "archived"


class Cause(Enum):
    """What may move it. The value is what a person reads."""

    UNUSED = "unused for `stale_days`"
    FORGOTTEN = "unused for `archive_days`"
    USED = "used again"
    JUDGED = "the review's verdict"
    RESTORED = "restored by a person"


TABLE: Mapping[tuple[State, Cause], State] = MappingProxyType({
    (State.ACTIVE, Cause.UNUSED): State.STALE,
    (State.ACTIVE, Cause.JUDGED): State.ARCHIVED,
    (State.STALE, Cause.USED): State.ACTIVE,
    (State.STALE, Cause.FORGOTTEN): State.ARCHIVED,
    (State.STALE, Cause.JUDGED): State.ARCHIVED,
    (State.ARCHIVED, Cause.RESTORED): State.ACTIVE,
})  # fmt: skip


class Illegal(ValueError):
    """No skill may move so. The text says which may."""


def moved(state: State, cause: Cause) -> State:
    """Where a skill that is `state` goes for `cause`.

    Raises:
        Illegal: the table has no such move.
    """
    if (state, cause) not in TABLE:
        causes = ", ".join(sorted(each.name.lower() for at, each in TABLE if at is state))
        raise Illegal(f"nothing that is {state.value} moves because of {cause.name.lower()}, only of: {causes}")
    return TABLE[state, cause]


@dataclass(frozen=True, slots=True)
class Ages:
    """Days after which a skill moves. ``grace_days``: how long it has been stale before it is archived, so that a
    person sees it coming even where the curator had not run for long."""

    stale_days: float = 30.0
    archive_days: float = 90.0
    grace_days: float = 7.0


@dataclass(frozen=True, slots=True)
class Life:
    """What the curator knows of one skill. Times are seconds since 1970-01-01 UTC: ``born`` when it was made, ``last``
    when anybody but the curator last used or changed it (0: never used), ``since`` when it became stale (0: it is not).
    ``views``, ``uses`` and ``patches`` count. ``scheduled``: a schedule names it."""

    name: str
    origin: str = AGENT
    state: State = State.ACTIVE
    born: float = 0.0
    last: float = 0.0
    since: float = 0.0
    views: int = 0
    uses: int = 0
    patches: int = 0
    pinned: bool = False
    scheduled: bool = False
    disabled: bool = False

    @property
    def held(self) -> str:
        """Why the curator never moves it; empty where it may."""
        if self.origin != AGENT:
            return HELD.get(self.origin, "not made by an agent")
        return "pinned" if self.pinned else "named by a schedule" if self.scheduled else ""

    @property
    def used(self) -> bool:
        """Somebody looked at it, asked for it or changed it since it was made."""
        return bool(self.views or self.uses or self.patches)

    def idle_days(self, now: float) -> float:
        """Days since anything was done with it; never below 0, though a clock may have been wrong."""
        return max(now - max(self.last, self.born), 0.0) / DAY


HELD: Mapping[str, str] = MappingProxyType({
    "person": "made by a person",
    "bundled": "comes with the program",
    "installed": "installed by a person",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Move:
    """The skill ``name`` goes from ``before`` to ``after``, for ``cause``; ``why`` is the sentence that a person reads,
    ``into`` the skill that took over what it held, if one did."""

    name: str
    before: State
    after: State
    cause: Cause
    why: str
    into: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run by age is to do, in the order of names; ``held`` are the skills that never move, each with the
    reason."""

    moves: tuple[Move, ...] = ()
    held: tuple[tuple[str, str], ...] = ()


def plan(lives: Iterable[Life], now: float, ages: Ages) -> Plan:
    """The moves that are due at `now`, one for each skill at most: nothing skips a state. Carried out, the same plan at
    the same time is empty."""
    known = sorted(lives, key=lambda life: life.name)
    moves = (due(life, now, ages) for life in known if not life.held)
    held = tuple((life.name, life.held) for life in known if life.held)
    return Plan(tuple(move for move in moves if move is not None), held)


def due(life: Life, now: float, ages: Ages) -> Move | None:
    """The move that is due for one skill, if one is; whether the curator may move it is not looked at."""
    idle = life.idle_days(now)
    match life.state:
        case State.ACTIVE if idle >= _patience(life, ages.stale_days):
            return _move(life, Cause.UNUSED, _unused(life, idle))
        case State.STALE if idle < _patience(life, ages.stale_days):
            return _move(life, Cause.USED, f"{_last(life)} {_days(idle)} ago")
        case State.STALE if idle >= _patience(life, ages.archive_days) and _warned(life, now, ages):
            return _move(life, Cause.FORGOTTEN, _unused(life, idle))
        case _:
            return None


def _patience(life: Life, days: float) -> float:
    return days if life.used else max(days, YOUNG_DAYS)


def _warned(life: Life, now: float, ages: Ages) -> bool:
    return now - life.since >= ages.grace_days * DAY


def _move(life: Life, cause: Cause, why: str) -> Move:
    return Move(life.name, life.state, moved(life.state, cause), cause, why)


def _unused(life: Life, idle: float) -> str:
    return f"{_last(life)} {_days(idle)} ago" if life.used else f"never used in the {_days(idle)} since it was made"


def _last(life: Life) -> str:
    return "last used or changed" if life.last > life.born else "made or brought back"


def _days(days: float) -> str:
    whole = int(days)
    return f"{whole:,} day{'' if whole == 1 else 's'}"
