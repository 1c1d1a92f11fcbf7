"""What one endpoint wants otherwise than others: known by its host, or learnt once from its own complaint.

A lesson changes the value or is none, so the same request is never sent again as it was.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from hermes_kernel.core.classify import classify
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.gauge import Counts
from hermes_kernel.core.trouble import Cause, Trouble


@dataclass(frozen=True, slots=True)
class Quirks:
    """How requests to one model at one endpoint are written.

    ``limit_name`` is the field of the output limit, ``most_tokens`` the largest value it takes (0: not known).
    ``replay`` names the reasoning fields that go back with assistant messages; ``call_extras``: whether those of calls
    do. ``nine_ids`` and ``bridge`` are Mistral's: ids of 9 alphanumerics, and no user message right after a tool's.
    """

    limit_name: str = "max_tokens"
    most_tokens: int = 0
    tools: bool = True
    vision: bool = True
    temperature: float | None = None
    plain_schemas: bool = False
    null_content: bool = True
    nine_ids: bool = False
    bridge: bool = False
    call_extras: bool = True
    replay: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()


USUAL = Quirks()


@dataclass(frozen=True, slots=True)
class Sent:
    """What a request had in it: its top-level fields and whether images, of which a server may complain; and how much:
    transcript and system prompt, and the ``tools`` beside them."""

    fields: frozenset[str]
    images: bool = False
    counts: Counts = Counts()
    tools: Counts = Counts()


NOTHING_SENT = Sent(frozenset())

_HOSTS: tuple[tuple[str, Quirks], ...] = (
    ("api.openai.com", Quirks(limit_name="max_completion_tokens")),
    ("openai.azure.com", Quirks(limit_name="max_completion_tokens")),
    ("mistral.ai", Quirks(nine_ids=True, bridge=True, call_extras=False, null_content=False,
                          dropped=frozenset({"stream_options"}))),
    ("groq.com", Quirks(call_extras=False)),
    ("deepseek.com", Quirks(replay=frozenset({"reasoning_content"}))),
    ("openrouter.ai", Quirks(replay=frozenset({"reasoning", "reasoning_details"}))),
)  # fmt: skip

_NO_TOOLS = re.compile(
    r"(?:does not|doesn't|do not|not) support (?:tools?|function.?call|tool.?(?:use|call)|functions)"
    r"|support tool use|tools? (?:are|is) not supported|tool.?call.{0,30}not supported|enable-auto-tool-choice"
    r"|function calling is not (?:enabled|supported)",
    re.IGNORECASE,
)
_NO_IMAGES = re.compile(r"image|vision|multi.?modal|mmproj", re.IGNORECASE)
_REFUSES = re.compile(
    r"unsupported|not support|unknown|unrecogni[sz]ed|not permitted|forbidden|unexpected|not allowed|deprecated|extra"
    r"|invalid|no longer|instead|does not exist|not available|additional propert",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"(?:at most|maximum (?:value|allowed)[^\d]{0,40}|less than or equal to|<=|up to|(?:can|must )not exceed)"
    r"\s*[`'\"]?(\d+)",
    re.IGNORECASE,
)
_SCHEMA = re.compile(r"schema|\bpattern\b|\$ref|grammar|regex", re.IGNORECASE)
_NULL = re.compile(r"content.{0,60}(?:null|none|string|required|empty|missing)|null.{0,30}content", re.IGNORECASE)
_WANTS_THOUGHTS = re.compile(
    r"(?:missing|requires?|must (?:include|contain|be passed)).{0,60}reasoning_content"
    r"|reasoning_content.{0,60}(?:must|missing|required)",
    re.IGNORECASE,
)
_CALL_EXTRAS = re.compile(r"extra_content|thought_signature|provider_specific_fields|signature", re.IGNORECASE)
_OPTIONAL = ("stream_options", "temperature", "max_tokens", "max_completion_tokens")
_LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


def quirks_of(base_url: str, *, near: bool, local: bool = False) -> Quirks:
    """What is known of an endpoint before the first call. One nearby may be llama-server; a ``local`` one is ours."""
    host = urlsplit(base_url).hostname or ""
    if local:
        return Quirks(temperature=0.0, plain_schemas=True)
    known = next((quirks for name, quirks in _HOSTS if host == name or host.endswith("." + name)), Quirks())
    return replace(known, plain_schemas=near)


def learn(quirks: Quirks, trouble: Trouble, sent: Sent) -> tuple[Quirks, str] | None:
    """The quirks after a complaint and one line about the change, or None if there is nothing to learn from it."""
    if trouble.cause is not Cause.ANSWER or not 400 <= trouble.status <= 501 or trouble.status in (401, 402, 429):
        return None
    lesson = _about_model(quirks, trouble, sent)
    if lesson is None and classify(trouble) in (Fault.FORMAT_ERROR, Fault.SERVER_ERROR, Fault.UNKNOWN):
        lesson = _about_messages(quirks, trouble) or _about_fields(quirks, trouble, sent)
    return lesson if lesson and lesson[0] != quirks else None


def _about_model(quirks: Quirks, trouble: Trouble, sent: Sent) -> tuple[Quirks, str] | None:
    if "tools" in sent.fields and _NO_TOOLS.search(trouble.words):
        return replace(quirks, tools=False), "This model has no tools: it is asked without them."
    if sent.images and _NO_IMAGES.search(trouble.message):
        return replace(quirks, vision=False), "This model takes no images: they are left out."
    return None


def _about_messages(quirks: Quirks, trouble: Trouble) -> tuple[Quirks, str] | None:
    words = trouble.message
    if re.search(r"tool.?call.?id", words, re.IGNORECASE) and re.search(r"length|9", words):
        return replace(quirks, nine_ids=True), "This server wants short tool call ids."
    if re.search(r"unexpected role .?user.? after role .?tool", words, re.IGNORECASE):
        return replace(quirks, bridge=True), "This server wants an answer between a tool and the next prompt."
    if _WANTS_THOUGHTS.search(words):
        return replace(quirks, replay=quirks.replay | {"reasoning_content"}), "This server wants its thoughts back."
    if quirks.replay and "reasoning" in words and _REFUSES.search(words):
        return replace(quirks, replay=frozenset()), "This server refuses thoughts in the history."
    if quirks.call_extras and _CALL_EXTRAS.search(words) and _REFUSES.search(words):
        return replace(quirks, call_extras=False), "This server refuses another provider's fields."
    if quirks.null_content and _NULL.search(words):
        return replace(quirks, null_content=False), "This server wants content in every message."
    return None


def _about_fields(quirks: Quirks, trouble: Trouble, sent: Sent) -> tuple[Quirks, str] | None:
    named = _named(trouble, sent.fields)
    if named in _LIMITS and (most := _AT_MOST.search(trouble.message)):
        return replace(quirks, most_tokens=int(most[1])), f"This model writes {most[1]} tokens at most."
    if not named or not (trouble.param or _REFUSES.search(trouble.words)):
        return _about_schemas(quirks, trouble, sent)
    other = _LIMITS.get(named)
    if other and quirks.limit_name == named and other not in quirks.dropped:
        dropped = quirks.dropped | {named}
        return replace(
            quirks, limit_name=other, dropped=dropped
        ), f"{named} is not known here: {other} is sent instead."
    return replace(quirks, dropped=quirks.dropped | {named}), f"{named} is not known here: it is left out."


def _about_schemas(quirks: Quirks, trouble: Trouble, sent: Sent) -> tuple[Quirks, str] | None:
    if "tools" in sent.fields and not quirks.plain_schemas and _SCHEMA.search(trouble.message):
        return replace(quirks, plain_schemas=True), "This server wants plainer tool schemas."
    return None


def _named(trouble: Trouble, fields: Collection[str]) -> str:
    """The optional field of the request that a complaint is about, the one that comes first in its words."""
    if trouble.param in fields and trouble.param in _OPTIONAL:
        return trouble.param
    places = [(found.start(), name) for name in _OPTIONAL if name in fields if (found := _word(name, trouble.words))]
    return min(places)[1] if places else ""


def _word(name: str, words: str) -> re.Match[str] | None:
    return re.search(rf"\b{name}\b", words)
