"""``hermes-kernel schedule``: work at set times, and what became of it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.cli.piped import piped
from hermes_kernel.cli.trouble import Failure

if TYPE_CHECKING:
    from hermes_kernel.scheduling.faces.doing import Hands
    from hermes_kernel.scheduling.faces.telling import Told

ALIASES = {"targets": ("target",)}
WAITED = 0.5  # seconds between two looks at a run that is waited for


def add_schedule(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command, and those below it."""
    from hermes_kernel.scheduling.faces.verbs import VERBS

    made = command(commands, "schedule", "have work done at set times; see it, change it, have it run or stop")
    made.add_argument("--json", action="store_true", help="JSON instead of text")
    made.set_defaults(do=schedule, verb="list")
    below = made.add_subparsers(title="what to do (default: list)", metavar="COMMAND")
    for name, verb in VERBS.items():
        each = below.add_parser(
            name,
            aliases=ALIASES.get(name, ()),
            help=verb.about,
            description=f"{verb.about[0].upper()}{verb.about[1:]}.",
        )
        verb.arguments(each)
        each.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="JSON instead of text")
        each.set_defaults(verb=name)
        if name == "run":
            each.add_argument("--wait", action="store_true", help="until it has ended; 1 where it did not end well")


def schedule(options: argparse.Namespace) -> int:
    """Do what is asked for and print what came of it.

    Raises:
        SettingsError: a setting is wrong.
        Misuse: what was piped in is no text.
        Failure: it cannot be done.
        StoreError: the store cannot be used.
    """
    from hermes_kernel.errors import HermesError
    from hermes_kernel.scheduling.faces.doing import coming, do
    from hermes_kernel.world.zone import local_name

    try:
        if options.verb == "next":
            return _printed(coming(options, time.time(), local_name()), options)
        if getattr(options, "url", "") == "-":
            options.url = piped(sys.stdin.readline).strip()  # neither in the list of processes nor in a shell's history
        with hands() as held:
            told = do(held, options)
            if options.verb == "run" and options.wait:
                return _waited(held, str(told.value), options)
            return _printed(told, options)
    except HermesError as error:
        raise Failure(str(error)) from None


@contextmanager
def hands() -> Iterator[Hands]:
    """The jobs of this home, for as long as a command needs them."""
    from hermes_kernel.learning.lore import open_learning
    from hermes_kernel.scheduling.delivery import Messenger, Targets
    from hermes_kernel.scheduling.faces.doing import Hands
    from hermes_kernel.scheduling.scheduling import open_jobs
    from hermes_kernel.settings import Settings
    from hermes_kernel.world.clock import SystemClock
    from hermes_kernel.world.ids import fresh_id

    settings, clock = Settings.load(), SystemClock()
    with opened() as store:
        skills = open_learning(settings, store, clock, fresh_id).skills.names
        jobs = open_jobs(settings, store, clock, fresh_id, skills)
        yield Hands(jobs, store, Messenger(settings.home, Targets(settings.home, settings)))


def _printed(told: Told, options: argparse.Namespace) -> int:
    from hermes_kernel.core.safe import clean
    from hermes_kernel.view.columns import aligned

    if options.json:
        print(json.dumps(told.plain, ensure_ascii=False, indent=2))
        return 0
    head = "\n".join(aligned(told.columns, told.rows)) if told.rows else ""
    text = clean(told.text).strip()
    print("\n".join(filter(None, (head, f"\n{text}\n" if text else "", clean(told.note)))))
    return 0


def _waited(held: Hands, run: str, options: argparse.Namespace) -> int:
    """The run, once it has ended. Who no longer wants to wait is told how to end it."""
    from hermes_kernel.scheduling.faces.doing import about, ended

    try:
        while (row := ended(held, run)) is None:
            time.sleep(WAITED)
    except KeyboardInterrupt:
        raise Failure(f"{run} goes on: `hermes-kernel schedule stop {run}` ends it") from None
    _printed(about(held.store, row, held.jobs.zone()), options)
    return 0 if row.outcome == "ran" else 1
