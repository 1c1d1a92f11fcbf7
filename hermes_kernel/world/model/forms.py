"""Messages as the wire has them, in the form one endpoint takes. Pure: the same message always becomes the same."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

from hermes_kernel.core.messages import Assistant, Image, Message, Observation, ToolCall, User
from hermes_kernel.world.model.quirks import Quirks

BRIDGE = "Noted."
NO_IMAGE = "[An image is not shown: this model takes none.]"
NAMELESS = "unknown"
UNSAYABLE = re.compile(r"[^A-Za-z0-9_-]")
NAME, ID = 64, 4_000
"""Characters of the longest name that servers take back, and of the longest id that may be one: some have a thought's
signature in it."""
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def wire_messages(messages: Sequence[Message], quirks: Quirks, after: Message | None) -> list[dict[str, Any]]:
    """Messages that make one group as the wire has them, following message `after`."""
    out: list[dict[str, Any]] = []
    users = [message for message in messages if isinstance(message, User)]
    seen = [image for message in messages if isinstance(message, Observation) for image in message.images]
    for message in messages:
        if isinstance(message, Assistant):
            out.append(_assistant(message, quirks))
        elif isinstance(message, Observation):
            out.append(_observation(message, quirks))
    shown = [image for user in users for image in user.images]
    text = "\n\n".join(user.text for user in users)
    if seen and quirks.vision:
        shown, text = [*seen, *shown], text or "[Images from the tools above.]"
    if text or users:
        follows_tool = isinstance(messages[0] if seen else after, Observation)
        out += [{"role": "assistant", "content": BRIDGE}] if quirks.bridge and follows_tool else []
        out.append({"role": "user", "content": _content(text, shown, quirks)})
    return out


def images_of(message: Message) -> tuple[Image, ...]:
    """The images that come with a message."""
    return () if isinstance(message, Assistant) else message.images


def _content(text: str, images: Sequence[Image], quirks: Quirks) -> str | list[dict[str, Any]]:
    if not images:
        return text
    if not quirks.vision:
        return f"{text}\n{NO_IMAGE}" if text else NO_IMAGE
    urls = [f"data:{image.mime};base64,{image.data}" for image in images]
    return [{"type": "text", "text": text}, *({"type": "image_url", "image_url": {"url": url}} for url in urls)]


def _assistant(message: Assistant, quirks: Quirks) -> dict[str, Any]:
    empty = None if message.calls and quirks.null_content else ""
    out: dict[str, Any] = {"role": "assistant", "content": message.text or empty}
    if message.calls:
        out["tool_calls"] = [_call(call, quirks) for call in message.calls]
    if quirks.replay:
        told = json.loads(message.extra) if message.extra else {}
        out |= {name: told[name] for name in quirks.replay if name in told}
        if "reasoning_content" in quirks.replay:
            out.setdefault("reasoning_content", "")
        if "reasoning_details" in out:
            out.pop("reasoning", None)
    return out


def _call(call: ToolCall, quirks: Quirks) -> dict[str, Any]:
    arguments = "{}" if call.flaw else call.arguments or "{}"
    function = {"name": _name(call.name), "arguments": arguments}
    extra = json.loads(call.extra) if call.extra and quirks.call_extras else {}
    return {"id": _id(call.id, quirks), "type": "function", "function": function, **extra}


def _observation(message: Observation, quirks: Quirks) -> dict[str, Any]:
    text = message.text
    if message.images and not quirks.vision:
        text = f"{text}\n{NO_IMAGE}" if text else NO_IMAGE
    call_id, name = _id(message.call_id, quirks), _name(message.name)
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": text}


def _name(name: str) -> str:
    """The name of a tool that was asked for, which there may not be, as servers take it back: they refuse a whole
    conversation for one that no tool can have."""
    return UNSAYABLE.sub("_", name[:NAME]) or NAMELESS


def _id(call_id: str, quirks: Quirks) -> str:
    """The id as the endpoint takes it; the same one always becomes the same."""
    fits = len(call_id) == 9 and call_id.isascii() and call_id.isalnum() if quirks.nine_ids else len(call_id) <= ID
    if fits:
        return call_id
    number = int.from_bytes(hashlib.sha256(call_id.encode("utf-8", "replace")).digest()[:8], "big")
    return "".join(_ALPHABET[number // 62**place % 62] for place in range(9))
