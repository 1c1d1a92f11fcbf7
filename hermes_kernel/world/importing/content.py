"""What stands in a message of the original, whatever shape it has there: text, parts, images, tool calls.

Everything in here comes from outside. Nothing is run, nothing is loaded, and what cannot be kept leaves a note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from hermes_kernel.core.json_repair import dumped, mend
from hermes_kernel.core.messages import Image, ToolCall
from hermes_kernel.world.importing.told import Care

LISTS = "\0json:"  # the original's mark before a content that is a list of parts
MOST_IMAGE = 20 * 2**20  # characters of base64; providers take no larger ones
DATA = re.compile(r"data:(image/[a-z0-9.+-]{1,40});base64,")
BASE64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*")
ANOTHER = "~"  # between an id that several calls of a reply have and the number of each
KEPT = ("extra_content", "thought_signature", "signature", "provider_specific_fields")


def decoded(value: Any) -> Any:
    """A column as the value it stands for: text, a list of parts, or None."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str) and value.startswith(LISTS):
        found = parsed(value[len(LISTS) :])
        return value if found is None else found
    return value


def parsed(value: Any) -> Any:
    """What a column of JSON holds; None where it holds none."""
    if not isinstance(value, str | bytes):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def content_of(content: Any) -> tuple[str, tuple[Image, ...]]:
    """The words of a content, notes for what cannot be kept, and its images."""
    if content is None:
        return "", ()
    if isinstance(content, str):
        return content, ()
    if isinstance(content, dict) and isinstance(content.get("content"), str | list):
        content = content["content"]
    if isinstance(content, list):
        return _joined(map(_part, content))
    return _part(content) if isinstance(content, dict) else (dumped(content), ())


def _joined(parts: Iterable[tuple[str, tuple[Image, ...]]]) -> tuple[str, tuple[Image, ...]]:
    found = list(parts)
    return "\n".join(text for text, _ in found if text), tuple(image for _, images in found for image in images)


def _part(part: Any) -> tuple[str, tuple[Image, ...]]:
    if isinstance(part, str):
        return part, ()
    if not isinstance(part, dict):
        return dumped(part), ()
    kind = part.get("type")
    if isinstance(part.get("text"), str):
        return part["text"], ()
    if kind in ("image_url", "input_image", "image"):
        return _image(_address(part))
    return (f"[{kind} is not kept]", ()) if isinstance(kind, str) else (dumped(part), ())


def _address(part: dict[str, Any]) -> str:
    """Where an image part has its image: an address of the web, or a ``data:`` URL."""
    found = part.get("image_url", part.get("source", part.get("url")))
    if isinstance(found, dict) and isinstance(found.get("data"), str):
        return f"data:{found.get('media_type')};base64,{found['data']}"
    if isinstance(found, dict):
        found = found.get("url")
    return found if isinstance(found, str) else ""


def _image(address: str) -> tuple[str, tuple[Image, ...]]:
    start = DATA.match(address)
    if start is None:
        return (f"[image: {address}]" if address and not address.startswith("data:") else "[image is not kept]"), ()
    size = len(address) - start.end()
    if size > MOST_IMAGE or not BASE64.fullmatch(address, start.end()):
        return f"[image of {size} characters is not kept]", ()
    return "", (Image(start[1], address[start.end() :]),)


def calls_of(value: Any, care: Care) -> tuple[ToolCall, ...]:
    """The tool calls of a reply, each with an id that no other of the reply has."""
    found = parsed(value)
    if found is None and value:
        care.skip("tool calls that are not JSON")
    calls = [found] if isinstance(found, dict) else found if isinstance(found, list) else []
    seen: set[str] = set()
    return tuple(_call(call, seen, care) for call in calls if isinstance(call, dict))


def _call(call: dict[str, Any], seen: set[str], care: Care) -> ToolCall:
    inner = call.get("function")
    function = inner if isinstance(inner, dict) else call
    arguments = function.get("arguments", "")
    written = arguments if isinstance(arguments, str) else dumped({} if arguments is None else arguments)
    mended = mend(written)
    extra = {key: value for part in (call, function) for key, value in part.items() if key in KEPT and value}
    return ToolCall(
        _unlike(care.clean(call_id_of(call)), seen),
        care.clean(_text(function.get("name"))),
        care.clean(written if mended.flaw else mended.arguments),
        mended.flaw,
        care.clean(dumped(extra)) if extra else "",
    )


def call_id_of(call: dict[str, Any]) -> str:
    """The id that a result names."""
    return _text(call.get("id")) or _text(call.get("call_id"))


def _unlike(name: str, seen: set[str]) -> str:
    """`name`, or the next like it that is free."""
    free, count = name or "call", 1
    while free in seen:
        count += 1
        free = f"{name or 'call'}{ANOTHER}{count}"
    seen.add(free)
    return free


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def went_well(text: str) -> bool:
    """Whether a result is one of success: the original's tools tell a failure as a JSON object that says so."""
    if text.lstrip()[:1] != "{" or not ('"error"' in text or '"success"' in text):
        return True
    found = parsed(text)
    return not (isinstance(found, dict) and (found.get("success") is False or found.get("error")))
