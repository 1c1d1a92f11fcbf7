"""What the reviews of one run say, and the steps that follow from it. Nothing is changed here."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from hermes_kernel.core.figures import counted
from hermes_kernel.core.learning.curating import Cause, Life, Move, State, moved
from hermes_kernel.core.learning.curating_alike import Said, alike
from hermes_kernel.core.learning.curating_choosing import Question, asking, questions
from hermes_kernel.core.learning.curating_runs import PATCH, Review, Run, Step, step_of
from hermes_kernel.core.learning.curating_verdicts import Verdict
from hermes_kernel.core.learning.skill_paths import MAIN
from hermes_kernel.learning.curating.knowing import Census
from hermes_kernel.learning.curating.means import Means
from hermes_kernel.learning.curating.reviewing import NO_FORM, Reviewer
from hermes_kernel.settings import SettingsError
from hermes_kernel.world.stop import Stop

NONE = "No model was asked: "
LARGEST = 200_000  # characters of a SKILL.md that are compared
UNASKED, UNWISHED = f"{NONE}nothing changed since the last time.", f"{NONE}it was not wished for."
SMALL = f"{NONE}the local one is small; `--review` asks it nevertheless."
OFF = f"{NONE}`skill_writes` is off."


@dataclass(frozen=True, slots=True)
class Judged:
    """The questions that were asked, what came of each, and the steps, those of one verdict together. ``told`` says in
    a sentence who was asked, or why nobody was."""

    told: str
    reviews: tuple[Review, ...] = ()
    deeds: tuple[tuple[Step, ...], ...] = ()
    asked: tuple[Question, ...] = ()


class Judge:
    """Of one run. ``wish``: whether a person wants a model asked (None: as is usual)."""

    def __init__(self, means: Means, reviewer: Reviewer | None, wish: bool | None) -> None:  # noqa: FBT001
        self._means = means
        self._reviewer = reviewer
        self._wish = wish

    async def judged(self, run: Run, census: Census, lives: Sequence[Life], asked: Mapping[str, float],
                     stop: Stop) -> Judged:  # fmt: skip
        """What the model says of the skills that are worth a question.

        Raises:
            StoreError: the store cannot be written.
        """
        if why := self._unwanted():
            return Judged(why)
        leaving = {step.name for step in run.steps if step.after == State.ARCHIVED.value}
        texts = self._texts(census, lives, leaving)
        changed = {name: record.told for name, record in census.records.items()}
        chosen = questions(
            lives, alike(texts.values()), leaving=leaving, changed=changed, asked=asked, now=run.now
        )  # fmt: skip
        return await self._asked(chosen, texts, {life.name: life for life in lives}, run, stop)

    def _unwanted(self) -> str:
        if self._wish is False:
            return UNWISHED
        if self._reviewer is None:
            return f"{NONE}there is none here."
        if self._means.settings().skill_writes == "off":
            return OFF
        return SMALL if self._reviewer.small and not self._wish else ""

    async def _asked(
        self, chosen: Sequence[Question], texts: Mapping[str, Said], lives: Mapping[str, Life], run: Run, stop: Stop
    ) -> Judged:
        if not chosen or self._reviewer is None:
            return Judged(UNASKED)
        found = Judged("")
        try:
            async with self._reviewer.asking() as aside:
                for question in chosen:
                    prompt = asking(question, [texts[name] for name in question.skills], lives, run.now)
                    review, verdict = await self._reviewer.ask(question, prompt, aside, stop)
                    steps = () if verdict is None else self._steps(verdict, texts, lives)
                    deeds = tuple(replace(step, session=review.session) for step in steps)
                    found = replace(
                        found,
                        reviews=(*found.reviews, review),
                        deeds=(*found.deeds, deeds) if deeds else found.deeds,
                        asked=(*found.asked, question) if verdict is not None else found.asked,
                    )
                    if review.trouble and not review.trouble.startswith(NO_FORM):
                        break  # nobody answers there
        except SettingsError as error:
            return replace(found, told=f"{NONE}{str(error).splitlines()[0]}")
        return replace(found, told=f"A model was asked {counted(len(found.reviews), 'question')}.")

    def _texts(self, census: Census, lives: Sequence[Life], leaving: set[str]) -> dict[str, Said]:
        found = {}
        for life in lives:
            if not life.held and life.state is not State.ARCHIVED and life.name not in leaving:
                skill = census.skills[life.name]
                with suppress(OSError):
                    text = (Path(skill.folder) / MAIN).read_text(encoding="utf-8", errors="replace")
                    found[life.name] = Said(life.name, skill.description, text[:LARGEST])
        return found

    def _steps(self, said: Verdict, texts: Mapping[str, Said], lives: Mapping[str, Life]) -> tuple[Step, ...]:
        match said.what:
            case "patch":
                return (patch(said, texts[said.skill].body),)
            case "archive":
                return (_archive(lives[said.skill], said.reason),)
            case "consolidate":
                first = (patch(said, texts[said.skill].body),) if said.old else ()
                return (*first, _archive(lives[said.other], said.reason, said.skill))
            case _:
                return ()


def patch(said: Verdict, text: str) -> Step:
    """The step that carries out the change of a verdict, with the diff of it where the passage stands there once."""
    step = Step(PATCH, said.skill, why=said.reason, old=said.old, new=said.new)
    if text.count(said.old) != 1:
        return step
    after = text.replace(said.old, said.new)
    file = f"skills/{said.skill}/{MAIN}"
    lines = difflib.unified_diff(text.splitlines(), after.splitlines(), f"a/{file}", f"b/{file}", lineterm="")
    return replace(step, diff="\n".join(lines))


def _archive(life: Life, why: str, into: str = "") -> Step:
    after = moved(life.state, Cause.JUDGED)
    return step_of(Move(life.name, life.state, after, Cause.JUDGED, why, into))
