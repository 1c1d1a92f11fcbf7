"""`clarify`: a question to the person. Where nobody is there, the agent is told so at once and decides itself."""

from __future__ import annotations

from collections.abc import Callable

from hermes_kernel.core.question import Question
from hermes_kernel.core.text import scrub
from hermes_kernel.world.ports import Person
from hermes_kernel.world.tools.results import Result, ToolError
from hermes_kernel.world.tools.speaking import UNHURRIED, ask_person, the_floor
from hermes_kernel.world.tools.tool import Tool, built_in

CHOICES = 8
QUESTION, CHOICE = 10_000, 1_000  # characters that somebody still reads, and a page still shows at once


def make_clarify(person: Callable[[], Person | None]) -> Tool:
    """The tool that asks `person`."""

    async def clarify(question: str, choices: list[str] | None = None) -> Result:
        """Ask the person one question, only when the answer changes what you do and you cannot find it out yourself.

        Args:
            question: The question, complete in itself.
            choices: Up to 8 answers to choose from, the one you would take first; they may also answer freely.
        """
        offered = tuple(dict.fromkeys(choice.strip() for choice in choices or () if choice.strip()))
        if not question.strip():
            raise ToolError("question is empty.")
        if len(offered) > CHOICES:
            raise ToolError(f"At most {CHOICES} choices can be offered, not {len(offered)}.")
        if len(question) > QUESTION or any(len(choice) > CHOICE for choice in offered):
            raise ToolError(f"Too long to be read: {QUESTION:,} characters for question, {CHOICE:,} for each choice.")
        asked = person()
        if asked is None or not asked.present:
            return Result(unanswered(offered, "Nobody is there to answer"))
        default = offered[0] if offered else "the agent decides itself"
        async with the_floor():
            answer = await ask_person(asked, Question(scrub(question), offered, default, tool="clarify", free=True))
        return Result(scrub(answer or "").strip() or unanswered(offered, "Nobody answered"))

    return built_in(clarify, exclusive=True, repeatable=True, seconds=UNHURRIED)


def unanswered(choices: tuple[str, ...], why: str) -> str:
    """What the model is told when there is no answer."""
    decide = f'take "{choices[0]}", your first choice' if choices else "use your best judgement"
    return f"{why}: {decide}, and say in your answer what you assumed."
