"""Whatever a tool returned, as words (and pictures) for a model. Never raises for a value; every answer is honest about
what was left out. Keeping the full text of a long one is `keeping`'s business."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import inspect
import io
import itertools
import json
import re
import traceback
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hermes_kernel.core.messages import Image
from hermes_kernel.core.text import brief, scrub

ITEMS, CHARS = 1_000, 2_000_000  # of a generator, which may have no end
ROWS, COLUMNS, WIDTH = 20, 20, 160
FRAMES = 4
IMAGE_BYTES = {"on": 4_000_000, "auto": 400_000, "off": 0}  # providers refuse pictures above 5 MB; a plot has 20-80 kB
HERE = re.compile(r"[/\\]hermes_kernel[/\\]world[/\\]tools[/\\](?!tests)")
CELL = re.compile(r".*[/\\]ipykernel_\d+[/\\]\d+\.py")
CODE = re.compile(r"(?<=<python tool) \d+(?=>)")
"""What a piece of code is called beside the others of its process: how many there were is another number each time."""
SIGNATURES = {b"\x89PNG\r\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


class ToolError(Exception):
    """Raised by a tool to say what is wrong in its own words; the model sees the message and no traceback."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool may return to say more than text: whether the work succeeded, and pictures."""

    text: str
    ok: bool = True
    images: tuple[Image, ...] = ()


def rendered(value: Any) -> Result:
    """`value` as a `Result`; a value that cannot even be shown says so."""
    try:
        return _rendered(value)
    except BaseException as error:  # noqa: BLE001 - user code (__repr__, savefig, __iter__) ran, and its failure is the result
        return Result(f"[{type(value).__name__}: it could not be shown: {brief(_say(error), 300)}]", ok=False)


def failure(error: BaseException) -> Result:
    """An exception as a short traceback without our own frames; of a `ToolError` its own words alone."""
    if isinstance(error, ToolError):
        return Result(scrub(str(error)), ok=False)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not HERE.search(frame.filename)]
    shown = [
        f"  {place(frame.filename)}:{frame.lineno} in {frame.name}: {brief(frame.line or '', 160)}"
        for frame in frames[-FRAMES:]
    ]
    where = "\nAt (innermost last):\n" + "\n".join(shown) if shown else ""
    return Result(scrub(_say(error) + where), ok=False)


def place(filename: str) -> str:
    """A file as a traceback names it. A cell is a file that nobody can open, of another name in each kernel."""
    return "<cell>" if CELL.fullmatch(filename) else CODE.sub("", filename)


async def collected(values: AsyncGenerator[Any, None]) -> Iterator[Any]:
    """The items of an async generator, as far as `rendered` shows them."""
    items: list[Any] = []
    size = 0
    async with contextlib.aclosing(values):
        async for item in values:
            items.append(item)
            if len(items) > ITEMS or size > CHARS:
                break
            size += len(str(item))
    return iter(items)


def picture(mime: str, encoded: str, vision: str) -> tuple[Image, ...]:
    """The picture as a part of the result, where the model may see it and it is small enough."""
    return (Image(mime, encoded),) if is_small(encoded, vision) else ()


def is_small(encoded: str, vision: str) -> bool:
    """Whether a model that sees as much as ``vision`` says is shown this picture."""
    return 0 < len(encoded) * 3 // 4 <= IMAGE_BYTES[vision]


def described_image(mime: str, raw: bytes) -> str:
    """What stands in a text for a picture: ``image/png 640x480``."""
    if mime == "image/png" and raw[12:16] == b"IHDR":
        return f"{mime} {int.from_bytes(raw[16:20])}x{int.from_bytes(raw[20:24])}"
    return f"{mime} {len(raw):,} bytes"


def table(frame: Any) -> str:
    """A pandas DataFrame or Series as text: its shape, the types, and the first and last rows."""
    rows, columns = len(frame), frame.shape[1] if len(frame.shape) > 1 else 0
    if not columns:
        return f"{type(frame).__name__} of {rows:,} {frame.dtype}\n{frame.to_string(max_rows=ROWS)}"
    text = frame.to_string(max_rows=ROWS, max_cols=COLUMNS, line_width=WIDTH, max_colwidth=80)
    types = ", ".join(f"{name}: {kind}" for name, kind in itertools.islice(frame.dtypes.items(), 40))
    return f"{type(frame).__name__} of {rows:,} rows x {columns:,} columns ({types})\n{text}"


def is_table(value: Any) -> bool:
    """Whether `value` is a pandas DataFrame or Series, or of a kind of them, told without importing pandas."""
    known = any(made.__module__.partition(".")[0] == "pandas" for made in type(value).__mro__)
    return known and hasattr(value, "to_string") and hasattr(value, "shape")


def _rendered(value: Any) -> Result:
    match value:
        case Result():
            return dataclasses.replace(value, text=scrub(value.text))
        case None:
            return Result("Done. (The tool returned nothing.)")
        case str():
            return Result(scrub(value) or "(empty text)")
        case bytes() | bytearray() | memoryview():
            return _bytes(bytes(value))
        case BaseException():
            return failure(value)
    if inspect.iscoroutine(value):
        value.close()
        return Result("The tool returned a coroutine that nobody awaits; it should be an `async def`.", ok=False)
    if inspect.isasyncgen(value):
        return Result("The tool returned an async generator; it should be an `async def` that yields.", ok=False)
    return _shown(value)


def _shown(value: Any) -> Result:
    figure = _figure(value)
    if figure is not None:
        return _image("image/png", figure)
    if isinstance(value, Iterator):
        return _generated(value)
    return Result(scrub(table(value) if is_table(value) else _json(value)))


def _bytes(raw: bytes) -> Result:
    for start, mime in SIGNATURES.items():
        if raw.startswith(start):
            return _image(mime, raw)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text:
        return Result(text or "(no bytes)")
    return Result(f"[{len(raw):,} bytes that are not text, beginning {raw[:32].hex(' ')}]")


def _image(mime: str, raw: bytes) -> Result:
    encoded = base64.b64encode(raw).decode() if len(raw) <= IMAGE_BYTES["on"] else ""
    return Result(f"[{described_image(mime, raw)}]", images=(Image(mime, encoded),) if encoded else ())


def _figure(value: Any) -> bytes | None:
    drawn = type(value).__module__.split(".")[0] == "matplotlib"
    if drawn and hasattr(value, "savefig"):
        held = io.BytesIO()
        value.savefig(held, format="png")
        return held.getvalue()
    if drawn and hasattr(getattr(value, "figure", None), "savefig"):
        return _figure(value.figure)
    png = getattr(value, "_repr_png_", None)
    made = png() if callable(png) and not isinstance(value, type) else None
    return made if isinstance(made, bytes) else None


def _generated(values: Iterator[Any]) -> Result:
    items: list[Any] = []
    size, more = 0, ""
    for item in values:
        if len(items) == ITEMS or size > CHARS:
            more = f"\n[stopped after {len(items):,} item{'s' * (len(items) > 1)}; there are more]"
            break
        items.append(item)
        size += len(str(item))
    return Result(scrub(_json(items)) + more)


def _json(value: Any) -> str:
    if not isinstance(value, (bool, int, float, list, tuple, dict, Mapping)) and not dataclasses.is_dataclass(value):
        return str(value)
    try:
        return json.dumps(value, ensure_ascii=False, default=_default)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _default(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, Mapping):
        return dict(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    return table(value) if is_table(value) else str(value)


def _say(error: BaseException) -> str:
    try:
        words = str(error)
    except BaseException:  # noqa: BLE001 - an exception's own __str__ is user code
        words = "(its message cannot be shown)"
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
