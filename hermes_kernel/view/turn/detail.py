"""What one tool call was given and gave, bounded where it is seen for the first time. Pure.

Keeps true: what is left out is said in characters, however often something is cut.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass
from string import ascii_letters, digits

from hermes_kernel.core.messages import PICTURES, Image
from hermes_kernel.core.safe import escape

GIVEN = 3_000  # characters of a call's arguments that can be looked at
RESULT = 4_000  # … and of its result
COUNT = 60  # bytes of the words for what is left out
LAST = 3  # of what may be kept one part in so many is its end, where errors are
CODE = ("python", "code")
SHOWN_BY_ITSELF = ("python",)  # tools whose images are in the cell already
PRE = "white-space:pre-wrap;margin:2px 0"
BASE64 = (ascii_letters + digits + "+/=").encode()
ENTITIES = (("\n", "&#10;"), ("$", "&#36;"), ("\\", "&#92;"), ("`", "&#96;"))


@dataclass(frozen=True, slots=True)
class Extract:
    """A text with ``left`` characters between ``head`` and ``tail`` left out."""

    head: str = ""
    tail: str = ""
    left: int = 0

    def __str__(self) -> str:
        if not self.left:
            return self.head + self.tail
        return f"{self.head}\n… {self.left:,} characters left out …\n{self.tail}"

    def __bool__(self) -> bool:
        return bool(self.head or self.tail or self.left)


NOTHING = Extract()


def extract(text: str, limit: int) -> Extract:
    """`text`, or its beginning and its end where it is longer than `limit` characters."""
    if len(text) <= limit:
        return Extract(text)
    end = limit // LAST
    return Extract(text[: limit - end], text[len(text) - end :], len(text) - limit)


def given(name: str, arguments: str) -> Extract:
    """A call's arguments as they are read: the code itself, or a line for each name and its value below it where that
    has lines of its own."""
    try:
        values = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return extract(arguments, GIVEN)
    if not isinstance(values, dict):
        return extract(arguments, GIVEN)
    if name == CODE[0] and list(values) == [CODE[1]] and isinstance(values[CODE[1]], str):
        return extract(values[CODE[1]], GIVEN)
    return extract("\n".join(_named(key, value) for key, value in values.items()), GIVEN)


def pictures(name: str, images: tuple[Image, ...], *, ours: bool) -> tuple[Image, ...]:
    """Those images of a result that nothing else in the cell shows. `ours`: the tool ran in this cell itself."""
    return () if ours and name in SHOWN_BY_ITSELF else images


# --- as HTML ----------------------------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """`text` for HTML that may stand in Markdown too: no line ends in it, and nothing that begins a formula or code."""
    html = escape(text)
    for character, entity in ENTITIES:
        html = html.replace(character, entity)
    return html


def weight(text: str) -> int:
    """Bytes that a piece of HTML takes up in a notebook."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")) - 2


def cut(text: Extract, room: int) -> Extract:
    """`text` so short that its HTML takes up no more than `room` bytes, or nothing but a count of what is left out."""
    if weight(quoted(str(text))) <= room:
        return text
    kept = max(room - COUNT, 0)
    end = kept // LAST
    head, tail = _first(text.head, kept - end), _first((text.tail or text.head)[::-1], end)[::-1]
    whole = len(text.head) + len(text.tail) + text.left
    return Extract(head, tail, whole - len(head) - len(tail))


def block_html(text: Extract) -> str:
    """`text` as it is, each line on its own."""
    return f'<pre style="{PRE}"><code>{quoted(str(text))}</code></pre>' if text else ""


def image_html(image: Image, alt: str) -> str:
    """An image as a part of the page itself, or a word on why it is none."""
    data = image.data.replace("\n", "")
    if image.mime not in PICTURES or data.encode().translate(None, BASE64):
        return f"<div>[{quoted(image.mime[:40])}, which is not shown]</div>"
    return f'<img alt="{quoted(alt)}" style="max-width:100%" src="data:{image.mime};base64,{data}">'


def as_json(value: object) -> str:
    """A value on one line. One may be read that is too deep to be written."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "…"


def _named(key: str, value: object) -> str:
    said = value if isinstance(value, str) else as_json(value)
    return f"{key}:\n{said}" if "\n" in said else f"{key}: {said}"


def _first(text: str, room: int) -> str:
    """As much of the beginning of `text` as fits."""
    sizes = range(1, min(len(text), room) + 1)
    return text[: bisect_right(sizes, room, key=lambda size: weight(quoted(text[:size])))]
