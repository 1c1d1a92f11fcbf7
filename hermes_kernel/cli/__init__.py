"""The command ``hermes-kernel``: what a person asks for, handed to the module that does it.

Exit codes: 0 done, 1 the work failed or was stopped, 2 it was asked for wrongly. A person's mistake, a full disk or a
dead server is one or two lines on stderr; a traceback means that we have a bug.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from hermes_kernel import __version__
from hermes_kernel.cli.curator import add_curator
from hermes_kernel.cli.export import add_export
from hermes_kernel.cli.importing import add_import
from hermes_kernel.cli.loops import add_loops
from hermes_kernel.cli.map import add_map
from hermes_kernel.cli.mcp import add_mcp
from hermes_kernel.cli.memory import add_memory
from hermes_kernel.cli.opened import Commands, command
from hermes_kernel.cli.parser import Parser
from hermes_kernel.cli.run import add_run
from hermes_kernel.cli.schedule import add_schedule
from hermes_kernel.cli.scheduler import add_scheduler
from hermes_kernel.cli.search import add_search
from hermes_kernel.cli.sessions import add_sessions
from hermes_kernel.cli.show import add_show
from hermes_kernel.cli.skills import add_skills
from hermes_kernel.cli.sql import add_sql
from hermes_kernel.cli.tick import add_tick
from hermes_kernel.cli.title import add_title
from hermes_kernel.cli.trouble import Failure, Misuse
from hermes_kernel.cli.usage import add_usage
from hermes_kernel.core.safe import clean
from hermes_kernel.settings import NoEndpoint, SettingsError
from hermes_kernel.world.folder import home_folder

DONE, FAILED, USAGE = 0, 1, 2
NOWHERE = (
    "hermes-kernel: Jupyter looks in your home folder, and nobody knows which that is: set HOME to a folder of yours"
)
"""What there is to say where `Path` has nothing for ``~``, whoever asked it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Raises:
        SystemExit: argparse has said what is wrong (2), or has shown help or the version (0).
    """
    _have_streams()
    options = _parser().parse_args(arguments)
    do: Callable[[argparse.Namespace], int] = options.do
    try:
        return do(options)
    except (SettingsError, Misuse) as error:
        print(f"hermes-kernel: {clean(str(error))}", file=sys.stderr)
        return FAILED if isinstance(error, NoEndpoint) else USAGE
    except BrokenPipeError:
        # Whoever read us has left; nothing more can be said, not even by Python's own flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (Failure, OSError) as error:
        print(f"hermes-kernel: {clean(str(error))}", file=sys.stderr)
        return FAILED
    except RuntimeError:
        if home_folder():
            raise
        print(NOWHERE, file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("hermes-kernel: stopped", file=sys.stderr)
        return FAILED


def _have_streams() -> None:
    """Python has None for a stream that was closed before it began. What a terminal has no letters for is spelt out."""
    nothing = Path(os.devnull)
    sys.stdin = sys.stdin or nothing.open(encoding="utf-8")
    sys.stdout = sys.stdout or nothing.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nothing.open("w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _parser() -> argparse.ArgumentParser:
    parser = _without_commands()
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    looking = (add_sessions, add_search, add_show, add_title, add_export, add_import, add_sql, add_usage)
    learning = (add_curator, add_memory, add_skills, add_loops)
    scheduling = (add_schedule, add_tick, add_scheduler)
    for add in (_install, _lab, _ask, add_map, add_run, *looking, add_mcp, *learning, *scheduling, _doctor):
        add(commands)
    return parser


def _without_commands() -> argparse.ArgumentParser:
    parser = Parser(
        prog="hermes-kernel",
        description="An agent loop for Jupyter: the kernel, notebooks and single questions.",
        epilog="Exit codes: 0 done, 1 the work failed or was stopped, 2 usage.",
    )
    parser.add_argument("--version", action="version", version=f"hermes-kernel {__version__}")
    return parser


def _install(commands: Commands[argparse.ArgumentParser]) -> None:
    from hermes_kernel.cli.install import install

    made = command(commands, "install", "put the kernel `hermes` where a Jupyter finds it")
    place = made.add_mutually_exclusive_group()
    place.add_argument("--user", action="store_true", help="for you, in every Jupyter (the default)")
    place.add_argument("--sys-prefix", action="store_true", help="for the environment that runs this command")
    place.add_argument("--prefix", metavar="P", help="for the environment at P")
    made.add_argument("--name", default="hermes", metavar="N", help="the kernel's name (default: hermes)")
    made.set_defaults(do=install)


def _lab(commands: Commands[argparse.ArgumentParser]) -> None:
    from hermes_kernel.cli.lab import lab

    made = command(commands, "lab", "open JupyterLab on a copy of the quickstart")
    made.add_argument("--dir", default=".", metavar="D", help="the folder for the copy (default: this one)")
    made.add_argument("jupyter", nargs="*", metavar="OPTION", help="after `--`: options for `jupyter lab`")
    made.set_defaults(do=lab)


def _ask(commands: Commands[argparse.ArgumentParser]) -> None:
    from hermes_kernel.cli.ask import ask

    made = command(commands, "ask", "ask once and print the answer")
    made.add_argument("prompt", metavar="PROMPT", help="what to ask; `-` reads it from standard input")
    made.add_argument("--model", metavar="M", help="the model to ask")
    made.add_argument("--budget", type=int, metavar="N", help="model calls it may make")
    made.add_argument("--timeout", type=float, metavar="S", help="seconds it may take")
    made.add_argument(
        "--session", default="new", metavar="ID", help="a session's id or title, `last` or `new` (default)"
    )
    made.add_argument("--tools", metavar="a,b", help="the only tools to offer; `none` for none")
    made.add_argument("--record", metavar="FILE", help="record what the model says")
    made.add_argument("--replay", metavar="FILE", help="answer from a recording, without a network")
    made.add_argument("--plain", action="store_true", help="the answer only: nothing about what is being done")
    made.add_argument("--json", action="store_true", help="one JSON object instead of text")
    made.set_defaults(do=ask)


def _doctor(commands: Commands[argparse.ArgumentParser]) -> None:
    from hermes_kernel.cli.doctor import doctor

    made = command(commands, "doctor", "look at what a turn needs and say what is missing")
    made.add_argument("--json", action="store_true", help="a JSON list instead of text")
    made.set_defaults(do=doctor)
