"""A status line with a Stop button beside it, of core ipywidgets. The button only presses a latch: on ipykernel 7.3 its
handler runs on another thread than on 7.4, and what it prints is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import Any

from magics.stage import dismiss


class Controls:
    """The widgets of one running turn. They close without a trace, all of them."""

    def __init__(self, widgets: Any, html: str, press: Callable[[], None]) -> None:
        layout = {"flex": "1 1 0", "min_width": "0", "margin": "0"}
        self._line = widgets.HTML(value=_narrow(html), layout=layout)
        self._button = widgets.Button(
            description="Stop", icon="stop", tooltip="Stop this turn", layout={"width": "auto", "flex": "0 0 auto"}
        )
        self._box = widgets.HBox([self._line, self._button], layout={"align_items": "flex-start"})
        self._press = press
        self._button.on_click(self._clicked)

    @classmethod
    async def make(cls, html: str, press: Callable[[], None]) -> Controls | None:
        """Controls, or None where there are no widgets to be had. Their import runs beside the loop."""
        try:
            widgets = await asyncio.to_thread(import_module, "ipywidgets")
        except ImportError:
            return None
        return cls(widgets, html, press)

    def bundle(self) -> dict[str, object]:
        """What is displayed. Front ends without widgets show the text."""
        view = {"version_major": 2, "version_minor": 0, "model_id": self._box.model_id}
        return {"application/vnd.jupyter.widget-view+json": view, "text/plain": ""}

    def say(self, html: str) -> None:
        """Another status."""
        self._line.value = _narrow(html)

    def close(self) -> None:
        """Take every model out of the kernel and the front end."""
        for widget in (self._box, self._line, self._button):
            dismiss(widget)

    def _clicked(self, _: Any) -> None:
        self._button.disabled = True
        self._press()


def _narrow(html: str) -> str:
    """`html` no wider than its place: a tool's long line is cut short and does not push the button out of the page."""
    return f'<div style="width:0;min-width:100%">{html}</div>'
