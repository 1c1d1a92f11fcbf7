"""Secrets taken out of text before anyone keeps or shows it: those that are known, and those that look like one.

Each rule demands the shape its issuer gives a key, or a name that says so beside a value that could be one. Ordinary
words, code, hashes and pictures in base64 stay as they are. Time is linear in the text; twice is as good as once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

SHORTEST = 12  # of a known secret; shorter ones, such as ``lm-studio``, are words
LEAST = 9  # characters of the shortest text in which a rule finds anything: ``://a:bcd@``
NAMES = frozenset({"fact", "session_id", "parent", "id", "call_id", "lease", "data"})
"""Fields that name things, which other facts name likewise, and the base64 of images."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a secret of one kind looks like. A text without any of ``anchors`` (in lower case), or without ``mark``, has
    none; what ``pattern`` calls ``secret`` is replaced."""

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    mark: str = ""


def redact(text: str, secrets: frozenset[str] = frozenset()) -> str:
    """`text` with every secret replaced by a marker such as ``[redacted: API key]``. ``secrets`` are values known to be
    secret, whatever they look like; those under 12 characters are left alone."""
    for form in _forms(secrets):
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


def _forms(secrets: Iterable[str]) -> list[str]:
    """Each secret as it is, inside JSON, and inside a URL; the longest first, since one may hold another."""
    known = (secret for secret in secrets if len(secret) >= SHORTEST and secret.strip())
    forms = {form for secret in known for form in (secret, json.dumps(secret)[1:-1], quote(secret, safe=""))}
    return sorted(forms, key=len, reverse=True)


def _marker(kind: str) -> str:
    return f"[redacted: {kind}]"


@dataclass(frozen=True, slots=True)
class _Replacement:
    """Puts the marker where the secret was and leaves what surrounds it."""

    marker: str

    def __call__(self, match: re.Match[str]) -> str:
        whole, start = match[0], match.start()
        return whole[: match.start("secret") - start] + self.marker + whole[match.end("secret") - start :]


# Where a key may begin: not inside a word. A prefix that base64 cannot hold may follow the slash of an address; one
# that it can hold must not stand inside base64 at all.
# Inside JSON the escape of a line's end or a tab is no letter.
_AFTER_ESCAPE = r"(?<=\\[nrtbf])"
_AFTER_SLASH = rf"(?:(?<![A-Za-z0-9+_.-])|{_AFTER_ESCAPE})"
_ALONE = rf"(?:(?<![A-Za-z0-9+/_.-])|{_AFTER_ESCAPE})"
_ENDS = r"(?![A-Za-z0-9+/_-])"


def _key(kind: str, pattern: str, *anchors: str) -> Rule:
    """A key known by a prefix with a dash, a dot or an underscore in it."""
    return Rule(kind, anchors, re.compile(rf"{_AFTER_SLASH}(?P<secret>{pattern})"))


def _word(kind: str, pattern: str, *anchors: str) -> Rule:
    """A key whose prefix is letters and digits only."""
    return Rule(kind, anchors, re.compile(rf"{_ALONE}(?P<secret>{pattern}){_ENDS}"))


def _around(kind: str, pattern: str, *anchors: str, mark: str = "") -> Rule:
    """A secret known by what stands before it."""
    return Rule(kind, anchors, re.compile(pattern), mark)


def _sign(anchor: str) -> str:
    return next(sign for sign in SIGNS if sign in anchor)


# Names that promise a secret, and values that may be one: with a digit and a letter, no placeholder (``$NAME``,
# ``<name>``, ``{name}``, ``***``) and no marker of ours.
_NAME = (
    r"(?:(?:api|access|secret|auth|account|subscription)[_-]?key|secret[_-]?access[_-]?key|client[_-]?secret"
    r"|(?:access|auth|refresh|bearer|session)[_-]?token|password|passwd|passphrase)"
)
_PROMISES = ("key", "token", "secret", "passw", "passphrase")
_MIXED = r"(?=[^0-9\s\"']{0,200}[0-9])(?=[^A-Za-z\s\"']{0,200}[A-Za-z])"
_VALUE = r"[A-Za-z0-9_.~+/=%-]"
_QUOTED = rf"(?P<quote>\\?[\"'])(?P<secret>{_MIXED}[^\s\"'<>{{}}$*()\[\]\\]{{8,}})(?P=quote)"

_PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?=(?:[A-Za-z0-9+/=\s:,.()\\]|-(?!-)){0,400}?[A-Za-z0-9+/]{32})"
    r"(?P<secret>(?:[A-Za-z0-9+/=\s:,.()\\]++|-(?!-))*+)"
)
_IN_ADDRESS = (
    r"(?<=://)[^\s/:@\"'<>\[\]]{0,80}:(?P<secret>(?!(?:password|passwd|pass|pwd|secret)@)[^\s/:@\"'<>{}$*\[\]]{3,200})@"
)

RULES: tuple[Rule, ...] = (
    _around("private key", _PRIVATE_KEY, "private key"),
    _around("password", _IN_ADDRESS, "://"),
    _key("API key", r"sk-(?:proj|svcacct|admin|ant|or)-[A-Za-z0-9_-]{20,}", "sk-"),
    _key("API key", r"sk-(?=[A-Za-z]{0,80}[0-9])[A-Za-z0-9]{20,}(?![A-Za-z0-9_-])", "sk-"),
    _key("API key", r"(?:gsk_|r8_)[A-Za-z0-9]{32,}", "gsk_", "r8_"),
    _key("API key", r"(?:pplx|xai|nvapi|csk)-[A-Za-z0-9_-]{32,}", "pplx-", "xai-", "nvapi-", "csk-"),
    _key("API key", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}", "k_live_", "k_test_"),
    _word("Google key", r"AIza[A-Za-z0-9_-]{35}", "aiza"),
    _key("Google token", r"ya29\.[A-Za-z0-9_-]{20,}", "ya29."),
    _key("Google secret", r"GOCSPX-[A-Za-z0-9_-]{20,}", "gocspx-"),
    _key("GitHub token", r"gh[pousr]_[A-Za-z0-9]{36,}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _key("GitHub token", r"github_pat_[A-Za-z0-9_]{22,}", "github_pat_"),
    _key("GitLab token", r"glpat-[A-Za-z0-9_-]{20,}", "glpat-"),
    _key("Hugging Face token", r"hf_[A-Za-z0-9]{30,}", "hf_"),
    _key("Slack token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}", "xox"),
    _key("Slack token", r"xapp-[0-9]-[A-Za-z0-9-]{20,}", "xapp-"),
    _around("Slack address", r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[\w/-]{20,})", "hooks.slack.com"),
    _word("AWS key", r"(?:AKIA|ASIA)[A-Z0-9]{16}", "akia", "asia"),
    _key("npm token", r"npm_[A-Za-z0-9]{36,}", "npm_"),
    _key("PyPI token", r"pypi-AgE[A-Za-z0-9_-]{50,}", "pypi-age"),
    _key("SendGrid key", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", "sg."),
    _key("JWT", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", "eyj"),
    _around("token", rf"\b(?i:bearer)[ \t]+(?P<secret>{_MIXED}{_VALUE}{{16,}})", "bearer"),
    _around("password", r"(?i:authorization[\"']?\s?[:=]\s?[\"']?basic)[ \t]+(?P<secret>[A-Za-z0-9+/=]{8,})", "basic"),
    # "api_key": "…", api_key="…", ?api_key=…, --api-key …, export X_API_KEY=…, x-api-key: …, GITHUB_TOKEN=…
    _around("secret", rf"(?i:{_NAME}\\?[\"']?\s?[:=]\s?){_QUOTED}", *_PROMISES),
    _around("secret", rf"(?i:[?&;]{_NAME}=)(?P<secret>{_MIXED}{_VALUE}{{8,}})", *_PROMISES, mark="="),
    _around("secret", rf"(?i:--{_NAME}[= ])(?P<secret>{_MIXED}{_VALUE}{{8,}})(?!\S)", *_PROMISES, mark="--"),
    _around(
        "secret",
        rf"(?mi:^[ \t]*(?:export |set )?[\w-]{{0,60}}{_NAME}=)(?P<secret>{_MIXED}{_VALUE}{{8,}})(?!\S)",
        *_PROMISES,
        mark="=",
    ),
    _around(
        "secret",
        rf"(?mi:^[ \t]*[\w-]{{0,60}}{_NAME}:[ \t]+)(?P<secret>{_MIXED}{_VALUE}{{12,}})(?!\S)",
        *_PROMISES,
        mark=":",
    ),
    _around(
        "secret",
        rf"\b[A-Z0-9_]{{0,60}}(?:TOKEN|SECRET)=(?P<secret>{_MIXED}{_VALUE}{{16,}})(?!\S)",
        *_PROMISES,
        mark="=",
    ),
)

SIGNS = ("_", "-", ".", ":", "")
ANCHORED: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = tuple(
    (sign, tuple((anchor, n) for n, rule in enumerate(RULES) for anchor in rule.anchors if sign == _sign(anchor)))
    for sign in SIGNS
)
"""The anchors by the first of the signs that stands in them, each with the place of its rule."""
