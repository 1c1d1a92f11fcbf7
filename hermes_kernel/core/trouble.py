"""What a server or the network said when a call failed, read from any of the shapes errors come in.

Bodies are objects, strings, arrays, FastAPI details, vLLM's flat form, HTML pages or nothing; all become a `Trouble`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hermes_kernel.core.safe import clean
from hermes_kernel.core.text import brief, scrub
from hermes_kernel.core.windows import plausible

_MOST_CHARACTERS = 300
_MOST_TOKENS = 10**12  # no request has so many
_SHORTEST_KEY = 8  # letters; none that is shorter and has no digit is a key
_STATUS = re.compile("[45][0-9][0-9]")
_TAGS = re.compile(r"<(script|style)\b(?:(?!<\1\b).)*?</\1>|<[^<>]*>", re.DOTALL | re.IGNORECASE)
_COUNT = r"(?<!\d)(\d{1,12})"  # what begins with digits is sought once in a run of them
_NUMBERS = {
    "asked": (
        rf"{_COUNT} (?:tokens )?(?:in|from) the (?:input )?messages", rf"{_COUNT} \+ \d+ > \d",
        rf"{_COUNT}(?: tokens)? > \d",
        r"\((\d+) tokens\)", r"token count \((\d+)\)", r"(?:requested|resulted in|contains|has|first) (?:about )?(\d+)",
        r"given: (\d+)",
    ),
    "window": (
        r"(?:context|prompt) length (?:is|of) (?:only )?(\d+)", r"context (?:size|length|window) \((\d+) tokens\)",
        r"\d(?: tokens)? > (\d+)", r"tokens allowed \((\d+)\)",
        r"context (?:length|window) (?:is |of )?(?:only )?(\d+)", r"must (?:be <=|have less than) (\d+)",
        r"input length should be \[\d+ (\d+)\]",
    ),
}  # fmt: skip


class Cause(StrEnum):
    """Where it went wrong, apart from an answer with an HTTP status."""

    ANSWER = "answer"
    CONNECT = "connect"
    SSL = "ssl"
    FIRST_BYTE = "first_byte"
    STALE = "stale"
    QUEUED = "queued"
    DISCONNECT = "disconnect"
    NOT_A_STREAM = "not_a_stream"
    MALFORMED = "malformed"
    ENCODING = "encoding"
    NOT_RECORDED = "not_recorded"


@dataclass(frozen=True, slots=True)
class Trouble:
    """One failed call. ``status`` 0 where there was no HTTP error; ``code`` and ``kind`` are the server's own words;
    ``words`` all it said. ``large`` when the request was so large that a closed connection may mean "too long".
    ``asked`` and ``window`` are the tokens of an overflow, where the server told them. ``wait`` its hint in seconds."""

    cause: Cause = Cause.ANSWER
    status: int = 0
    code: str = ""
    kind: str = ""
    message: str = ""
    words: str = ""
    param: str = ""
    generation: str = ""
    large: bool = False
    asked: int = 0
    window: int = 0
    wait: float | None = None


def read_trouble(body: str, status: int = 0, *, cause: Cause = Cause.ANSWER) -> Trouble:
    """The trouble told by the body of an error answer or by an error event of a stream."""
    fields = _fields(_parsed(body))
    code = _text(fields.get("code"))
    message = _message(fields) or _plain(body) or (f"the server answered {status} without a word" if status else "")
    told = status or (int(code) if _STATUS.fullmatch(code) else 0)
    return Trouble(
        cause=cause,
        status=told,
        code=code,
        kind=_text(fields.get("type")) or _text(fields.get("status")),
        message=one_line(message),
        words=scrub(f"{message} {body}")[:20_000],
        param=_text(fields.get("param")),
        generation=scrub(_text(fields.get("failed_generation"))),
        asked=_number(fields, "n_prompt_tokens") or _spoken("asked", message),
        window=plausible(fields.get("n_ctx")) or plausible(_spoken("window", message)),
    )


def one_line(message: str, secrets: Collection[str] = ()) -> str:
    """`message` as one line of at most 300 characters that moves no cursor, without `secrets`. What servers without
    keys are given in place of one, such as ``none``, is a word."""
    for secret in secrets:
        if len(secret) > 3 and not (secret.isalpha() and len(secret) < _SHORTEST_KEY):
            message = message.replace(secret, "***")
    return brief(clean(scrub(message)), _MOST_CHARACTERS)


def _parsed(body: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _fields(value: Any, depth: int = 4) -> dict[str, Any]:
    """The object that speaks of the error, unwrapped from arrays and ``error`` keys."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, str):
        return {"message": value}
    if not isinstance(value, dict):
        return {}
    inner = value.get("error")
    if isinstance(inner, str):
        return value | {"message": _text(value.get("message")) or inner}
    return _fields(inner, depth - 1) if isinstance(inner, dict | list) and inner and depth else value


def _message(fields: dict[str, Any], depth: int = 4) -> str:
    """What an error says, with the words of the provider behind a router where they are passed on."""
    message, detail = fields.get("message"), fields.get("detail")
    if isinstance(message, dict) and depth:
        return _message(message, depth - 1)
    said = _text(message) or _detail(detail, depth) or _text(fields.get("msg"))
    metadata = fields.get("metadata")
    raw = _text(metadata.get("raw")) if isinstance(metadata, dict) else ""
    inner = (_message(_fields(_parsed(raw)), depth - 1) if raw and depth else "") or raw
    return f"{said}: {inner}" if inner and inner != said else said


def _detail(detail: Any, depth: int) -> str:
    """FastAPI: a sentence, or a list of complaints with the place of each."""
    if isinstance(detail, dict):
        return _message(detail, depth - 1) if depth else ""
    if not isinstance(detail, list):
        return _text(detail)
    items = [item for item in detail if isinstance(item, dict)]
    return "; ".join(f"{'.'.join(map(str, _list(i.get('loc'))))}: {_text(i.get('msg'))}".strip(": ") for i in items)


def _plain(body: str) -> str:
    """The words of a body that is no JSON: a proxy's HTML page, a line of text."""
    return " ".join(_TAGS.sub(" ", body[:20_000]).split()) if not _parsed(body) else brief(body, _MOST_CHARACTERS)


def _spoken(what: str, message: str) -> int:
    plain = message.replace(",", "")
    found = (re.search(pattern, plain, re.IGNORECASE) for pattern in _NUMBERS[what])
    return next((int(match.group(1)[:12]) for match in found if match), 0)


def _number(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) and 0 < value < _MOST_TOKENS else 0


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None or isinstance(value, bool | dict | list) else str(value)
