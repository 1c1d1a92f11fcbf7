"""What a run of a job may say of jobs, by commands and in its cells: look. Whoever made it said what more it may."""

from __future__ import annotations

from argparse import Namespace

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.settings import Settings
from hermes_kernel.world.run import NAME, this_run

LOOKS = frozenset({"list", "show", "runs"})
CHARS = 60  # of a run's name
REFUSED = (
    "This is the run {} of a job: it makes and changes none by commands. With --jobs it has the tool `schedule`, with "
    f"--approvals allow as well it may do it here. If this is no run, unset {NAME}."
)


def as_a_run_may(settings: Settings, options: Namespace) -> None:
    """Refuse a change where this process is part of a run that may not do all that a person may.

    Raises:
        HermesError: it is.
    """
    looks = options.verb in LOOKS or (options.verb == "targets" and options.action == "list")
    trusted = (settings.schedule_writes, settings.approvals) == ("on", "allow")
    if (run := this_run()) and not looks and not trusted:
        raise HermesError(REFUSED.format(brief(run, CHARS)))
