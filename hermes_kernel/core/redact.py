"""Secrets taken out of text before anyone keeps or shows it: those that are known, and those that look like one.

Each rule demands the shape its issuer gives a key, or a name that says so beside a value that could be one. Ordinary
words, code, hashes and pictures in base64 stay as they are. Time is linear in the text; twice is as good as once.
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

from hermes_kernel.core.shapes import ANCHORED, RULES, Rule

SHORTEST = 12  # of a known secret; shorter ones, such as ``lm-studio``, are words
LEAST = 9  # characters of the shortest text in which a rule finds anything: ``://a:bcd@``
NAMES = frozenset({"fact", "session_id", "parent", "id", "call_id", "lease", "data"})
"""Fields that name things, which other facts name likewise, and the base64 of images."""
_ESCAPED = re.compile("%[0-9A-F]{2}")


def redact(text: str, secrets: frozenset[str] = frozenset()) -> str:
    """`text` with every secret replaced by a marker such as ``[redacted: API key]``. ``secrets`` are values known to be
    secret, whatever they look like; those under 12 characters are left alone."""
    for form in _forms(frozenset(secrets)):
        text = text.replace(form, _marker("secret"))
    for rule in _fitting(text.lower()):
        text = rule.pattern.sub(_Replacement(_marker(rule.kind)), text)
    return text


def _fitting(lower: str) -> list[Rule]:
    """The rules that may find something, in their order. Most texts hold few of the signs that keys are known by."""
    anchored = (pair for sign, pairs in ANCHORED if sign in lower for pair in pairs)
    found = {n for anchor, n in anchored if anchor in lower}
    return [rule for rule in map(RULES.__getitem__, sorted(found)) if rule.mark in lower]


def redact_plain(value: Any, secrets: frozenset[str] = frozenset()) -> Any:
    """Plain data, such as `plain.dump` makes of a fact, with every text in it redacted but those in `NAMES`."""
    match value:
        case str():
            return _redact_any(value, secrets) if len(value) >= LEAST else value
        case list():
            return [redact_plain(item, secrets) for item in value]
        case dict():
            return {name: item if name in NAMES else redact_plain(item, secrets) for name, item in value.items()}
    return value


def _redact_any(text: str, secrets: frozenset[str]) -> str:
    """A text, or JSON as text, such as a call's arguments: what its strings hold as lines is looked at as lines."""
    text = redact(text, secrets)
    if text[0] not in "{[" or "\\" not in text:
        return text
    try:
        plain = json.loads(text)
        safe = redact_plain(plain, secrets)
        return text if safe == plain else json.dumps(safe, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


@lru_cache(32)
def _forms(secrets: frozenset[str]) -> tuple[str, ...]:
    """Each secret in every way that programs write it; the longest first, since one may hold another."""
    known = (secret for secret in secrets if len(secret) >= SHORTEST and secret.strip())
    return tuple(sorted({form for secret in known for form in _written(secret)}, key=len, reverse=True))


def _written(secret: str) -> Iterator[str]:
    """`secret` as it is, inside JSON once and twice, in a URL, in HTML, in a `repr`, in base64 wherever it begins."""
    yield secret
    yield from (once := json.dumps(secret)[1:-1], json.dumps(once)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1])
    quoted = (quote(secret, safe=""), quote(secret), quote_plus(secret))
    yield from (*quoted, *map(_lower, quoted))
    yield from (html.escape(secret), repr(secret)[1:-1])
    raw = secret.encode("utf-8", "surrogatepass")
    for before in range(3):
        whole = b64encode(bytes(before) + raw).decode()
        inside = whole[(before * 8 + 5) // 6 : (before + len(raw)) * 8 // 6]
        yield from (inside, inside.replace("+", "-").replace("/", "_"))


def _lower(text: str) -> str:
    return _ESCAPED.sub(lambda found: found[0].lower(), text)


def _marker(kind: str) -> str:
    return f"[redacted: {kind}]"


@dataclass(frozen=True, slots=True)
class _Replacement:
    """Puts the marker where the secret was and leaves what surrounds it."""

    marker: str

    def __call__(self, match: re.Match[str]) -> str:
        whole, start = match[0], match.start()
        return whole[: match.start("secret") - start] + self.marker + whole[match.end("secret") - start :]
