"""What a schedule's text means: once at an instant, every so many seconds, or at the times of a cron line. Values."""

from __future__ import annotations

from dataclasses import dataclass

SHORTEST = 60
"""Seconds between two instants at least: work that costs money and that nobody watches is not done more often."""


class ScheduleError(ValueError):
    """A text that is no schedule, in one or two lines: what is wrong by name, and the nearest valid forms, each between
    backticks. ``what`` and ``near`` are its parts."""

    def __init__(self, what: str, *near: str) -> None:
        self.what, self.near = what, near
        super().__init__(
            "\n".join([what, *(["Nearest: " + " or ".join(f"`{each}`" for each in near)] if near else [])])
        )


@dataclass(frozen=True, slots=True)
class At:
    """Once, at the instant ``t``: whole seconds since 1970-01-01 UTC."""

    t: float


@dataclass(frozen=True, slots=True)
class Every:
    """Again and again, so many real seconds apart, whatever clocks show; counted from when the job was made."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Cron:
    """Whenever clocks in the zone show a time that the ``line`` has: five fields in digits, as `cronline.canonical`
    writes them."""

    line: str


When = At | Every | Cron


@dataclass(frozen=True, slots=True)
class Timed:
    """A schedule and the IANA time zone whose clocks it goes by, or, for `At` and `Every`, in which it is shown."""

    when: When
    zone: str
