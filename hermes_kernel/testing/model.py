"""A model in-process: the same steps as the server's, told as events without a wire. For tests of tools and agents."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import replace
from itertools import takewhile

from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Calling, Event, Failed, Interrupted, Replied, TextDelta
from hermes_kernel.core.messages import Observation, ToolCall, ToolSpec
from hermes_kernel.core.seam import Seam
from hermes_kernel.testing.script import Script
from hermes_kernel.testing.step import MARK, Pause, Step
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.stop import Stop, Stopped

_HOUR = 3600.0
_NAME = "scripted"
_PLACE = "python://this-process"


class ScriptedModel:
    """`ports.Model` that answers each call with the next step, or with what a function makes of the `CallModel`.

    ``calls`` lists what was asked, ``offered`` the names of the tools that were offered with it; ``results`` are what
    the tools answered that it asked for last.
    """

    def __init__(
        self, script: Step | Iterable[Step] | Callable[[CallModel], Step], *, clock: Clock | None = None
    ) -> None:
        self._script = Script(script)
        self._clock: Clock = clock or SystemClock()
        self.calls: list[CallModel] = []
        self.offered: list[tuple[str, ...]] = []

    @property
    def results(self) -> list[str]:
        """See `server.Request.results`."""
        said = self.calls[-1].transcript if self.calls else ()
        newest = takewhile(lambda message: isinstance(message, Observation), reversed(said))
        return [message.text for message in newest][::-1]

    def check(self) -> None:
        """See `server.Server.check`."""
        __tracebackhide__ = True
        self._script.check()

    async def reply(self, call: CallModel, tools: Sequence[ToolSpec], stop: Stop) -> AsyncGenerator[Event, None]:
        """See `ports.Model.reply`."""
        self.calls.append(call)
        self.offered.append(tuple(spec.name for spec in tools) if call.tools else ())
        yield Calling(_NAME, _PLACE)
        seam = Seam(call.shown)
        for tell in self._script.next(call).tells:
            if stop.by or not await self._pause(tell, stop):
                yield Interrupted(stop.by, seam.visible)
                return
            for event in _over(seam, _numbered(tell, len(self.calls))):
                yield event

    async def _pause(self, tell: Event | Pause, stop: Stop) -> bool:
        """Wait if `tell` is a pause; False when the latch was pressed meanwhile."""
        if not isinstance(tell, Pause):
            return True
        try:
            await stop.race(self._clock.sleep(min(tell.seconds, _HOUR)))
        except Stopped:
            return False
        return True


def _over(seam: Seam, tell: Event | Pause) -> list[Event]:
    """`tell` for a person who already sees what `seam` says."""
    match tell:
        case Pause():
            return []
        case TextDelta(text):
            return list(seam.feed(text))
        case Replied():
            return [*seam.close(), replace(tell, model=_NAME, endpoint=_PLACE)]
        case Failed():
            return [replace(tell, partial=seam.visible, model=_NAME, endpoint=_PLACE)]
        case _:
            return [tell]


def _numbered(tell: Event | Pause, number: int) -> Event | Pause:
    if not (isinstance(tell, Replied) and tell.calls):
        return tell
    return replace(tell, calls=tuple(_with_number(call, str(number)) for call in tell.calls))


def _with_number(call: ToolCall, number: str) -> ToolCall:
    mark = MARK.decode()
    return replace(call, id=call.id.replace(mark, number), arguments=call.arguments.replace(mark, number))
