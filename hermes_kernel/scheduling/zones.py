"""The time zone of who asks for a job: that of this machine."""

from __future__ import annotations

from hermes_kernel.world.zone import local_name as local_zone

__all__ = ["local_zone"]
