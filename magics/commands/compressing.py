"""``%hermes compress [FOCUS]``: the older part of the conversation is summarised now, while a person looks on."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from hermes_kernel.core.events import Compressed, Noticed
from hermes_kernel.errors import HermesError
from hermes_kernel.view.sights import Shortening
from magics.options import Options
from magics.painting.sighted import Watching
from magics.verdict import readable, stopped

if TYPE_CHECKING:
    from magics.desk import Desk


async def compress(desk: Desk, focus: str) -> Compressed:
    """Summarise it; `focus` is what is to be kept most fully. What came of it is in ``_``.

    Raises:
        HermesError: there is nothing to compress, or it could not be done. One or two lines say why.
        KeyboardInterrupt: it was stopped; the conversation is as it was.
    """
    if not desk.agent.turn.transcript:
        raise HermesError("Nothing has been said in this conversation yet, so there is nothing to compress.")
    options = Options(plain=desk.settings.plain)
    with readable():
        async with desk.stoppable() as press:
            shown = desk.watching(Shortening(), press.press, options)
            try:
                await desk.warmed(press)
                made = await _made(desk, focus, shown)
            except HermesError as error:
                raise (stopped(str(error)) if press.by else error) from None
            finally:
                shown.close()
    desk.hand_over(made)
    return made


async def _made(desk: Desk, focus: str, shown: Watching) -> Compressed:
    """What came of it, told as it goes on."""
    made: Compressed | None = None
    async with aclosing(desk.agent.compressing(focus)) as told:
        async for event in told:
            match event:
                case Compressed():
                    made = event
                    shown.show(Shortening(ended=event))
                case Noticed(text) if made is None:
                    shown.show(Shortening(text))
    if made is None:
        raise HermesError("Nothing came of the compression, and the conversation is as it was.")
    return made
