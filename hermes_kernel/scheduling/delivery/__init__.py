"""Reports reach people: `Messenger` sends them, `Targets` knows where. Whom a job tells is the job's to say."""

from __future__ import annotations

from hermes_kernel.scheduling.delivery.messenger import Messenger
from hermes_kernel.scheduling.delivery.targets import Shown, Targets

__all__ = ["Messenger", "Shown", "Targets"]
