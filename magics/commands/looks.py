"""``%hermes nudge`` and ``%hermes review``: the conversation is looked back at now, while a person looks on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hermes_kernel.core.learnt import Looked
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.reflecting.words import came
from hermes_kernel.view.sights import Looking
from hermes_kernel.world.stop import Stop
from magics.options import Options
from magics.verdict import readable, stopped

if TYPE_CHECKING:
    from magics.desk import Desk

ABOUT = {"nudge": "what is worth remembering", "review": "whether its way is worth a skill"}


async def look(desk: Desk, loop: str, rest: str) -> Looked:
    """Look for what is worth remembering (``nudge``) or worth a skill (``review``). What came of it is in ``_``.

    Raises:
        HermesError: there is nothing to look at, or it could not be done. One or two lines say why.
        KeyboardInterrupt: it was stopped; what it wrote until then is kept.
    """
    if rest:
        raise HermesError(f"%hermes {loop} takes nothing more.")
    options = Options(plain=desk.settings.plain)
    with readable():
        async with desk.stoppable() as press:
            shown = desk.watching(Looking(ABOUT[loop]), press.press, options)
            try:
                await desk.warmed(press)
                looked = await _looked(desk, loop, press)
                shown.show(Looking(ABOUT[loop], await asyncio.to_thread(_lines, desk, looked)))
            except HermesError as error:
                raise (stopped(str(error)) if press.by else error) from None
            finally:
                shown.close()
    desk.hand_over(looked)
    return looked


async def _looked(desk: Desk, loop: str, press: Stop) -> Looked:
    return await press.race(desk.agent.learning.reflector.look(loop))


def _lines(desk: Desk, looked: Looked) -> tuple[str, ...]:
    learning = desk.agent.learning
    read = (f"`%hermes show {looked.aside[:8]}` reads how",) if looked.aside else ()
    return (*came(looked, learning.chronicle, learning.proposals), *read)
