"""``%hermes schedule``, ``jobs`` and ``runs``: work at set times. Make it, see what came of it, have it run or stop."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn

from IPython.display import display

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.scheduling.delivery import Messenger, Targets
from hermes_kernel.scheduling.faces.doing import Hands, coming, do
from hermes_kernel.scheduling.faces.telling import Told
from hermes_kernel.scheduling.faces.verbs import VERBS, job_options
from hermes_kernel.view import clean
from hermes_kernel.view.columns import aligned
from magics.commands.table import Shown, Table, as_it_stands
from magics.options import split

if TYPE_CHECKING:
    from hermes_kernel.core.schedule.job import Job
    from magics.desk import Desk

MAKING = "add"
ALIKE = 0.8  # of 1: how like a command a word is that was meant as one
OFFERED = 20  # runs that are offered, the latest
MADE = (
    ('%hermes schedule "WHEN" "PROMPT" [options]', "make a job: WHEN is such as every monday 9am, in 90 minutes"),
    (
        '%hermes schedule "WHEN" NOTEBOOK.ipynb [options]',
        "make a job of a notebook; -p week=48 is a value on top of it",
    ),
    ('%%hermes --schedule "WHEN" [options]', "make a job; the rest of the cell is the prompt"),
)


class Words(ArgumentParser):
    """Reads words; what is wrong with them is an error that a notebook shows."""

    def __init__(self, prog: str, **_: Any) -> None:
        super().__init__(prog, add_help=False, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and how it is written."""
        raise HermesError(f"{self.prog}: {message}.")


def schedule(desk: Desk, rest: str) -> Shown:
    """What follows ``schedule``: a time and a prompt, or what is to be done with the jobs there are.

    Raises:
        HermesError: it cannot be done, or is nothing that can be done.
    """
    words = split(rest)
    if not words:
        return _done(desk, ["list"])
    if words[0] in VERBS:
        return _done(desk, words)
    if meant := get_close_matches(words[0], VERBS, 1, ALIKE):
        raise HermesError(f"There is no `schedule {brief(words[0], 40)}`. Close to it: `schedule {meant[0]}`.")
    return _done(desk, [MAKING, *words])


def jobs(desk: Desk, rest: str) -> Shown:
    """The jobs there are; with a name, all about one."""
    words = split(rest)
    return _done(desk, ["show", *words] if words else ["list"])


def runs(desk: Desk, rest: str) -> Shown:
    """What became of each time; with a run, all about it; with ``stop``, its end."""
    words = split(rest)
    return _done(desk, words if words[:1] == ["stop"] else ["runs", *words])


def schedule_cell(desk: Desk, line: str, body: str) -> Job:
    """A cell whose line begins with ``--schedule WHEN``: a job of the prompt below it. It is shown, and in ``_``.

    Raises:
        HermesError: it cannot be made.
    """
    when, *words = split(line.removeprefix("--schedule").lstrip(" \t=")) or [""]
    if not when or when.startswith("--"):
        raise HermesError(f"--schedule needs a time in quotes: {MADE[-1][0]}.")
    options = read([MAKING, when, *words])
    options.prompt = "\n".join(filter(None, (options.prompt, body.strip())))
    shown = _shown(do(hands(desk), options))
    display(shown.plain() if desk.settings.plain else shown)
    desk.hand_over(shown.value)
    made: Job = shown.value
    return made


def forms() -> tuple[tuple[str, str], ...]:
    """How everything about jobs is written, and what it does."""
    parser = ArgumentParser(add_help=False)
    job_options(parser)
    told = [action for action in parser._actions if action.help != SUPPRESS]  # noqa: SLF001 - it lists them nowhere else
    options = ((f"    {', '.join(each.option_strings)} {each.metavar or ''}".rstrip(), str(each.help)) for each in told)
    verbs = ((f"%hermes schedule {verb} {each.takes}".rstrip(), each.about) for verb, each in VERBS.items())
    return (*MADE, *options, *(row for row in verbs if not row[0].startswith(f"%hermes schedule {MAKING}")))


def named(desk: Desk, kind: str) -> Iterable[str]:
    """The names of the jobs, runs or targets there are, for whoever begins to write one."""
    if kind == "target":
        return Targets(desk.agent.settings.home, desk.agent.settings).names()
    if kind == "run":
        return [row.run for row in desk.agent.jobs.runs(limit=OFFERED)]
    return [each.job.name for each in desk.agent.jobs.list()]


def read(words: list[str]) -> Namespace:
    """What these words ask for.

    Raises:
        HermesError: they ask for nothing that there is.
    """
    parser = Words("schedule")
    below = parser.add_subparsers(dest="verb", metavar="COMMAND", required=True)
    for name, verb in VERBS.items():
        made = below.add_parser(name, prog=f"schedule {name}" if name != MAKING else "schedule")
        verb.arguments(made)
    return parser.parse_args(words)


def _done(desk: Desk, words: list[str]) -> Shown:
    options = read(words)
    if options.verb == "next":
        return _shown(coming(options, desk.agent.now(), desk.agent.jobs.zone()))
    return _shown(do(hands(desk), options))


def hands(desk: Desk) -> Hands:
    """What a notebook brings to what is done with jobs."""
    settings = desk.agent.settings
    messenger = Messenger(settings.home, Targets(settings.home, settings))
    return Hands(desk.agent.jobs, desk.store, messenger, watches=settings.schedule_watch and not settings.spec)


def _shown(told: Told) -> Shown:
    if not told.text:
        return Table(told.columns, told.rows, told.value, clean(told.note))
    head = "\n".join(aligned(told.columns, told.rows))
    text = "\n\n".join(filter(None, (head, clean(told.text).rstrip(), clean(told.note))))
    return as_it_stands(text, told.value)
