"""What a run of a job may do with jobs, in its cells and by commands: look. Whoever made it said what more it may."""

from __future__ import annotations

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.settings import Settings
from hermes_kernel.world.run import NAME, this_run

CHARS = 60  # of a run's name
REFUSED = (
    "This is the run {} of a job: it makes and changes none as a person does. With --jobs it has the tool `schedule`, "
    f"with --approvals allow as well it may do it here. If this is no run, unset {NAME}."
)


def as_a_run_may(settings: Settings) -> None:
    """Refuse a change in a person's name where this process is part of a run that may not do all that a person may.

    Raises:
        HermesError: it is.
    """
    trusted = (settings.schedule_writes, settings.approvals) == ("on", "allow")
    if (run := this_run()) and not trusted:
        raise HermesError(REFUSED.format(brief(run, CHARS)))
