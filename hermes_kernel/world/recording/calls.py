"""Tools whose calls are recorded, and tools that are not run because a recording has their results."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from hermes_kernel.core.events import Event, Interrupted, Leased, Observed, Started
from hermes_kernel.core.messages import ToolCall, ToolSpec
from hermes_kernel.core.recording.cassette import Called
from hermes_kernel.world.ports import Toolbox
from hermes_kernel.world.recording.form import Form
from hermes_kernel.world.recording.player import Player
from hermes_kernel.world.recording.reel import Reel
from hermes_kernel.world.stop import Stop

NOT_RECORDED = "Not run: in this replay calls of tools are answered from the recording, which has none like this."


class RecordedTools:
    """Keeps `ports.Toolbox`: runs those of ``tools`` and keeps each call that has its result in ``reel``, unless
    ``known`` has one like it."""

    def __init__(self, tools: Toolbox, reel: Reel, form: Form, known: Player | None) -> None:
        self.specs, self.lends = tools.specs, tools.lends
        self._tools = tools
        self._reel = reel
        self._form = form
        self._known = known

    async def run(self, calls: Sequence[ToolCall], stop: Stop) -> AsyncGenerator[Event, None]:
        observed: dict[str, Observed] = {}
        lent: set[str] = set()
        try:
            async with aclosing(self._tools.run(calls, stop)) as told:
                async for event in told:
                    if isinstance(event, Observed):
                        observed[event.call_id] = event
                    elif isinstance(event, Leased):
                        lent.add(event.call_id)
                    yield event
        finally:  # in the order of the calls, whichever was faster
            for call in calls:
                if call.id in observed:
                    self._keep(call, observed[call.id], lent=call.id in lent)

    def _keep(self, call: ToolCall, seen: Observed, *, lent: bool) -> None:
        called = replace(self._form.called(call), lent=lent)
        if self._known is None or not self._known.knows(called.name, called.arguments):
            self._reel.keep_call(self._form.result(called, seen))


class ReplayedTools:
    """Keeps `ports.Toolbox`: runs none of ``tools`` whose result ``player`` knows; the others only if ``fill``. A call
    that had subagents has them again: they are answered too, and the budget of the turn is theirs as it was."""

    def __init__(self, tools: Toolbox, player: Player, form: Form, *, fill: bool, spec: bool) -> None:
        self.specs: Callable[[], tuple[ToolSpec, ...]] = tools.specs
        self._tools = tools
        self._player = player
        self._form = form
        self._fill = fill
        self._spec = spec

    def lends(self, call: ToolCall) -> bool:
        return self._tools.lends(call)

    async def run(self, calls: Sequence[ToolCall], stop: Stop) -> AsyncGenerator[Event, None]:
        if stop.by:
            yield Interrupted(by=stop.by)
            return
        left: list[ToolCall] = []
        for call in calls:
            found = self._player.call(self._form.called(call))
            if (found.lent and self.lends(call)) if found else self._fill:
                left.append(call)
                continue
            yield Started(call.id, repeatable=True)
            known = found or Called(call.name, call.arguments, NOT_RECORDED, ok=False)
            yield Observed(call.id, self._form.told(known, spec=self._spec), known.ok, images=known.images)
        if left:
            async with aclosing(self._tools.run(left, stop)) as told:
                async for event in told:
                    yield event
