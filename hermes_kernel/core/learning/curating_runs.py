"""The record of one run of the curator: what it meant to do, what came of each step, and what the reviews said.

One value, as JSON for a machine; ``REPORT.md`` is drawn from the same value. Knows no disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from hermes_kernel.core.figures import counted
from hermes_kernel.core.learning.curating import Move

FORMAT = 1
RUNNING, DONE, INTERRUPTED, FAILED = "running", "done", "interrupted", "failed"
MOVE, PATCH = "move", "patch"
PLANNED, DID, UNDONE, PROPOSED = "planned", "done", "not done", "waits for consent"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do to the skill ``name``: a ``move`` from ``before`` to ``after``, or a ``patch`` that puts ``new``
    for ``old`` in its SKILL.md. ``cause`` and ``into`` are as in `Move`. ``outcome`` says whether it was done, ``said``
    what was said of that, ``diff`` what changed in its text; ``session`` is that of the review that wants it."""

    kind: str
    name: str
    before: str = ""
    after: str = ""
    cause: str = ""
    why: str = ""
    into: str = ""
    old: str = ""
    new: str = ""
    outcome: str = PLANNED
    said: str = ""
    diff: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """A model was asked about ``skills``, one or two that are alike to ``score``; it said ``verdict`` for ``reason`` in
    the session ``session``, which took ``calls`` model calls and ``tokens``. ``trouble``: why there is no verdict."""

    skills: tuple[str, ...]
    verdict: str = ""
    reason: str = ""
    session: str = ""
    calls: int = 0
    tokens: int = 0
    score: float = 0.0
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """``id`` names its folder. Times are seconds since 1970-01-01 UTC: ``began`` and ``ended`` on the clock, ``now``
    the time for which the plan was made. ``action`` is ``run`` or ``rollback`` (then ``of`` names what it takes back);
    ``asked`` says why no model was asked, or how many; ``snapshot`` counts the folders that were kept before,
    ``rolled_back`` names the run that took it back."""

    id: str
    began: float
    now: float
    by: str = "curator"
    action: str = "run"
    of: str = ""
    status: str = RUNNING
    ended: float = 0.0
    snapshot: int = 0
    steps: tuple[Step, ...] = ()
    held: tuple[tuple[str, str], ...] = ()
    reviews: tuple[Review, ...] = ()
    asked: str = ""
    why: str = ""
    rolled_back: str = ""

    @property
    def done(self) -> tuple[Step, ...]:
        """The steps that were carried out."""
        return tuple(step for step in self.steps if step.outcome == DID)

    @property
    def names(self) -> tuple[str, ...]:
        """The skills that it changed, each once."""
        return tuple(dict.fromkeys(step.name for step in self.done))

    @property
    def calls(self) -> int:
        """Model calls of its reviews."""
        return sum(review.calls for review in self.reviews)

    @property
    def tokens(self) -> int:
        """Tokens of its reviews."""
        return sum(review.tokens for review in self.reviews)

    def with_step(self, at: int, step: Step) -> Run:
        """The same run with another step number `at`."""
        return replace(self, steps=(*self.steps[:at], step, *self.steps[at + 1 :]))


def step_of(move: Move) -> Step:
    """The step that carries out a move of the plan."""
    return Step(MOVE, move.name, move.before.value, move.after.value, move.cause.name.lower(), move.why, move.into)


def plain(run: Run) -> dict[str, Any]:
    """`run` as JSON has it."""
    return {"format": FORMAT, **asdict(run)}


def understood(said: Mapping[str, Any]) -> Run:
    """The run that `plain` made it from; what a later version adds is left out.

    Raises:
        ValueError: it is no run.
    """
    try:
        held = tuple((str(name), str(why)) for name, why in said.get("held", ()))
        steps = tuple(_made(Step, each) for each in said.get("steps", ()))
        reviews = tuple(_made(Review, {**each, "skills": tuple(each["skills"])}) for each in said.get("reviews", ()))
        run: Run = _made(Run, {**said, "held": held, "steps": steps, "reviews": reviews})
    except (TypeError, KeyError, AttributeError, ValueError):
        raise ValueError("this is no record of a run") from None
    return run


def _made(kind: type[Any], said: Mapping[str, Any]) -> Any:
    """One of `kind`, each field as the field's default has it: a text is a text.

    Raises:
        TypeError: it is none.
    """
    known = {field.name: field.type for field in fields(kind)}
    given = {name: value for name, value in said.items() if name in known}
    kinds: Mapping[str, type | tuple[type, ...]] = {"str": str, "int": int, "float": (int, float)}
    if not all(isinstance(value, kinds.get(str(known[name]), object)) for name, value in given.items()):
        raise TypeError
    return kind(**given)


def words(run: Run) -> str:
    """What came of it in one line."""
    if run.action == "rollback":
        return f"took back {run.of}: {counted(len(run.names), 'skill')} put back as before"
    ways = {"stale": "made stale", "archived": "archived", "active": "active again", "": "patched"}
    counts = {way: sum(1 for step in run.done if step.after == after) for after, way in ways.items()}
    parts = [f"{count} {way}" for way, count in counts.items() if count]
    waiting = sum(1 for step in run.steps if step.outcome == PROPOSED)
    parts += [f"{waiting} waiting for consent"] if waiting else []
    return ", ".join(parts) or "nothing to do"


def sentence(run: Run) -> str:
    """The same as a sentence. But for its beginning it stands as it is: by an id in other letters no run is found."""
    said = words(run)
    return f"{said[:1].upper()}{said[1:]}."
