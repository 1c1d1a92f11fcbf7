"""A question in a notebook's output: a button for each choice and a line for other words, gone once it is answered.

Every question has fresh widgets: on ipykernel 7.4 a text field delivers only the first change made during a cell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.safe import NO_MATH
from hermes_kernel.view import clean, escape
from magics.stage import Spot, dismiss

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from hermes_kernel.core.question import Question

ENTER = 2.0  # seconds in which what was written follows the Enter key; later it is another change


class Asked:
    """Asks once. Handlers may run on any thread, so they only hand the answer to the loop."""

    def __init__(self, shell: InteractiveShell, asked: Question) -> None:
        import ipywidgets

        question, choices = asked.whole, asked.choices
        self._spot = Spot(shell)
        self._question = question
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[str] = self._loop.create_future()
        self._pressed = -ENTER
        style = "white-space:pre-wrap;line-height:1.5"
        asked = ipywidgets.HTML(f'<div role="alert" style="{style}">{escape(question)}</div>')
        buttons = [self._button(ipywidgets, choice) for choice in choices]
        self._field = ipywidgets.Text(
            placeholder="or in your own words" if choices else "your answer",
            continuous_update=False,
            layout={"width": "24em"},
        )
        send = ipywidgets.Button(description="Send", layout={"width": "auto", "flex": "0 0 auto"})
        send.on_click(self._sent)
        self._field.on_msg(self._entered)
        self._field.observe(self._changed, "value")
        rows = [ipywidgets.HBox(buttons, layout={"flex_flow": "row wrap"})] if buttons else []
        rows.append(ipywidgets.HBox([self._field, send]))
        self._box = ipywidgets.VBox([asked, *rows])
        self._all = [asked, *buttons, self._field, send, *rows, self._box]

    async def answer(self) -> str:
        """What the person chose or wrote."""
        view = {"version_major": 2, "version_minor": 0, "model_id": self._box.model_id}
        text = clean(self._question)
        self._spot.put({"application/vnd.jupyter.widget-view+json": view, "text/plain": text})
        said = "(not answered)"
        try:
            said = await self._answer
        finally:
            words = f"{escape(self._question)} <b>{escape(said)}</b>"
            html = f'<div class="{NO_MATH}" style="white-space:pre-wrap">{words}</div>'
            self._spot.put({"text/html": html, "text/plain": f"{text} {clean(said)}"})
            for widget in self._all:
                dismiss(widget)
        return said

    def _button(self, widgets: Any, choice: str) -> Any:
        button = widgets.Button(description=clean(choice)[:60], tooltip=clean(choice), layout={"width": "auto"})
        button.on_click(self._picked(choice))
        return button

    def _picked(self, choice: str) -> Callable[[Any], None]:
        return lambda _: self._say(choice)

    def _sent(self, _: Any) -> None:
        if self._field.value.strip():
            self._say(self._field.value)

    def _entered(self, _: Any, content: dict[str, Any], __: Any) -> None:
        if content.get("event") == "submit":
            self._pressed = self._loop.time()
            self._sent(None)

    def _changed(self, _: Any) -> None:
        """A browser says that Enter was pressed before it says what was written."""
        if self._loop.time() - self._pressed < ENTER:
            self._sent(None)

    def _say(self, words: str) -> None:
        self._loop.call_soon_threadsafe(self._hear, words)

    def _hear(self, words: str) -> None:
        if not self._answer.done():
            self._answer.set_result(words)
