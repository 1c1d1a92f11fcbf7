"""A model is asked about skills, each question in a session of its own of the kind ``curator``: on a small lease,
without tools, and whatever it answers is only words until they have the strict form of a verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, replace

from hermes_kernel.core.events import Asked, Opened
from hermes_kernel.core.learning.curating_choosing import AGAIN, CALLS_EACH, SYSTEM, Question
from hermes_kernel.core.learning.curating_runs import Review
from hermes_kernel.core.learning.curating_verdicts import Refused, Verdict, verdict
from hermes_kernel.core.learnt import TITLES
from hermes_kernel.core.outcome import Outcome
from hermes_kernel.core.turn import Turn
from hermes_kernel.resources import Resources
from hermes_kernel.session import Session
from hermes_kernel.world.aside import Aside
from hermes_kernel.world.compressing import Digester
from hermes_kernel.world.perform import Performer
from hermes_kernel.world.spec import guard
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import Tools

KIND = "curator"
SECONDS = 300.0  # of one question
NO_FORM = "no answer of the form"


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Asks the model for side work that ``asking`` gives, on the loop of whoever asks."""

    resources: Resources
    asking: Callable[[], AbstractAsyncContextManager[Aside]]

    @property
    def small(self) -> bool:
        """The model is the local one, which is not asked unless a person wants it."""
        return self.resources.equipment.models.small

    async def ask(self, question: Question, prompt: str, aside: Aside, stop: Stop) -> tuple[Review, Verdict | None]:
        """Ask, and once more where the answer is none; what it said, and the verdict if it gave one.

        Raises:
            StoreError: the store cannot be written.
        """
        session = self._opened(question, aside)
        review = Review(question.skills, session=session.turn.session_id, score=question.score)
        given: Verdict | None = None
        trouble, left = "", CALLS_EACH
        try:
            while given is None and left > 0:
                turn = await self._played(session, AGAIN.format(trouble) if trouble else prompt, aside, left, stop)
                left = CALLS_EACH - (turn.earlier + turn.usage).calls
                if turn.outcome is not Outcome.COMPLETED:
                    return _told(review, session, trouble=turn.reason or "the model gave no answer"), None
                try:
                    given = verdict(turn.text, question.skills)
                except Refused as error:
                    trouble = str(error)
        finally:
            session.close()
        if given is None:
            return _told(review, session, trouble=f"{NO_FORM}: {trouble}"), None
        return _told(replace(review, verdict=given.what, reason=given.reason), session), given

    def _opened(self, question: Question, aside: Aside) -> Session:
        limits = replace(aside.limits, max_iterations=CALLS_EACH, compressions=0)
        session = Session(self.resources.store, limits)
        settings = self.resources.equipment.settings
        model = settings.aux_model or settings.model
        session.open(Opened(self.resources.new_id(), SYSTEM, model, kind=KIND))
        session.title(self.resources.equipment.redact(f"{TITLES[KIND]}{', '.join(question.skills)}"))
        return session

    async def _played(self, session: Session, prompt: str, aside: Aside, calls: int, stop: Stop) -> Turn:
        settings, clock = self.resources.equipment.settings, self.resources.clock
        tools = Tools(settings, person=None, home=settings.home, cwd=settings.home, clock=clock)
        world = Performer(aside.model, tools, Digester(), aside.clock, stop)
        asked = Asked(self.resources.equipment.redact(prompt), route=aside.route, budget=calls)
        async with stop.after(guard(clock), SECONDS), aclosing(session.play(world, asked)) as events:
            async for _ in events:
                pass
        return session.turn


def _told(review: Review, session: Session, trouble: str = "") -> Review:
    usage = session.turn.earlier + session.turn.usage
    return replace(review, calls=usage.calls, tokens=usage.input_tokens + usage.output_tokens, trouble=trouble)
