"""Rows of the original, from its database or from an export, as a `Story`. Columns that are not there read as empty."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hermes_kernel.core.finish import Finish
from hermes_kernel.core.json_repair import dumped
from hermes_kernel.core.messages import Usage
from hermes_kernel.world.importing.content import calls_of, content_of, decoded, parsed, went_well
from hermes_kernel.world.importing.told import Care, Standing, Story, Told

Raw = Mapping[str, Any]

ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "function": "tool", "system": "system",
         "developer": "system"}  # fmt: skip
LATEST = 253_402_300_799.0  # the end of the year 9999
MOST = 10**12  # no session has so many tokens or costs so much
LONGEST_ID = 500  # characters
FINISHES = {finish.value: finish for finish in Finish}
# How the prompts begin that old versions wrote into a session when they reviewed it for skills and memories.
REVIEWS = (
    "Review the conversation above and update the skill library",
    "Review the conversation above and consider saving to memory",
)


def story(session: Raw, rows: Iterable[Raw], care: Care, *, whole: bool = True) -> Story | None:
    """A session and its messages in their order; None when it has no id."""
    name = session_id(session.get("id"))
    if not name:
        care.skip("sessions without an id")
        return None
    model = care.clean(_text(session.get("model")))
    messages = _without_reviews(_distinct(told for row in rows if (told := message(row, care)) is not None))
    return Story(
        session=name,
        parent=session_id(session.get("parent_session_id")),
        kind=_kind(session),
        title=" ".join(care.clean(_text(session.get("title"))).split()),
        system=care.clean(_text(session.get("system_prompt"))),
        model=model,
        each="" if _count(session.get("models")) > 1 else model,
        started=time_of(session.get("started_at")),
        spent=_spent(session),
        messages=messages,
        whole=whole,
    )


def session_id(value: Any) -> str:
    """An id as it is kept; ``""`` for one that cannot be."""
    name = value.strip() if isinstance(value, str) else ""
    return name.encode("utf-8", "replace").decode() if len(name) <= LONGEST_ID else ""


def message(row: Raw, care: Care) -> Told | None:
    """One message; None, and counted, when it says nothing that can be kept."""
    role = ROLES.get(_text(row.get("role")).lower())
    if role is None:
        care.skip("messages of a role that is not known")
        return None
    try:
        return _message(row, role, care)
    except RecursionError:
        care.skip("messages nested too deeply")
        return None


def _message(row: Raw, role: str, care: Care) -> Told:
    content = decoded(row.get("content"))
    text, images = content_of(content)
    said = care.clean(text)
    told = Told(_key(row, content), time_of(row.get("timestamp")), role, said, images, standing=_standing(row))
    match role:
        case "tool":
            return replace(told, call_id=care.clean(_text(row.get("tool_call_id"))), ok=went_well(said))
        case "assistant":
            return _reply(told, row, care)
    return told


def _reply(told: Told, row: Raw, care: Care) -> Told:
    calls = calls_of(row.get("tool_calls"), care)
    notes = "\n".join("[an image the model made is not kept]" for _ in told.images)
    thoughts = _text(row.get("reasoning")) or _text(row.get("reasoning_content"))
    finish = FINISHES.get(_text(row.get("finish_reason")), Finish.STOP)
    return replace(
        told,
        text="\n".join(filter(None, (told.text, notes))),
        images=(),
        calls=calls,
        thoughts=care.clean(thoughts),
        extra=_extra(row, care),
        finish=Finish.TOOL_CALLS if calls else finish,
    )


def _extra(row: Raw, care: Care) -> str:
    """The reasoning fields that a provider wants back."""
    details = parsed(row.get("reasoning_details"))
    fields: dict[str, Any] = {}
    if thoughts := _text(row.get("reasoning_content")):
        fields["reasoning_content"] = thoughts
    if isinstance(details, list) and details:
        fields["reasoning_details"] = [each for each in details if isinstance(each, dict)]
    return care.clean(dumped(fields)) if fields else ""


def _standing(row: Raw) -> Standing:
    """A row from before these columns, or one that an old version wrote without them, is live."""
    if row.get("active", 1) != 0:
        return Standing.LIVE
    return Standing.ARCHIVED if row.get("compacted") == 1 else Standing.TAKEN_BACK


def _key(row: Raw, content: Any) -> str:
    """The same for one message in a database, its copies and its exports: row numbers differ, what was said when does
    not."""
    parts = [row.get("role"), row.get("timestamp"), content, row.get("tool_call_id"), parsed(row.get("tool_calls"))]
    text = json.dumps(parts, sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _distinct(messages: Iterable[Told]) -> tuple[Told, ...]:
    """The same words at the same time are as many messages as there are of them."""
    seen: Counter[str] = Counter()
    out: list[Told] = []
    for told in messages:
        seen[told.key] += 1
        out.append(told if seen[told.key] == 1 else replace(told, key=f"{told.key}.{seen[told.key]}"))
    return tuple(out)


def _without_reviews(messages: tuple[Told, ...]) -> tuple[Told, ...]:
    """The original takes its own reviews back when it reads a session, so that nobody goes on as a reviewer."""
    out: list[Told] = []
    review = False
    for told in messages:
        asks = told.role in ("user", "system") and told.text.lstrip().startswith(REVIEWS)
        answers = review and told.role == "assistant"
        out.append(replace(told, standing=Standing.TAKEN_BACK) if asks or answers else told)
        review = asks
    return tuple(out)


def _kind(session: Raw) -> str:
    settings = parsed(session.get("model_config"))
    if isinstance(settings, dict) and settings.get("_delegate_from"):
        return "subagent"
    source = _text(session.get("source")).lower()
    return source if source in ("subagent", "cron") else "chat"


def _spent(session: Raw) -> Usage:
    """The session's totals. The original counts what was read from a cache, or written to one, apart."""
    read = _count(session.get("cache_read_tokens"))
    return Usage(
        input_tokens=_count(session.get("input_tokens")) + read + _count(session.get("cache_write_tokens")),
        output_tokens=_count(session.get("output_tokens")),
        cached_tokens=read,
        reasoning_tokens=_count(session.get("reasoning_tokens")),
        cost=_cost(session.get("actual_cost_usd")) or _cost(session.get("estimated_cost_usd")),
        estimated=True,
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST else 0


def _cost(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < MOST else 0.0


def time_of(value: Any) -> float | None:
    """Seconds since 1970-01-01 UTC, or None for what is no such time."""
    try:
        t = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return t if math.isfinite(t) and 0 <= t <= LATEST else None


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""
