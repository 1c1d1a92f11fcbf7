"""``hermes-kernel tick``: all that is due, done once. For cron, systemd and Kubernetes; open kernels start it."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from hermes_kernel.cli.opened import Commands, command, opened

if TYPE_CHECKING:
    from hermes_kernel.scheduling.ticking import Handled, Ticker


def add_tick(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its option."""
    made = command(commands, "tick", "run the jobs that are due, once; a line for each thing that was done")
    made.add_argument("--json", action="store_true", help="JSON instead of text")
    made.set_defaults(do=tick)


def tick(options: argparse.Namespace) -> int:
    """Do all that is due, and what becomes due meanwhile, and print it. A run that failed is told and on record: the
    tick itself has done its work. A signal to end stops the runs that go on.

    Raises:
        SettingsError: a setting is wrong.
        StoreError: the store cannot be used.
    """
    from hermes_kernel.scheduling.agenda import Agenda
    from hermes_kernel.scheduling.faces.telling import ticked
    from hermes_kernel.scheduling.scheduling import make_ticker
    from hermes_kernel.settings import Settings
    from hermes_kernel.view import clean
    from hermes_kernel.world.clock import SystemClock
    from hermes_kernel.world.ids import fresh_id

    settings = Settings.load()
    handled: list[Handled] = []

    def tell(each: Handled) -> None:
        handled.append(each)
        if not options.json:
            print(clean(str(each)), flush=True)  # a run may take an hour, and whoever reads a log reads it now

    with opened() as store:
        asyncio.run(_tick(make_ticker(settings, store, SystemClock(), fresh_id), tell))
    told = ticked(handled, Agenda(settings.home).read())
    print(json.dumps(told.plain, ensure_ascii=False, indent=2) if options.json else told.note)
    return 0


async def _tick(ticker: Ticker, tell: Callable[[Handled], None]) -> None:
    from hermes_kernel.scheduling.staying import signals_press
    from hermes_kernel.world.stop import Stop

    stop = Stop()
    with signals_press(stop):
        await ticker.tick(stop, tell)
