"""Tab after ``%hermes schedule``, ``jobs`` and ``runs``: words, options and what they name. Knows no store."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser
from collections.abc import Callable, Iterable
from zoneinfo import available_timezones

from hermes_kernel.core.schedule.job import DESKTOP, FILE, MISFIRES, NONE, NOTEBOOK
from hermes_kernel.scheduling.faces.verbs import TARGETED, VERBS, job_options
from hermes_kernel.scheduling.wishes import APPROVALS

There = Callable[[str], Iterable[str]]
"""The names there are of a kind: ``job``, ``run``, ``target`` or ``skill``."""

COMMANDS = frozenset({"schedule", "jobs", "runs"})
NAMING = ("show", "change", "pause", "resume", "run", "remove")
MADE = "add"  # which a notebook need not say
CHANGED = ("--when", "--prompt")


def following(command: str, begun: str, there: There) -> tuple[str, list[str]]:
    """The end of what is being written behind a command, and what may take its place."""
    *before, last = begun.split(" ")
    words = [word for word in before if word]
    known = _known(command, words, last, there)
    return last, [name for name in dict.fromkeys(known) if name.startswith(last)]


def _known(command: str, words: list[str], last: str, there: There) -> Iterable[str]:
    if words and (values := VALUES.get(words[-1])):
        return values(there)
    if last.startswith("--"):
        return options(change=words[:1] == ["change"])
    place = PLACES.get((command, *words))
    return place(there) if place else ()


def options(*, change: bool = False) -> list[str]:
    """The options of a job, and of a change to one."""
    parser = ArgumentParser(add_help=False)
    job_options(parser)
    told = [action for action in parser._actions if action.help != SUPPRESS]  # noqa: SLF001 - it lists them nowhere else
    named = [name for action in told for name in action.option_strings if name.startswith("--")]
    return [*(CHANGED if change else ()), *named]


PLACES: dict[tuple[str, ...], Callable[[There], Iterable[str]]] = {
    ("schedule",): lambda _: (verb for verb in VERBS if verb != MADE),
    **{("schedule", verb): lambda there: there("job") for verb in NAMING},
    ("schedule", "stop"): lambda there: there("run"),
    ("schedule", "runs"): lambda there: (*there("job"), *there("run")),
    ("schedule", "targets"): lambda _: TARGETED,
    ("schedule", "targets", "remove"): lambda there: there("target"),
    ("schedule", "targets", "test"): lambda there: there("target"),
    ("jobs",): lambda there: there("job"),
    ("runs",): lambda there: ("stop", *there("job"), *there("run")),
    ("runs", "stop"): lambda there: there("run"),
}
"""What may stand behind these words."""

VALUES: dict[str, Callable[[There], Iterable[str]]] = {
    "--zone": lambda _: sorted(available_timezones()),
    "--tz": lambda _: sorted(available_timezones()),
    "--misfire": lambda _: MISFIRES,
    "--approvals": lambda _: APPROVALS,
    "--deliver": lambda there: (NONE, NOTEBOOK, DESKTOP, FILE, *there("target")),
    "--skill": lambda there: there("skill"),
}
"""What may stand behind an option."""
