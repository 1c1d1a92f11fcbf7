"""A request in its normal form: what is the same on another machine is the same text. Pure.

Folders become ``<home>``, ``<here>`` and ``<tmp>``, random names of temporary files and kernels ``*``, addresses in
memory ``0x…``; ids of calls are numbered as they appear; images are their digests; the system prompt is left out.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hermes_kernel.core.recording.cassette import Request
from hermes_kernel.core.recording.folders import BEHIND, any_of

_INSTRUCTIONS = ("system", "developer")
_ADDRESS = re.compile(r"(?<![0-9A-Za-z])0x[0-9a-fA-F]{9,16}(?![0-9A-Za-z])")
_RANDOM = re.compile(
    r"(?<=<tmp>/)(?:"
    r"(?P<made>tmp|(?:[A-Za-z0-9.]+[_-]){1,5})[a-z0-9_]{8}(?![A-Za-z0-9_-])"
    r"|(?P<kernel>ipykernel_)\d+/\d+"
    r"|(?P<pytest>pytest-of-)[\w.-]{1,60}/pytest-\d+)"
)
"""Names that `tempfile`, a Python kernel and pytest make up."""
_NAMED = re.compile("<(?:home|here|tmp)>")
_DATA = re.compile(r"data:(?P<mime>[^;,]{0,80});base64,(?P<data>.*)", re.DOTALL)
_BEFORE = r"(?:(?<![\w.-])|(?<=\\[nrtbf]))(?<!<tmp>)(?<!<home>)(?<!<here>)(?<![\w-]\*)"
"""No path begins inside a word or another path. Inside JSON the escape of a line's end is no letter."""


@dataclass(frozen=True, slots=True)
class Places:
    """Folders that are elsewhere on another machine: the person's home, where the agent works, and those for temporary
    files. The root of all is no place, and neither is what is not given from it on."""

    home: str = ""
    here: str = ""
    tmp: tuple[str, ...] = ()


def request(body: Mapping[str, Any], places: Places) -> Request:
    """What counts of a request to a model. Whatever is in `body`, there is one."""
    raw = body.get("messages")
    numbers: dict[str, str] = {}
    messages = [
        _message(message, places, numbers)
        for message in (raw if isinstance(raw, list) else [])
        if isinstance(message, dict) and message.get("role") not in _INSTRUCTIONS
    ]
    return Request(tuple(messages), tools=bool(body.get("tools")))


def arguments(text: str, places: Places) -> str:
    """Arguments of a call: neither the order of their names nor their spaces count. What is no JSON is text."""
    try:
        return _dumped(_each_text(json.loads(text), lambda said: plainly(said, places)))
    except (ValueError, RecursionError):
        return plainly(text, places)


def plainly(text: str, places: Places) -> str:
    """`text` as it would be on any machine."""
    if "0x" in text:
        text = _ADDRESS.sub("0x…", text)
    pattern, names = _written(places)
    if not names:
        return text
    text = pattern.sub(lambda found: names[found[0]], text)
    return _RANDOM.sub(lambda found: f"{found[found.lastgroup or 0]}*", text) if "<tmp>/" in text else text


def placed(text: str, places: Places) -> str:
    """`text` in its normal form with folders again, which are those of these places. Where another text would come of
    it elsewhere, it stays as it is: a tag of a page may be called ``<home>``."""
    _, names = _written(places)
    paths = {name: path for path, name in reversed(names.items())}
    told = _NAMED.sub(lambda found: paths.get(found[0], found[0]), text)
    return told if plainly(told, places) == text else text


@lru_cache(maxsize=64)
def _written(places: Places) -> tuple[re.Pattern[str], dict[str, str]]:
    """What finds a place in a text, and what each is called."""
    called = [*((tmp, "<tmp>") for tmp in places.tmp), (places.home, "<home>"), (places.here, "<here>")]
    names: dict[str, str] = {}
    for path, name in called:
        path = path.rstrip("/\\")  # noqa: PLW2901  # the same place
        if path.startswith("/") or re.match(r"[A-Za-z]:\\.", path):
            names |= {path: name, path.replace("\\", "\\\\"): name}
    return re.compile(f"{_BEFORE}{any_of(names)}{BEHIND}"), names


def _message(raw: Mapping[str, Any], places: Places, numbers: dict[str, str]) -> dict[str, Any]:
    text, images = _content(raw.get("content"))
    message: dict[str, Any] = {"role": str(raw.get("role")), "content": plainly(text, places)}
    if images:
        message["images"] = images
    if isinstance(calls := raw.get("tool_calls"), list) and calls:
        message["calls"] = [_call(call, places, numbers) for call in calls if isinstance(call, dict)]
    if call_id := raw.get("tool_call_id"):
        message["call"] = _number(call_id, numbers)
    return message


def _call(raw: Mapping[str, Any], places: Places, numbers: dict[str, str]) -> dict[str, str]:
    function = raw.get("function")
    function = function if isinstance(function, dict) else {}
    given = function.get("arguments")
    given = given if isinstance(given, str) else _dumped(given)
    return {
        "id": _number(raw.get("id"), numbers),
        "name": str(function.get("name")),
        "arguments": arguments(given, places),
    }


def _number(call_id: Any, numbers: dict[str, str]) -> str:
    return numbers.setdefault(str(call_id), str(len(numbers) + 1))


def _content(content: Any) -> tuple[str, list[str]]:
    """The text and the images of a content in any of its forms."""
    if not isinstance(content, list):
        return (content if isinstance(content, str) else "" if content is None else _dumped(content)), []
    texts, images = [], []
    for part in content:
        match part:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                images.append(_digest(url))
            case _:
                texts.append(_dumped(part))
    return "\n".join(texts), images


def _digest(url: str) -> str:
    """``image/png sha256:…`` of the picture's bytes. A picture that is elsewhere is where it is."""
    found = _DATA.fullmatch(url)
    if found is None:
        return url
    try:
        data = base64.b64decode(found["data"])
    except ValueError:
        data = found["data"].encode("utf-8", "replace")
    return f"{found['mime']} sha256:{hashlib.sha256(data).hexdigest()}"


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case str():
            return change(value)
        case list():
            return [_each_text(item, change) for item in value]
        case dict():
            return {change(name): _each_text(item, change) for name, item in value.items()}
    return value


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
