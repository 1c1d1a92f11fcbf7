"""``hermes-kernel ask``: one turn, its answer on stdout. Ctrl-C ends the turn cleanly and leaves its history whole."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import os
import sys
from contextlib import aclosing, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.cli.piped import piped
from hermes_kernel.cli.terminal import Paper, Terminal, at_terminal
from hermes_kernel.cli.trouble import Failure, in_a_shell
from hermes_kernel.core.events import Outcome
from hermes_kernel.view import Picture
from hermes_kernel.world.recording.beside import CASSETTES

if TYPE_CHECKING:
    from hermes_kernel import Agent, Turn
    from hermes_kernel.world.stop import Stop

GOOD = (Outcome.COMPLETED, Outcome.BUDGET_EXHAUSTED)  # the budget ends a turn with an answer


def ask(options: argparse.Namespace) -> int:
    """Ask, show what happens, and say on stderr how it ended where it did not end well.

    Raises:
        SettingsError: an option or setting is out of range, or there is no endpoint.
        Misuse: what was piped in is no text.
        Failure: the turn could not be played.
    """
    from hermes_kernel import Agent, HermesError

    prompt = piped(sys.stdin.read) if options.prompt == "-" else options.prompt
    changes = {"max_iterations": options.budget, "turn_seconds": options.timeout, "plain": options.plain or None}
    changes |= {name: str(Path(file).absolute()) for name in CASSETTES if (file := getattr(options, name))}
    person = Terminal() if at_terminal() and options.prompt != "-" else None
    try:
        agent = Agent(options.model, session=options.session, person=person, **changes)
        try:
            turn = _turn(agent, prompt, options)
        finally:
            agent.close()
    except HermesError as error:
        raise Failure(str(error)) from None
    if options.json:
        print(json.dumps(_plain(turn), ensure_ascii=False))
    if turn.outcome in GOOD and not turn.reason:
        return 0
    print(f"hermes-kernel: {turn.outcome}: {in_a_shell(turn.reason)}".rstrip(": "), file=sys.stderr)
    return 0 if turn.outcome in GOOD else 1


def _turn(agent: Agent, prompt: str, options: argparse.Namespace) -> Turn:
    """What code of the turn prints is no part of the answer: it goes where the doings go."""
    settings = agent.settings
    blank = Picture(settings.max_iterations, replayed=bool(settings.replay and not settings.record))
    paper = Paper(blank, answer=not options.json, doing=not options.plain)
    with Path(os.devnull).open("w") if options.plain else nullcontext(sys.stderr) as aside, redirect_stdout(aside):
        return asyncio.run(_play(agent, prompt, options, paper))


async def _play(agent: Agent, prompt: str, options: argparse.Namespace, paper: Paper) -> Turn:
    from hermes_kernel.world.interrupt import pressing
    from hermes_kernel.world.stop import Stop
    from hermes_kernel.world.tools.usercode import inside_user_code

    press = Stop()
    with pressing(press.press, inside_user_code):
        watch = asyncio.ensure_future(_pass_on(press, agent))
        try:
            async with aclosing(agent.stream(prompt, tools=_names(options.tools))) as events:
                async for event in events:
                    paper.see(event)
        finally:
            watch.cancel()
            paper.end()
    return agent.turn


async def _pass_on(press: Stop, agent: Agent) -> None:
    await press.wait()
    agent.stop()


def _names(tools: str | None) -> list[str] | None:
    if tools is None:
        return None
    return [] if tools == "none" else [name.strip() for name in tools.split(",") if name.strip()]


def _plain(turn: Turn) -> dict[str, object]:
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in turn.tool_calls]
    return {
        "text": turn.text,
        "outcome": turn.outcome,
        "reason": turn.reason,
        "session_id": turn.session_id,
        "tool_calls": calls,
        "usage": dataclasses.asdict(turn.usage),
        "budget": {"limit": turn.budget.limit, "spent": turn.budget.spent, "remaining": turn.budget.remaining},
    }
