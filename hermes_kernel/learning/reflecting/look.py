"""One look: a side conversation on a small lease, in a session of its own, with only the tools that the loop is for.

However it is left, what it said and cost is in that session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hermes_kernel.core.events import Asked, Opened
from hermes_kernel.core.learning.instructing import NUDGE, REVIEW, nudge_request, review_request
from hermes_kernel.core.learning.looking import Matter
from hermes_kernel.core.learning.prompting import words_of
from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.core.learning.telling import room, told
from hermes_kernel.core.learnt import TITLES, Remembered, SkillChanged
from hermes_kernel.core.messages import Usage, User
from hermes_kernel.core.turn import Turn
from hermes_kernel.learning.memory import Memory
from hermes_kernel.learning.reflecting.asking import window
from hermes_kernel.learning.reflecting.tools import one_skill_only
from hermes_kernel.learning.skills.library import Library
from hermes_kernel.resources import Resources
from hermes_kernel.session import Session
from hermes_kernel.settings import Settings
from hermes_kernel.world.aside import Aside
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.compressing import Digester
from hermes_kernel.world.perform import Performer
from hermes_kernel.world.spec import guard
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import Tool, Tools

if TYPE_CHECKING:
    from hermes_kernel.learning.skills.workshop import Workshop

CALLS = {"nudge": 6, "review": 12}
"""Model calls of one look at most, its closing words among them: read, change, be refused once or twice, say so."""

SECONDS = 300.0
"""Time a look may take, as a summary."""

COMPRESSIONS = 2
"""Of a look, from the facts alone: skills that are read may fill a small window."""

RESULT_CHARS = 20_000
"""Of what a tool answers in a look: a skill is read in pieces rather than at one gulp."""

LIKELY = 8
"""Skills that a review is told of; it can search for others."""

LOOPS = ("nudge", "review")
"""The slow loops that look at a conversation; the curator looks at skills."""


@dataclass(frozen=True, slots=True)
class Means:
    """What looks work with. ``asking`` gives a model to ask, on the loop of whoever asks."""

    resources: Resources
    chronicle: Chronicle
    memory: Memory
    library: Library
    workshop: Workshop
    asking: Callable[[], AbstractAsyncContextManager[Aside]]

    @property
    def settings(self) -> Settings:
        """Those in force at this moment."""
        return self.resources.equipment.settings


class Look:
    """A look of ``loop`` (``nudge`` or ``review``) at the conversation ``session``, until ``stop`` is pressed."""

    def __init__(self, means: Means, loop: str, session: str, playing: Callable[[], bool]) -> None:
        """``playing`` says whether a turn is played at this moment, which a model may have to itself."""
        self.loop = loop
        self.session = session
        self.stop = Stop()
        self.aside = means.resources.new_id()
        self.gives_way = False
        self._usage = Usage()
        self._playing = playing
        self._billed = False
        self._means = means
        self._begun = means.resources.clock.now()

    async def play(self, matter: Matter) -> Turn | None:
        """The turn that looked at `matter`, to its end; None where it gave way before it had begun.

        Raises:
            NoEndpoint: there is no model to ask.
            StoreError: the store cannot be written.
        """
        async with self._means.asking() as aside:
            self.gives_way = aside.solitary or self._means.settings.requests_per_minute > 0
            if self.gives_way and self._playing():
                self.stop.press("prompt")
            return None if self.stop.by else await self._played(matter, aside)

    async def _played(self, matter: Matter, aside: Aside) -> Turn:
        limits = replace(aside.limits, max_iterations=CALLS[self.loop], compressions=COMPRESSIONS)
        session = Session(self._means.resources.store, limits)
        world = Performer(aside.model, self._tools(), Digester(), aside.clock, self.stop)
        asked = self._asked(matter, aside)
        try:
            self._open(session)
            async with self.stop.after(guard(aside.clock), SECONDS), aclosing(session.play(world, asked)) as events:
                async for _ in events:
                    self._usage = session.turn.usage
        finally:
            self._usage = session.turn.usage
            session.close()
        return session.turn

    def billed(self) -> Usage:
        """What it has cost so far, once."""
        billed, self._billed = self._billed, True
        return Usage() if billed else self._usage

    def wrote(self) -> tuple[str, ...]:
        """What came of it, in a few words each.

        Raises:
            StoreError: the store cannot be read.
        """
        facts = (dated.fact for dated in self._means.chronicle.read(Remembered, SkillChanged, since=self._begun))
        return tuple(dict.fromkeys(filter(None, map(self._named, facts))))

    def _named(self, fact: object) -> str:
        match fact:
            case Remembered(target=target, by=by, session=self.aside) if by == self.loop:
                return {"memory": "MEMORY.md", "user": "USER.md"}.get(target, target)
            case SkillChanged(name=name, action=action, by=by, session=self.aside) if by == self.loop:
                return f"skill {name} ({action})"
            case _:
                return ""

    def _tools(self) -> Tools:
        settings, clock = self._means.settings, self._means.resources.clock
        home = settings.home
        bounded = settings.with_(tool_result_chars=min(settings.tool_result_chars, RESULT_CHARS))
        tools = Tools(bounded, person=None, home=home, cwd=home, clock=clock)
        for made in self._nudging() if self.loop == "nudge" else self._reviewing():
            tools.add(made)
        tools.begin_session(self.aside)
        return tools

    def _nudging(self) -> Iterator[Tool]:
        means = self._means
        yield means.memory.tool(lambda: self.aside, self.loop, lambda: means.settings.memory_writes)

    def _reviewing(self) -> Iterator[Tool]:
        means = self._means
        yield from means.library.tools(lambda: self.aside, self.loop, RESULT_CHARS)
        made = means.workshop.tool(lambda: self.aside, self.loop, lambda: means.settings.skill_writes)
        yield one_skill_only(made)

    def _open(self, session: Session) -> None:
        system = NUDGE if self.loop == "nudge" else REVIEW
        model = self._means.settings.aux_model or self._means.settings.model
        session.open(Opened(self.aside, system, model, kind=self.loop, parent=self.session))
        session.title(TITLES[self.loop])

    def _asked(self, matter: Matter, aside: Aside) -> Asked:
        """The request; the closing words are within the lease."""
        reads = window(aside, self._means.settings.context_window)
        text = self._request(matter, told(matter.messages, room(reads)))
        prompt = self._means.resources.equipment.redact(text)
        return Asked(prompt, route=aside.route, budget=CALLS[self.loop] - 1, window=reads)

    def _request(self, matter: Matter, text: str) -> str:
        settings, memory = self._means.settings, self._means.memory
        if self.loop == "nudge":
            kept, user = memory.entries("memory"), memory.entries("user")
            return nudge_request(text, kept, user, settings.memory_chars, settings.user_chars)
        return review_request(text, matter, self._likely(matter))

    def _likely(self, matter: Matter) -> list[tuple[str, str]]:
        """Skills that might fit: those that were loaded, and those that the prompts' words find."""
        library = self._means.library
        said = " ".join(words_of(message.text) for message in matter.messages if isinstance(message, User))
        found = {skill.name: skill.description for skill in library.search(said[:1_000], LIKELY)}
        loaded = matter.trigger.skills if matter.trigger else ()
        for name in loaded:
            with suppress(SkillError):  # it is gone or held since; then the review is told its name alone
                found.setdefault(name, library.get(name).description)
        return list(found.items())
