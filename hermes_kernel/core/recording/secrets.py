"""What is recorded, without its secrets: those that are known, and those that look like one. Pure.

A stream may cut one in two, so what its deltas say is looked at joined; where nothing is found, nothing is changed.
"""

from __future__ import annotations

import re
from dataclasses import replace

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
    """The request without secrets: this is what it is found by."""
    messages = tuple(redact_plain(message, secrets) for message in request.messages)
    return request if messages == request.messages else replace(request, messages=messages)


def hidden_call(called: Called, secrets: frozenset[str] = frozenset()) -> Called:
    """The call without secrets."""
    return replace(called, arguments=redact_plain(called.arguments, secrets), text=redact_plain(called.text, secrets))


def hidden(exchange: Exchange, secrets: frozenset[str] = frozenset(), also: Change = str) -> Exchange:
    """The exchange without secrets; in the texts of its answer with what `also` replaces."""
    return replace(
        exchange,
        request=hidden_request(exchange.request, secrets),
        headers={name: redact(value, secrets) for name, value in exchange.headers.items()},
        blocks=hidden_blocks(exchange.blocks, secrets, also),
        message=redact(exchange.message, secrets),
    )
