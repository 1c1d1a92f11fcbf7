"""``hermes-kernel map``: one prompt for each row of a file. Answers go to stdout, a JSON object a line; how it ended to
stderr. Run again, it goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.cli.opened import HERE, Commands, command
from hermes_kernel.cli.trouble import Failure, Misuse

if TYPE_CHECKING:
    from hermes_kernel.mapping import MapResult


def add_map(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    made = command(commands, "map", "ask once for each row of a table")
    made.add_argument("template", metavar="TEMPLATE", help="the prompt; $column is a row's cell, $row the whole row")
    made.add_argument(
        "file", metavar="FILE", help="the rows: .csv with a line of names, or .jsonl with an object a line"
    )
    made.add_argument("--name", default="", metavar="N", help="the map's title, by which it is gone on with")
    made.add_argument("--model", metavar="M", help="the model to ask")
    made.add_argument("--workers", type=int, metavar="N", help="rows asked at once")
    made.add_argument("--budget", type=int, metavar="N", help="model calls of the whole map, earlier runs included")
    made.add_argument("--timeout", type=float, metavar="S", help="seconds a row may take")
    made.add_argument(
        "--again", default="", metavar="a,b", help="ask rows anew that ended so, such as `unknown,failed`"
    )
    made.set_defaults(do=map_rows)


def map_rows(options: argparse.Namespace) -> int:
    """Ask, print the answers, and say how many rows ended in which way.

    Raises:
        SettingsError: a setting is out of range, or there is no endpoint.
        Misuse: the file holds no rows.
        Failure: it could not be asked.
        OSError: the file cannot be read.
    """
    from hermes_kernel import Agent, HermesError

    rows = list(_rows(Path(options.file)))
    wishes = {name: getattr(options, name) for name in ("name", "workers", "budget", "timeout")}
    again = tuple(filter(None, options.again.split(",")))
    try:
        agent = Agent(options.model)
        try:
            result = agent.map_sync(options.template, rows, again=again, **wishes)
        finally:
            agent.close()
    except HermesError as error:
        raise Failure(str(error)) from None
    return _told(result, rows)


def _advice(result: MapResult) -> str:
    """As `MapResult.advice`, in a shell's words."""
    from hermes_kernel.mapping.result import LEFT

    left = ",".join(outcome for outcome in result.counts if outcome in LEFT)
    return f"`--again {left}` asks, and pays for, such rows anew." if left else ""


def _told(result: MapResult, rows: list[dict[str, Any]]) -> int:
    from hermes_kernel.mapping.result import summary

    for row, given in zip(result, rows, strict=True):
        answer = {"outcome": row.outcome, "text": row.text, "reason": row.reason, "session_id": row.session_id}
        print(json.dumps({"row": given, **answer}, ensure_ascii=False))
    print(f"{HERE}: {summary(result)}", *filter(None, (result.note, _advice(result))), sep="\n", file=sys.stderr)
    return 1 if result.failed else 0


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file."""
    if path.suffix.lower() not in (".csv", ".jsonl"):
        raise Misuse(f"{path.name} is neither .csv nor .jsonl: give a table with a line of names, or an object a line.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = path.suffix.lower() == ".csv"
            yield from csv.DictReader(file, strict=True) if table else map(_object, enumerate(file, 1))
    except (csv.Error, UnicodeDecodeError) as error:
        raise Misuse(f"{path.name} cannot be read: {error}") from None


def _object(line: tuple[int, str]) -> dict[str, Any]:
    number, text = line
    try:
        row = json.loads(text)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise Misuse(f"Line {number} is no JSON object.")
    return row
