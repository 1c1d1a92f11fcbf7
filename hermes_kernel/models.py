"""Whom an agent asks, as its settings say from time to time: one model for its turns, others for side work and other
loops. What is said to them is recorded, or answered from a recording, where that is wished. Knows no tool and no turn.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from hermes_kernel.limits import side_limits
from hermes_kernel.settings import LOCAL, Settings, SettingsError
from hermes_kernel.world.aside import Aside
from hermes_kernel.world.local import available
from hermes_kernel.world.model import OpenAIModel
from hermes_kernel.world.model.pool import Pool
from hermes_kernel.world.model.routes import Route, routes_of
from hermes_kernel.world.ports import Clock, Model, Toolbox
from hermes_kernel.world.recording.form import Surroundings
from hermes_kernel.world.recording.heads import head_of
from hermes_kernel.world.recording.recordings import Recorded, Recordings
from hermes_kernel.world.spec import Hurried, counted_call_ids


class Models:
    """Those of an agent in these surroundings. ``given`` is one that was handed over: it stays, whatever the settings
    say. In a replay the recording says who is asked, whoever a person would ask.

    Raises:
        SettingsError: a model that was handed over is to be recorded or replayed.
    """

    def __init__(self, settings: Settings, around: Surroundings, given: Model | None) -> None:
        self.settings = self._wished = settings
        self._clock = around.clock
        self._hurried, self._counted = Hurried(around.clock), counted_call_ids()
        self._recordings = Recordings(around)
        self._given = given
        self._made: OpenAIModel | None = None
        self._aux: OpenAIModel | None = None
        with suppress(SettingsError):  # said again when there is something to ask
            self.settings = self._recordings.use(settings)
        self._refuse_given(settings)

    def main(self) -> Model:
        """The model to ask, made when it is first needed.

        Raises:
            NoEndpoint: none is configured and there is no local one.
            SettingsError: it is to be replayed, and there is no such recording.
        """
        if self._given is not None:
            return self._given
        if self._made is None:
            self.settings = self._recordings.use(self._wished)
            if not self._recordings.alone:
                self.settings = self.settings.settled(available)
            if not self.settings.replay:
                self._wished = self.settings
            self._recordings.begin(lambda: head_of(self.settings))
            self._made = self.another(self.settings)
        return self._made

    def another(self, settings: Settings, routes: Sequence[Route] | None = None) -> OpenAIModel:
        """A model with connections of its own, for another loop or other routes. It is recorded or replayed with the
        others."""
        wire = self._recordings.wire(lambda: Pool(settings.connect_seconds))
        new_id = self._counted if settings.spec else None
        return OpenAIModel(settings, self.waits, routes=routes, wire=wire, new_id=new_id)

    def aside(self) -> Aside:
        """The model for side work, with its limits: `aux_model` and behind it the main ones; only those where none is
        set, or where it can be had nowhere.

        Raises:
            NoEndpoint: as `main`.
        """
        if self._aux is None:
            self._aux = self._side_model()
        model = self._aux or self.main()
        routes = len(self._aux.routes) if self._aux else 1 + len(self.settings.fallback_models)
        first = self._aux.first_route() if self._aux else self.first_route()
        solitary = self.small and (self._aux is None or self._aux.routes[first].is_local)
        return Aside(model, self.waits, side_limits(self.settings, routes), first, solitary)

    def _side_model(self) -> OpenAIModel | None:
        name = self.settings.aux_model
        if not name or (self._given is not None and "@" not in name and not self.settings.base_url):
            return None
        if self._given is None:
            self.main()
        _, aux = routes_of(self.settings.with_(fallback_models=(name,)), os.environ)
        others = routes_of(self.settings, os.environ) if self._given is None else ()
        return self.another(self.settings.with_(context_window=0), (aux, *others))

    # --- what is known of them

    @property
    def secrets(self) -> frozenset[str]:
        """The keys with which they are asked, or would be."""
        return self.settings.secrets | self._wished.secrets

    @property
    def small(self) -> bool:
        """The main one is the local one: short prompts, few tools."""
        named = self.settings.base_url or ("" if self.settings.api_key else LOCAL)
        return self._given is None and named.startswith(LOCAL)

    @property
    def waits(self) -> Clock:
        """What is waited on before somebody is asked again. In a replay without pauses nobody has to be spared."""
        return self._hurried if self._recordings.alone and not self.settings.replay_gaps else self._clock

    def first_route(self) -> int:
        """The number of the model to ask first: one that failed lately for reasons of its account is passed over."""
        return self._made.first_route() if self._made else 0

    def window(self, route: int) -> int:
        """Tokens that model number `route` reads at most, as far as is known; 0: not known."""
        return self._made.window(route) if self._made else self.settings.context_window

    def whom(self, route: int) -> str:
        """Model number `route` and where it is; ``""`` for one that was handed over."""
        return self._made.routes[route].whole if self._made else ""

    @property
    def recording(self) -> Recorded | None:
        """What is recorded or replayed, and how much of it there is."""
        return self._recordings.now

    def recorded(self, tools: Toolbox) -> Toolbox:
        """`tools`, whose calls are recorded, or answered from a recording, where that is wished."""
        return self._recordings.tools(tools)

    # --- what becomes of them

    def configure(self, changes: dict[str, Any]) -> None:
        """Other settings for those that are made from here on; `release` those that were.

        Raises:
            SettingsError: a setting is unknown or out of range; nothing is changed.
        """
        wished = self._wished.with_(**changes)
        self._refuse_given(wished)
        self.settings, self._wished = self._recordings.use(wished), wished

    def warm(self) -> None:
        """Import what the first call needs, if there is anything to call. For a thread."""
        if self._given is None and (self.settings.base_url or self.settings.api_key or available()):
            self.main()
            if self._made is not None:
                self._made.warm()

    async def aclose(self) -> None:
        """Let go of those that were made, and wait for the connections of this loop."""
        for made in self._let_go():
            await made.aclose()

    def release(self) -> None:
        """Let go of those that were made; the next one is made anew."""
        for made in self._let_go():
            made.close()

    def close(self) -> None:
        """Let go of them, and of what was recorded in. Can be called again."""
        self.release()
        self._recordings.close()

    def _let_go(self) -> list[OpenAIModel]:
        made = [each for each in (self._made, self._aux) if each is not None]
        self._made = self._aux = None
        return made

    def _refuse_given(self, settings: Settings) -> None:
        if self._given is not None and (settings.record or settings.replay):
            how = "record" if settings.record else "replay"
            raise SettingsError(f"A model of your own cannot be recorded or replayed: leave out {how}, or the model.")
