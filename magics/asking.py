"""What a cell asks of the agent: a prompt, the last one again, a shorter conversation. Each is shown as it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

from hermes_kernel.core.events import Asked
from hermes_kernel.core.messages import Image, User
from hermes_kernel.core.turn import Turn
from hermes_kernel.errors import HermesError
from hermes_kernel.world.folder import here
from magics.options import Options, parse
from magics.painter import Painter
from magics.prompt import Prompt
from magics.skills import read_skill, spoken
from magics.verdict import judged, readable, stopped

if TYPE_CHECKING:
    from magics.desk import Desk


async def ask(desk: Desk, line: str, body: str) -> object:
    """One turn, or one for each row of a table; the `Turn`, or what came of the rows.

    Raises:
        HermesError: it could not be asked, or it failed. One or two lines say why.
        KeyboardInterrupt: it was stopped.
    """
    options = parse(line)
    with readable():
        if options.map:
            from magics.mapping import run_map

            return await run_map(desk, options, body)
        prompt = Prompt(desk.shell.user_ns, here())
        text = _heard(lambda: _text(desk, prompt, options, body))
        if options.session:
            _switch(desk, options.session)
        with _for_this_cell(desk, options):
            return await _play(desk, text, tuple(prompt.images), options)


async def retry(desk: Desk, line: str) -> Turn:
    """The last turn, taken back and asked again; as `ask`."""
    options = parse(line)
    with readable():
        asked = desk.agent.turn.messages[:1]
        if not asked or not isinstance(asked[0], User):
            raise HermesError("There is no turn to retry in this session.")
        desk.agent.undo()
        with _for_this_cell(desk, options):
            return await _play(desk, asked[0].text, asked[0].images, options)


def _text(desk: Desk, prompt: Prompt, options: Options, body: str) -> str:
    """What the model reads: skills, cells run since the last turn, then the prompt itself."""
    home = desk.settings.home
    named, body = spoken(home, "\n".join(part for part in (options.words, body) if part))
    said = prompt.expand(body)
    if not said and named:
        said = "Do what the skill says."
    if not said:
        raise HermesError("The prompt is empty. Say what is to be done.")
    skills = [read_skill(home, name) for name in (*options.skills, *named)]
    cells = desk.cells.told() if options.cells and desk.settings.cells else ""
    return "\n\n".join(part for part in (*skills, cells, said) if part)


def _switch(desk: Desk, session: str) -> None:
    if session == "new":
        desk.agent.new()
    elif session != desk.agent.session_id:
        desk.agent.resume(session)


@contextmanager
def _for_this_cell(desk: Desk, options: Options) -> Iterator[None]:
    """Another model, for as long as this lasts."""
    before = desk.agent.settings.model
    if options.model:
        desk.agent.configure(model=options.model)
    try:
        yield
    finally:
        if options.model:
            desk.agent.configure(model=before)


async def _play(desk: Desk, text: str, images: tuple[Image, ...], options: Options) -> Turn:
    async with desk.stoppable() as press:
        painter = desk.painter(options, press)
        try:
            await desk.warmed(press)
            await _stream(desk, text, images, options, painter)
        finally:
            painter.close()
    turn = desk.agent.turn
    desk.hand_over(turn, options.name)
    return judged(turn)


async def _stream(desk: Desk, text: str, images: tuple[Image, ...], options: Options, painter: Painter) -> None:
    events = desk.agent.stream(text, images=images, budget=options.budget, timeout=options.timeout, tools=options.tools)
    async with aclosing(events) as told:
        async for event in told:
            if isinstance(event, Asked):
                desk.cells.forget()
            painter.show(event)


def _heard(write: Callable[[], str]) -> str:
    """What `write` writes, while an interrupt is heard: views run the code of variables, and files may be far away."""
    from hermes_kernel.world.interrupt import pressing
    from hermes_kernel.world.tools.usercode import call_user, inside_user_code

    try:
        with pressing(lambda: None, inside_user_code):
            return call_user(write)
    except KeyboardInterrupt:
        raise stopped("Interrupted before the model was asked.") from None
