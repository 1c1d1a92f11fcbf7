"""Which conversation an agent is in, and what it is called: changed between turns, never while one runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from hermes_kernel.checks import checked, limited, titled
from hermes_kernel.core.events import Asked, Event, Opened
from hermes_kernel.core.messages import Transcript, User
from hermes_kernel.core.planned import RUN
from hermes_kernel.errors import HermesError, explained
from hermes_kernel.playing import Player
from hermes_kernel.resources import Resources
from hermes_kernel.session import Session
from hermes_kernel.world.run import this_run


class Conversation:
    """The one at hand, of the agent whose turns ``player`` plays. ``notebook`` is the document that it happens in; in a
    run of a job its conversations are of the kind ``run``, and known by the run's id in place of a document's name."""

    def __init__(self, resources: Resources, session: Session, player: Player, notebook: str) -> None:
        self.notebook = notebook
        self._resources = resources
        self._session = session
        self._player = player

    def begin(self) -> None:
        """Leave this one, and begin another."""
        with self._between_turns("begin another session"):
            self._open()

    def branch(self, at: int | None) -> None:
        """Leave this one, and go on in a copy of it up to turn `at`.

        Raises:
            HermesError: there is no such turn, or one is running.
        """
        with self._between_turns("branch"):
            self._open(self._session.whole(at), self._session.turn.session_id)

    def resume(self, session: str) -> None:
        """Leave this one, and go on with `session`.

        Raises:
            HermesError: there is none, several are named so, another process is in it, or a turn is running.
        """
        with self._between_turns("resume a session"):
            self._player.lineage.load(session)

    def title(self, title: str) -> None:
        """Name it.

        Raises:
            HermesError: this is no title, or a turn is running.
        """
        with self._between_turns("name it"):
            self._session.title(self._resources.equipment.redact(titled(title)))

    def undo(self, turns: int) -> int:
        """Take back the last turns; how many there were.

        Raises:
            HermesError: a turn is running, or what was said last is behind a compression.
        """
        with self._between_turns("undo"):
            return self._player.lineage.undo(turns)

    def retried(
        self, ask: Callable[..., AsyncGenerator[Event, None]], options: Mapping[str, Any]
    ) -> AsyncGenerator[Event, None]:
        """Take back the last turn, and `ask` its prompt again with these options of `Agent.stream`. What is refused is
        refused before: each further try would take back another turn.

        Raises:
            HermesError: there is none, it cannot be asked so, or as `undo`.
            NoEndpoint: there is no model to ask.
            TypeError: there is no such option.
        """
        prompt = self._prompt()
        again = ask(prompt.text, images=prompt.images, **options)  # begins when it is listened to
        checked(prompt.text, options.get("budget"))
        limited(options.get("timeout"))
        with explained():
            self._resources.equipment.models.main()
            self._resources.equipment.offered(options.get("tools"))
        self.undo(1)
        return again

    def _prompt(self) -> User:
        match self._session.turn.messages[:1], self._session.turn.events[:1]:
            case (User(),), (Asked() as asked,):
                return User(asked.text, asked.images)  # without what the model was told besides
            case (User() as prompt,), _:
                return prompt
            case _:
                raise HermesError("There is no turn to retry in this session.")

    @contextmanager
    def _between_turns(self, what: str) -> Iterator[None]:
        self._player.idle(what)
        with explained():
            yield

    def _open(self, transcript: Transcript = (), parent: str = "") -> None:
        equipment = self._resources.equipment
        system, model, new = equipment.system(self.notebook), equipment.settings.model, self._resources.new_id()
        opened = Opened(new, system, model, parent=parent, notebook=self.notebook, transcript=transcript)
        run = this_run()
        self._player.lineage.open(replace(opened, kind=RUN, notebook=run) if run else opened)
