"""``hermes-kernel map``: one prompt for each row of a file. Answers go to stdout, a JSON object a line; how it ended to
stderr. Run again, it goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.cli.opened import HERE, Commands, command
from hermes_kernel.cli.table import rows_in
from hermes_kernel.cli.terminal import Foot
from hermes_kernel.cli.trouble import Failure

if TYPE_CHECKING:
    from hermes_kernel import Agent
    from hermes_kernel.mapping import MapResult, Progress


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
        Failure: it could not be read, or asked.
    """
    from hermes_kernel import Agent, HermesError

    rows = rows_in(Path(options.file))
    wishes = {name: getattr(options, name) for name in ("name", "workers", "budget", "timeout")}
    again = tuple(filter(None, options.again.split(",")))
    try:
        agent = Agent(options.model)
        try:
            result = asyncio.run(_asked(agent, options.template, rows, {**wishes, "again": again}))
        finally:
            agent.close()
    except HermesError as error:
        raise Failure(str(error)) from None
    return _told(result, rows)


async def _asked(agent: Agent, template: str, rows: list[dict[str, Any]], wishes: dict[str, Any]) -> MapResult:
    """The map to its end, and in a terminal how far it is. Ctrl-C ends it cleanly."""
    from hermes_kernel.view.sights import Bar
    from hermes_kernel.world.interrupt import pressing
    from hermes_kernel.world.tools.usercode import inside_user_code

    with Foot() as foot, pressing(lambda: agent.stop("person"), inside_user_code):

        def watch(far: Progress) -> None:
            foot.say(Bar(far.of, far.done, far.failed, far.kept, far.calls).line(far.seconds))

        return await agent.mapper.map(template, rows, watch, **wishes)


def _advice(result: MapResult) -> str:
    """As `MapResult.advice`, in a shell's words."""
    left = ",".join(result.left)
    return f"`--again {left}` asks, and pays for, such rows anew." if left else ""


def _told(result: MapResult, rows: list[dict[str, Any]]) -> int:
    from hermes_kernel.mapping.result import summary

    for row, given in zip(result, rows, strict=True):
        answer = {"outcome": row.outcome, "text": row.text, "reason": row.reason, "session_id": row.session_id}
        print(json.dumps({"row": given, **answer}, ensure_ascii=False))
    print(f"{HERE}: {summary(result)}", *filter(None, (result.note, _advice(result))), sep="\n", file=sys.stderr)
    return 1 if result.failed else 0
