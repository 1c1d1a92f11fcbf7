"""The words below ``schedule`` and the options of a job, for a notebook and a shell: read here, done in ``doing``."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hermes_kernel.core.schedule.job import MISFIRES
from hermes_kernel.scheduling.faces.reading import NONE, count, grace, names, number, parameter

COMING = 5  # instants that are shown of a time that is only asked about
ROWS = 20  # runs that are shown
LISTED = ("skills", "deliver")
TARGETED = ("list", "add", "remove", "test")


class Verb(NamedTuple):
    """One thing to do: how it is written, what it does, and what may follow it."""

    takes: str
    about: str
    arguments: Callable[[ArgumentParser], None]


def job_options(parser: ArgumentParser) -> None:
    """What may be said of a job beside its time and its prompt. What is not said is not in what is read."""
    say = _teller(parser)
    say("--name", "N", "what it is called", str)
    say("--zone", "Z", "the time zone of its times, such as Europe/Zurich (default: the machine's)", str)
    parser.add_argument("--tz", metavar="Z", default=SUPPRESS, dest="zone", help=SUPPRESS)
    say("--skill", "S", "read this skill first; may be said again", str, action="append", dest="skills")
    say("--tools", "A,B", "offer only these tools; `none`, `all`", names)
    say("--model", "M", "ask this model", str)
    say("--budget", "N", "model calls a run may make", number)
    say("--folder", "D", "where it works", str)
    say("--notebook", "PATH", "run this notebook instead of a prompt", str)
    parser.add_argument(
        "-p", "--parameter", metavar="NAME=VALUE", type=parameter, action="append", default=SUPPRESS,
        dest="parameters", help="a value on top of the notebook; may be said again",
    )  # fmt: skip
    say("--repeat", "N", "be over after so many runs; 0 for no end", number)
    say("--misfire", "WHAT", f"what becomes of missed times: {', '.join(MISFIRES)} (default: once)", str)
    say("--grace", "D", "how late is still on time, such as 10m; `usual` leaves it to the schedule", grace)
    say("--jitter", "D", "by how much a start may be put off, each by another share", str)
    say("--timeout", "D", "how long a run may take; 0 for no end", str)
    say("--deliver", "TARGET", "whom to tell: none, notebook, desktop, file:PATH or a target's name; may be said again",
        str, action="append")  # fmt: skip
    say("--approvals", "WHAT", "what becomes of tools that ask first: deny (default) or allow", str)
    say("--keep", "N", "notebooks of runs to keep", number)
    for name, about in (("--jobs", "its runs may make jobs"), ("--anywhere", "run it in any home with this store")):
        parser.add_argument(name, action=BooleanOptionalAction, default=SUPPRESS, help=about)


def _teller(parser: ArgumentParser) -> Callable[..., None]:
    def say(name: str, metavar: str, about: str, read: Callable[[str], Any], **more: Any) -> None:
        parser.add_argument(name, metavar=metavar, default=SUPPRESS, help=about, type=read, **more)

    return say


def wishes(options: Namespace) -> dict[str, Any]:
    """What was said of a job, by the names that `Jobs.add` and `Jobs.change` know it by."""
    said = {name: value for name, value in vars(options).items() if name in WISHES}
    for name in LISTED:
        if name in said:
            said[name] = () if name == "skills" and said[name] == [NONE] else tuple(said[name])
    if "parameters" in said:
        said["parameters"] = dict(said["parameters"])
    return said


def notebook_in(words: str) -> bool:
    """The words of a prompt name a notebook: a path that ends as one, and is one word or is there."""
    return words.strip().lower().endswith(".ipynb") and (len(words.split()) == 1 or Path(words).expanduser().is_file())


def _add(parser: ArgumentParser) -> None:
    parser.add_argument("when", metavar="WHEN", help="such as 'every monday 9am', 'in 90 minutes', '30 18 * * 1-5'")
    parser.add_argument("prompt", metavar="PROMPT", nargs="?", default="", help="what is to be done, or a .ipynb file")
    job_options(parser)


def _change(parser: ArgumentParser) -> None:
    _which(parser)
    parser.add_argument("--when", metavar="WHEN", default=SUPPRESS, help="at other times")
    parser.add_argument("--prompt", metavar="PROMPT", default=SUPPRESS, help="do something else")
    job_options(parser)


def _which(parser: ArgumentParser) -> None:
    parser.add_argument("which", metavar="NAME", help="the job's name, or the beginning of its id")


def _stop(parser: ArgumentParser) -> None:
    parser.add_argument("which", metavar="RUN|NAME", help="a run, or the job whose run is to end")


def _next(parser: ArgumentParser) -> None:
    parser.add_argument("when", metavar="WHEN", help="such as 'every monday 9am'")
    parser.add_argument("--zone", "--tz", metavar="Z", default="", help="the time zone (default: the machine's)")
    parser.add_argument("--from", metavar="T", default="", dest="since", help="after this time, such as 2027-03-01")
    parser.add_argument("-n", metavar="N", type=count, default=COMING, help=f"so many times (default: {COMING})")


def _runs(parser: ArgumentParser) -> None:
    parser.add_argument("which", metavar="NAME|RUN", nargs="?", default="", help="of one job; or all about one run")
    parser.add_argument("-n", metavar="N", type=count, default=ROWS, help=f"so many, newest first (default: {ROWS})")


def _targets(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=TARGETED, nargs="?", default="list")
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="what jobs call it")
    parser.add_argument("url", metavar="URL", nargs="?", default="", help="add: where it is, in the words of apprise")


def _nothing(parser: ArgumentParser) -> None:
    pass


VERBS: dict[str, Verb] = {
    "add": Verb("WHEN PROMPT|NOTEBOOK.ipynb [options]", "make a job of a prompt or a notebook", _add),
    "list": Verb("", "see the jobs there are", _nothing),
    "show": Verb("NAME", "see all about a job", _which),
    "change": Verb("NAME [--when WHEN] [--prompt PROMPT] [options]", "change what is said, and nothing else", _change),
    "pause": Verb("NAME", "let nothing of it be due until it is resumed", _which),
    "resume": Verb("NAME", "have it go on from now", _which),
    "run": Verb("NAME", "have it run now, whatever its times", _which),
    "stop": Verb("RUN|NAME", "end a run that is going", _stop),
    "remove": Verb("NAME", "have no such job; what it did stays on record", _which),
    "next": Verb("WHEN [--zone Z] [--from T] [-n N]", "see what a time means and when it comes, making nothing", _next),
    "runs": Verb("[NAME|RUN] [-n N]", "see what became of each time, or all about one run", _runs),
    "targets": Verb("[add NAME URL|remove NAME|test NAME]", "see and set where reports can go", _targets),
}  # fmt: skip


def _option_names() -> frozenset[str]:
    parser = ArgumentParser(add_help=False)
    _change(parser)
    return frozenset(action.dest for action in parser._actions) - {"which"}  # noqa: SLF001 - it lists them nowhere else


WISHES = _option_names()
