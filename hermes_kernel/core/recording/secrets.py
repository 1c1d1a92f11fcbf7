"""What is recorded, without its secrets: those that are known, and those that look like one. Pure.

A stream may cut one in two, so what its deltas say is looked at joined; where nothing is found, nothing is changed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from hermes_kernel.core.recording.bodies import Change, hidden_blocks
from hermes_kernel.core.recording.cassette import Called, Exchange, Head, Request, in_each
from hermes_kernel.core.redact import redact, redact_plain

_ACCOUNT = re.compile(r"(?<=://)[^/@#\s]*@")
_QUERY = re.compile(r"\?[^#\s]*")
_MARKER = re.compile(r"\[redacted: [^\]]*\]")


def hidden_head(head: Head, secrets: frozenset[str] = frozenset(), also: Change = str) -> Head:
    """The head without secrets: an endpoint may be named with an account, a password or a key. In its texts also with
    what `also` replaces."""

    def safe(text: str) -> str:
        return also(hidden_address(_QUERY.sub("", _ACCOUNT.sub("", text)), secrets))

    return replace(head, settings={name: in_each(value, safe) for name, value in head.settings.items()})


def hidden_address(text: str, secrets: frozenset[str] = frozenset()) -> str:
    """An address, or a model at one, without secrets: what was one goes on being one."""
    return _MARKER.sub("redacted", redact(text, secrets))


def hidden_request(request: Request, secrets: frozenset[str] = frozenset()) -> Request:
    """The request without secrets: this is what it is found by. That a secret was one, and not of which kind: one that
    is known where it was recorded only looks like one elsewhere."""
    messages = tuple(_of_any_kind(redact_plain(message, secrets)) for message in request.messages)
    return request if messages == request.messages else replace(request, messages=messages)


def hidden_call(called: Called, secrets: frozenset[str] = frozenset()) -> Called:
    """The call without secrets."""
    arguments = _of_any_kind(redact_plain(called.arguments, secrets))
    call_id = _of_any_kind(redact_plain(called.id, secrets))
    return replace(called, arguments=arguments, text=redact_plain(called.text, secrets), id=call_id)


def _of_any_kind(value: Any) -> Any:
    """Plain data in which no marker says what it stands for."""
    match value:
        case str():
            return _MARKER.sub("[redacted]", value)
        case list():
            return [_of_any_kind(item) for item in value]
        case dict():
            return {name: _of_any_kind(item) for name, item in value.items()}
    return value


def hidden(exchange: Exchange, secrets: frozenset[str] = frozenset(), also: Change = str) -> Exchange:
    """The exchange without secrets; in the texts of its answer with what `also` replaces."""
    return replace(
        exchange,
        request=hidden_request(exchange.request, secrets),
        headers={name: redact(value, secrets) for name, value in exchange.headers.items()},
        blocks=hidden_blocks(exchange.blocks, secrets, also),
        message=redact(exchange.message, secrets),
    )
