"""Sessions as a notebook: each prompt a cell that asks it again, under it the answer as it was shown.

"Run All" asks the same prompts in the same order in one new session. The Python that the agent ran is there to be read,
in Markdown, and not run twice. The same session makes the same notebook, byte for byte.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Sequence
from typing import Any

from hermes_kernel.core.messages import PICTURES, Image
from hermes_kernel.core.safe import clean, sanitise
from hermes_kernel.export.conversation import Conversation, Exchange
from hermes_kernel.export.markdown import about, picture, summed, used, with_images
from hermes_kernel.export.marks import fold, heading
from hermes_kernel.export.prompts import asked, cell
from hermes_kernel.export.said import Said, pieces
from hermes_kernel.view import still

Cell = dict[str, Any]

KERNELS: dict[str, dict[str, str]] = {
    "python3": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
    "hermes": {"name": "hermes", "display_name": "Hermes", "language": "python"},
}


def notebook(sessions: Sequence[Conversation], kernel: str) -> str:
    """An ``.ipynb`` of format 4.5.

    Raises:
        ValueError: there is no such kernel.
    """
    if kernel not in KERNELS:
        raise ValueError(f"there is no kernel {kernel!r}; there are {', '.join(KERNELS)}")
    cells = [each for n, session in enumerate(sessions, 1) for each in _session(session, n, kernel)]
    content = {
        "cells": cells,
        "metadata": {"kernelspec": KERNELS[kernel], "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _session(session: Conversation, number: int, kernel: str) -> Iterator[Cell]:
    """A session's cells. The ids are places: a session that has grown keeps those of its first turns."""
    place = f"session-{number}"
    yield _words(place, f"# {heading(session.title)}\n\n*{about(session)}*")
    if number > 1:
        yield _code(f"{place}-new", "%hermes new")
    elif kernel != "hermes":
        yield _code(f"{place}-load", "%load_ext magics")
    for n, turn in enumerate((*session.inherited, *session.turns), 1):
        yield from _turn(turn, f"{place}-turn-{n}", kernel)


def _turn(turn: Exchange, place: str, kernel: str) -> Iterator[Cell]:
    if turn.asked.images:
        yield _pictures(f"{place}-images", turn.asked.images)
    prompt = asked(turn.asked.text)
    if turn.summary is not None:
        yield _words(place, "\n\n".join(part for part in (summed(turn.summary), _shown(turn)["text/markdown"]) if part))
    elif prompt:
        yield _code(place, cell(prompt, kernel), _shown(turn))
    else:
        yield _words(place, _shown(turn)["text/markdown"] or "*nothing was asked*")
    calls = used(turn)
    if calls:
        yield _words(f"{place}-tools", fold(f"What the agent ran: {len(calls)}", *calls))


def _shown(turn: Exchange) -> dict[str, str]:
    """The answer as a cell shows it, once and settled."""
    if not turn.inherited:
        return still(picture(turn))
    text = "\n\n".join(piece.text.strip() for piece in pieces(turn.events) if isinstance(piece, Said))
    return {"text/plain": clean(text), "text/markdown": sanitise(text)}


def _words(place: str, text: str) -> Cell:
    return {"cell_type": "markdown", "id": place, "metadata": {}, "source": _lines(text)}


def _code(place: str, source: str, shown: dict[str, str] | None = None) -> Cell:
    """A cell not run in this notebook yet, with the output it had where it was."""
    data = {mime: _lines(text) for mime, text in (shown or {}).items()}
    outputs = [{"output_type": "display_data", "data": data, "metadata": {}}] if any(data.values()) else []
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": place,
        "metadata": {},
        "outputs": outputs,
        "source": _lines(source),
    }


def _pictures(place: str, images: Sequence[Image]) -> Cell:
    """Images are shown and not sent again: a prompt in a cell is text."""
    held = {
        f"image-{n}": image for n, image in enumerate(images, 1) if image.mime in PICTURES and _is_base64(image.data)
    }
    note = f"{with_images(images)}, not sent again when the next cell is run"
    seen = [f"![{name}](attachment:{name})" for name in held]
    attached = {name: {image.mime: image.data} for name, image in held.items()}
    return _words(place, "\n\n".join([note, *seen])) | ({"attachments": attached} if attached else {})


def _is_base64(data: str) -> bool:
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _lines(text: str) -> list[str]:
    """As nbformat writes them."""
    return text.splitlines(keepends=True)
