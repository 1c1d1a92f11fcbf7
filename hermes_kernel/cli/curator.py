"""``hermes-kernel curator``: what becomes of skills that nobody uses. See it, have it done now, take it back."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hermes_kernel.cli.opened import Commands, command
from hermes_kernel.cli.trouble import Failure, Misuse

if TYPE_CHECKING:
    from hermes_kernel.core.learning.curating_runs import Run
    from hermes_kernel.learning.curating import Curator


def add_curator(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command, and those below it."""
    made = command(commands, "curator", "put away skills that nobody uses; see, plan, take back")
    made.add_argument("--json", action="store_true", help="JSON instead of text")
    made.set_defaults(do=curator, action=_status)
    below = made.add_subparsers(title="what to do (default: status)", metavar="COMMAND")
    _below(below, "plan", "see what is due, and what never moves; asks no model and writes nothing", _plan)
    run = _below(below, "run", "do what is due now", _run)
    run.add_argument("--dry-run", action="store_true", help="only show what would be done, as a diff; write nothing")
    run.add_argument("--as-of", metavar="T", default="", help="make the plan for this time, such as 2027-03-01T12:00Z")
    asked = run.add_mutually_exclusive_group()
    asked.add_argument("--review", action="store_true", help="ask a model, even a small local one")
    asked.add_argument("--no-review", action="store_true", help="ask no model")
    _below(below, "status", "see the last run, the next one and what holds it", _status)
    _below(below, "report", "read what a run did", _report).add_argument(
        "run", metavar="RUN", nargs="?", default="last"
    )
    _below(below, "restore", "bring an archived skill back", _restore).add_argument("name", metavar="NAME")
    rollback = _below(below, "rollback", "put all skills back as they were before a run", _rollback)
    rollback.add_argument(
        "run", metavar="RUN", nargs="?", default="", help="its id (default: the last that did something)"
    )
    _below(below, "accept", "do what a review has proposed", _accept).add_argument("name", metavar="ID")
    _below(below, "reject", "do not do what a review has proposed", _reject).add_argument("name", metavar="ID")


Done = tuple[Any, str]
"""A value for a program, and what a person reads."""


def _below(
    commands: Commands[argparse.ArgumentParser],
    name: str,
    about: str,
    do: Callable[[Curator, argparse.Namespace], Done],
) -> argparse.ArgumentParser:
    made = command(commands, name, about)
    made.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="JSON instead of text")
    made.set_defaults(action=do)
    return made


def curator(options: argparse.Namespace) -> int:
    """Do what is asked for and print what came of it.

    Raises:
        Misuse: a time is none.
        Failure: it cannot be done.
        StoreError: the store cannot be used.
    """
    from hermes_kernel.errors import HermesError

    with _tended() as tended:
        try:
            value, text = options.action(tended, options)
        except HermesError as error:
            raise Failure(str(error)) from None
    print(json.dumps(value, ensure_ascii=False, indent=2) if options.json else text)
    return 0


@contextmanager
def _tended() -> Iterator[Curator]:
    """The curator of this home. Unlike other commands, this folds nothing: a rehearsal leaves the home as it is."""
    from hermes_kernel.learning.lore import open_learning
    from hermes_kernel.settings import Settings
    from hermes_kernel.world.clock import SystemClock
    from hermes_kernel.world.ids import fresh_id
    from hermes_kernel.world.store.opening import open_store

    settings = Settings.load()
    store = open_store(settings.home, settings.store_url)
    try:
        yield open_learning(settings, store, SystemClock(), fresh_id).curator
    finally:
        store.close()


def _run(tended: Curator, options: argparse.Namespace) -> Done:
    from hermes_kernel.learning.curating.telling import outcome, rehearsal

    now = _time(options.as_of) if options.as_of else None
    review = True if options.review else False if options.no_review else None
    if options.dry_run:
        run = asyncio.run(tended.rehearse(now=now, review=review))
        return _plain(run), rehearsal(run)
    run = asyncio.run(tended.run(now=now, review=review))
    return _plain(run), outcome(run)


def _plan(tended: Curator, _: argparse.Namespace) -> Done:
    from hermes_kernel.learning.curating.telling import rehearsal

    run = asyncio.run(tended.rehearse(review=False))
    return _plain(run), rehearsal(run)


def _time(text: str) -> float:
    from datetime import datetime

    from hermes_kernel.world.zone import LOCAL

    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=LOCAL)).timestamp()
    except (ValueError, OverflowError):
        raise Misuse(f"--as-of takes an ISO date or time, such as 2027-03-01T12:00Z, not {text!r}") from None


def _plain(run: Run) -> dict[str, Any]:
    from hermes_kernel.core.learning.curating_runs import plain

    return plain(run)


def _status(tended: Curator, _: argparse.Namespace) -> Done:
    from hermes_kernel.learning.curating.telling import as_json, standing
    from hermes_kernel.view.columns import aligned

    return as_json(tended), "\n".join(aligned(("", ""), standing(tended)))


def _report(tended: Curator, options: argparse.Namespace) -> Done:
    from hermes_kernel.learning.curating.telling import readable

    return _plain(tended.find(options.run)), readable(tended.report(options.run))


def _restore(tended: Curator, options: argparse.Namespace) -> Done:
    return _said(tended.restore(options.name))


def _rollback(tended: Curator, options: argparse.Namespace) -> Done:
    from hermes_kernel.learning.curating.telling import outcome

    run = asyncio.run(tended.rollback(options.run))
    return _plain(run), outcome(run)


def _accept(tended: Curator, options: argparse.Namespace) -> Done:
    return _said(tended.accept(options.name))


def _reject(tended: Curator, options: argparse.Namespace) -> Done:
    return _said(tended.reject(options.name))


def _said(text: str) -> Done:
    from hermes_kernel.core.safe import clean

    return {"said": text}, clean(text)
