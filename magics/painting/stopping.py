"""The Stop button, and the line beside it, of core ipywidgets. The button only presses a latch: on ipykernel 7.3 its
handler runs on another thread than on 7.4, and what it prints is lost."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def widgets_there() -> Any:
    """The widgets there are, or None, also where they are installed and broken. Their first import takes a while."""
    try:
        return import_module("ipywidgets")
    except Exception:  # noqa: BLE001 - of another time than its neighbours, it fails in any way
        return None


def stop_button(widgets: Any, press: Callable[[], None], **look: Any) -> Any:
    """A button that stays where it is and as wide as it is once it is pressed, and keeps the focus."""
    button = widgets.Button(description="Stop", icon="stop", tooltip="Stop this", **look)

    def clicked(_: Any) -> None:
        press()
        button.tooltip = "Stopping"

    button.on_click(clicked)
    return button


def beside(widgets: Any, line: Any, button: Any, **look: Any) -> Any:
    """A line, and at its right end the button, wherever the line ends."""
    return widgets.HBox((line, button), _dom_classes=("hermes-top",), **look)


def narrow(html: str) -> str:
    """`html` no wider than its place: a tool's long line is cut short and does not push the button out of the page."""
    return f'<div style="width:0;min-width:100%">{html}</div>'
