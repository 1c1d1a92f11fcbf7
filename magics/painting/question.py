"""A question in a notebook's output: a button for each choice, a line for other words where they are an answer, and
what happens without one. It stands on the turn's stage, where a page that is loaded anew finds it; a line stays of it.

Nothing here takes the focus. Whoever runs a turn goes on typing elsewhere: a button that takes it would be pressed by
their next Space or Enter, and the rest of their keys would be commands to the notebook. Tab leads here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.question import Question
from hermes_kernel.core.text import brief
from hermes_kernel.view import clean
from hermes_kernel.view.turn.asking import (
    answered,
    answered_html,
    asked_html,
    meaning_html,
    pause,
    without_html,
    written,
)
from magics.painting.stage import Spot, Stage, dismiss

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from hermes_kernel.world.ports import Clock

ENTER = 2.0  # seconds in which what was written follows the Enter key; later it is another change
SETTLED = 0.3  # seconds after the Enter key in which what was written comes, if it is other than what is known
LABEL = 60  # characters of a button; more stand beside it


class Asked:
    """Asks once. Handlers may run on any thread, so they only hand on what happened to the loop."""

    def __init__(self, shell: InteractiveShell, question: Question, stage: Stage | None, clock: Clock) -> None:
        import ipywidgets

        self._widgets: Any = ipywidgets
        self._shell = shell
        self._question = question
        self._hosted = stage is not None
        self._stage = stage or Stage(shell, ipywidgets, name="question")
        self._clock = clock
        self._end = clock.elapsed() + question.seconds
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[str] = self._loop.create_future()
        self._line = ipywidgets.HTML(without_html(question, question.seconds))
        self._field = Field(ipywidgets, question, self._say) if question.free or not question.choices else None
        rows = [ipywidgets.HTML(asked_html(question)), *self._choices()]
        rows += [self._field.row] if self._field else []
        self._box = ipywidgets.VBox([*rows, self._line])
        self._box.add_class("hermes-question")

    async def answer(self) -> str:
        """What the person chose or wrote."""
        self._show()
        counting = asyncio.ensure_future(self._count())
        said = ""
        try:
            said = await self._answer
        finally:
            counting.cancel()
            self._leave(said or self._unsaid())
        return said

    def _show(self) -> None:
        if self._hosted:
            self._stage.host(self._box)
        else:
            still = {"text/plain": written(self._question), "text/html": asked_html(self._question)}
            self._stage.show([self._box], still)

    def _leave(self, said: str) -> None:
        """A line in place of the controls: what was asked, and what came of it."""
        line = {"text/html": answered_html(self._question, said), "text/plain": answered(self._question, said)}
        if self._hosted:
            self._stage.release(self._box)
            Spot(self._shell).put(line)
            dismiss(self._box)
        else:
            self._stage.settle(line)

    def _unsaid(self) -> str:
        """What is said of a question that was given up: by its time, or by whoever stopped the turn."""
        over = self._question.seconds and self._end - self._clock.elapsed() < 1
        return f"(nobody answered: {self._question.default})" if over else "(not answered)"

    async def _count(self) -> None:
        """What is left of the time, said anew when it changes: once a minute, in the last minute by seconds."""
        while self._question.seconds and (left := self._end - self._clock.elapsed()) > 0:
            self._line.value = without_html(self._question, left)
            await self._clock.sleep(pause(left))

    def _choices(self) -> list[Any]:
        """A row of buttons; one below the other where there is more to say of each."""
        question, layout = self._question, {"flex_flow": "row wrap", "align_items": "center"}
        meanings = question.meanings or tuple(each if len(each) > LABEL else "" for each in question.choices)
        if not any(meanings):
            row = [self._button(each) for each in question.choices]
            return [self._widgets.HBox(row, layout=layout)] if row else []
        return list(map(self._explained, question.choices, meanings))

    def _explained(self, choice: str, means: str) -> Any:
        """As much room for each button, so that what they mean is aligned; beside it where there is any room at all."""
        beside = self._widgets.HTML(meaning_html(means), layout={"flex": "1 1 9em", "width": "auto", "min_width": "0"})
        return self._widgets.HBox([self._button(choice, "8em"), beside], layout={"align_items": "center"})

    def _button(self, choice: str, width: str = "auto") -> Any:
        label = " ".join(clean(choice).split())
        button = self._widgets.Button(description=brief(label, LABEL), tooltip=label, layout={"width": width})
        button.on_click(self._picked(choice))
        return button

    def _picked(self, choice: str) -> Callable[[Any], None]:
        return lambda _: self._say(choice)

    def _say(self, words: str) -> None:
        self._loop.call_soon_threadsafe(self._hear, words)

    def _hear(self, words: str) -> None:
        if not self._answer.done():
            self._answer.set_result(words)


class Field:
    """A line for the person's own words, sent by Enter or by its button. ``row`` is what is shown.

    A browser says that Enter was pressed before it says what was written, and says nothing where that is known."""

    def __init__(self, widgets: Any, question: Question, say: Callable[[str], None]) -> None:
        self._say = say
        self._loop = asyncio.get_running_loop()
        self._pressed = -ENTER
        self._line = widgets.Text(
            placeholder="or in your own words" if question.choices else "your answer",
            continuous_update=False,
            layout={"flex": "0 1 24em", "width": "auto", "min_width": "0"},
        )
        send = widgets.Button(description="Send", layout={"width": "auto", "flex": "0 0 auto"})
        send.on_click(lambda _: self._later(self._send))
        self._line.on_msg(lambda _, content, __: self._heard(content))
        self._line.observe(lambda _: self._later(self._changed), "value")
        self.row = widgets.HBox([self._line, send])

    def _heard(self, content: dict[str, Any]) -> None:
        if content.get("event") == "submit":
            self._later(self._entered)

    def _later(self, deed: Callable[[], None]) -> None:
        self._loop.call_soon_threadsafe(deed)

    def _entered(self) -> None:
        self._pressed = self._loop.time()
        self._loop.call_later(SETTLED, self._send)

    def _changed(self) -> None:
        if self._loop.time() - self._pressed < ENTER:
            self._send()

    def _send(self) -> None:
        if self._line.value.strip():
            self._say(self._line.value)
