"""What a cell asks of the agent: a prompt, the last one again, a shorter conversation. Each is shown as it goes."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.events import Asked, Event
from hermes_kernel.core.turn import Turn
from hermes_kernel.errors import HermesError
from hermes_kernel.world.folder import here
from magics.commands.skills import read_skill, spoken
from magics.options import Options, parse
from magics.painting.painter import Painter
from magics.prompt import Prompt
from magics.verdict import heard, judged, readable

if TYPE_CHECKING:
    from magics.desk import Desk


SCHEDULED = re.compile(r"--schedule(?=[\s=]|\Z)")


async def ask(desk: Desk, line: str, body: str) -> object:
    """One turn, or one for each row of a table; the `Turn`, or what came of the rows. Or a job, for later.

    Raises:
        HermesError: it could not be asked, or it failed. One or two lines say why.
        KeyboardInterrupt: it was stopped.
    """
    if SCHEDULED.match(line):
        from magics.commands.jobs import schedule_cell

        with readable():
            return schedule_cell(desk, line, body)
    options = parse(line)
    with readable():
        if options.map:
            from magics.commands.mapping import run_map

            return await run_map(desk, options, body)
        prompt = Prompt(desk.shell.user_ns, here())
        text = heard(lambda: _text(desk, prompt, options, body))
        if options.session:
            _switch(desk, options.session)
        with desk.asking(options):
            images = tuple(prompt.images)
            return await _play(desk, lambda: desk.agent.stream(text, images=images, **_wishes(options)), options)


async def retry(desk: Desk, line: str) -> Turn:
    """The last turn, taken back and asked again; as `ask`."""
    options = parse(line)
    with readable(), desk.asking(options):
        return await _play(desk, lambda: desk.agent.retrying(**_wishes(options)), options)


def _text(desk: Desk, prompt: Prompt, options: Options, body: str) -> str:
    """What the model reads: skills, cells run since the last turn, then the prompt itself."""
    library = desk.agent.learning.skills
    named, body = spoken(library, "\n".join(part for part in (options.words, body) if part))
    said = prompt.expand(body)
    if not said and named:
        said = "Do what the skill says."
    if not said:
        raise HermesError("The prompt is empty. Say what is to be done.")
    reader = "" if options.session else desk.agent.session_id
    skills = [read_skill(library, name, reader) for name in (*options.skills, *named)]
    cells = desk.cells.told(spec=desk.settings.spec) if options.cells and desk.settings.cells else ""
    return "\n\n".join(part for part in (*skills, cells, said) if part)


def _switch(desk: Desk, session: str) -> None:
    if session == "new":
        desk.agent.new()
    elif session != desk.agent.session_id:
        desk.agent.resume(session)


async def _play(desk: Desk, begin: Callable[[], AsyncGenerator[Event, None]], options: Options) -> Turn:
    async with desk.stoppable() as press:
        painter = desk.painter(options, press)
        try:
            await desk.warmed(press)
            await _shown(desk, begin(), painter)
        finally:
            painter.close()
    turn = desk.agent.turn
    desk.hand_over(turn, options.name)
    return judged(turn)


async def _shown(desk: Desk, events: AsyncGenerator[Event, None], painter: Painter) -> None:
    async with aclosing(events) as told:
        async for event in told:
            if isinstance(event, Asked):
                desk.cells.forget()
            painter.show(event)


def _wishes(options: Options) -> dict[str, Any]:
    return {"budget": options.budget, "timeout": options.timeout, "tools": options.tools}
