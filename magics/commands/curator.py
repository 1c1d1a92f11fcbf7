"""``%hermes curator``: what becomes of skills that nobody uses. See it, have it done now, take it back."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.learning.curating_runs import INTERRUPTED, Run, plain
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.curating import Curator
from hermes_kernel.learning.curating.telling import outcome, readable, rehearsal, standing
from hermes_kernel.view import clean
from hermes_kernel.world.blocking import Blocking
from hermes_kernel.world.stop import Stop
from magics.commands.table import Page, Shown, Table, as_it_stands, facts
from magics.verdict import stopped

if TYPE_CHECKING:
    from magics.desk import Desk

TAKES = {
    "": "", "plan": "", "run": "[--dry-run] [--review|--no-review]", "report": "[RUN]", "rollback": "[RUN]",
    "restore": "NAME", "accept": "ID", "reject": "ID",
}  # fmt: skip
FLAGS = frozenset({"--dry-run", "--review", "--no-review"})
STOPPED = "Interrupted between two steps. Every skill is whole; the next run does the rest."


def curator(desk: Desk, rest: str) -> Shown:
    """What follows ``curator``: nothing, or what it is to do.

    Raises:
        HermesError: it cannot be done, or is nothing that can be done.
        KeyboardInterrupt: a run was stopped.
    """
    action, *words = rest.split() or [""]
    if action not in TAKES:
        actions = ", ".join(f"{name} {takes}".strip() for name, takes in TAKES.items() if name)
        raise HermesError(f"curator takes nothing or {actions}, not {brief(action, 40)!r}.")
    if len(words) > TAKES[action].count("[") + (TAKES[action] in ("NAME", "ID")) or not _fits(action, words):
        raise HermesError(f"It is written: %hermes curator {action} {TAKES[action]}".rstrip())
    return DO[action](desk.agent.learning.curator, words)


def _fits(action: str, words: Sequence[str]) -> bool:
    if action == "run":
        return FLAGS.issuperset(words) and not {"--review", "--no-review"} <= set(words)
    return bool(words) or TAKES[action] not in ("NAME", "ID")


def _standing(tended: Curator, _: Sequence[str]) -> Table:
    return facts(*standing(tended), value=tended.status())


def _plan(tended: Curator, _: Sequence[str]) -> Table:
    made = tended.plan()
    moves = tuple((move.name, move.before.value, move.after.value, move.why) for move in made.moves)
    held = tuple((name, "", "never moves", why) for name, why in made.held)
    rows = tuple(tuple(clean(cell) for cell in row) for row in (*moves, *held))
    note = "" if moves else "Nothing is due."
    return Table(("skill", "from", "to", "why") if rows else (), rows, made, note)


def _run(tended: Curator, words: Sequence[str]) -> Page:
    review = True if "--review" in words else False if "--no-review" in words else None
    if "--dry-run" in words:
        run = _waited(lambda stop: tended.rehearse(review=review, stop=stop))
        return _page(rehearsal(run), run)
    run = _waited(lambda stop: tended.run(review=review, stop=stop))
    if run.status == INTERRUPTED:
        raise stopped(STOPPED)
    return _page(outcome(run), run)


def _waited(work: Callable[[Stop], Coroutine[Any, Any, Run]]) -> Run:
    """What came of it. An interrupt ends it between two steps."""
    stop = Stop()
    waiting = Blocking(stop.press)
    try:
        return waiting.run(work(stop))
    finally:
        waiting.close()


def _report(tended: Curator, words: Sequence[str]) -> Page:
    name = words[0] if words else "last"
    run = tended.find(name)
    return _page(readable(tended.report(name)), run)


def _rollback(tended: Curator, words: Sequence[str]) -> Page:
    run = _waited(lambda _: tended.rollback(words[0] if words else ""))
    return _page(outcome(run), run)


def _page(text: str, run: Run) -> Page:
    return as_it_stands(text, plain(run))


def _said(text: str) -> Table:
    return Table((), (), text, clean(text))


DO: dict[str, Callable[[Curator, Sequence[str]], Shown]] = {
    "": _standing,
    "plan": _plan,
    "run": _run,
    "report": _report,
    "rollback": _rollback,
    "restore": lambda tended, words: _said(tended.restore(words[0])),
    "accept": lambda tended, words: _said(tended.accept(words[0])),
    "reject": lambda tended, words: _said(tended.reject(words[0])),
}
