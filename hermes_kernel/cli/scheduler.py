"""``hermes-kernel scheduler``: stays, and has each job run when it is due. Kernels that watched step back meanwhile."""

from __future__ import annotations

import argparse
import asyncio

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.cli.trouble import Failure


def add_scheduler(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its option."""
    made = command(commands, "scheduler", "stay, and run each job when it is due")
    made.add_argument("--wait", action="store_true", help="where another one is at it, take its place when it ends")
    made.set_defaults(do=scheduler)


def scheduler(options: argparse.Namespace) -> int:
    """Stay until a signal ends it; runs that go on are stopped then, and recorded so.

    Raises:
        SettingsError: a setting is wrong.
        Failure: another scheduler is at it.
        StoreError: the store cannot be used.
    """
    from hermes_kernel.errors import HermesError
    from hermes_kernel.scheduling.scheduling import make_ticker
    from hermes_kernel.scheduling.staying import stay
    from hermes_kernel.settings import Settings
    from hermes_kernel.world.clock import SystemClock
    from hermes_kernel.world.ids import fresh_id

    settings, clock = Settings.load(), SystemClock()
    try:
        with opened() as store:
            asyncio.run(
                stay(lambda: make_ticker(settings, store, clock, fresh_id), settings, clock, _say, wait=options.wait)
            )
    except HermesError as error:
        raise Failure(str(error)) from None
    return 0


def _say(line: str) -> None:
    from hermes_kernel.view import clean

    print(clean(line), flush=True)  # whoever reads a log reads it now
