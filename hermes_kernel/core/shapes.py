"""What a secret looks like: by what its issuer begins it with, or by a name or a place that says so of a value that
could be one. A table, each rule with the words without which a text needs not be looked at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from hermes_kernel.core.keys import KEYS


@dataclass(frozen=True, slots=True)
class Rule:
    """What a secret of one kind looks like. A text without any of ``anchors`` (in lower case), or without ``mark``, has
    none; what ``pattern`` calls ``secret`` is replaced."""

    kind: str
    anchors: tuple[str, ...]
    source: str
    mark: str = ""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when it is first needed: most texts need none of them."""
        return _compiled(self.source)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


# Where a key may begin: not inside a word. A prefix that base64 cannot hold may follow the slash of an address; one
# that it can hold must not stand inside base64 at all.
# Inside JSON the escape of a line's end or a tab is no letter.
_AFTER_ESCAPE = r"(?<=\\[nrtbf])"
_AFTER_SLASH = rf"(?:(?<![A-Za-z0-9+_.-])|{_AFTER_ESCAPE})"
_ALONE = rf"(?:(?<![A-Za-z0-9+/_.-])|{_AFTER_ESCAPE})"
_ENDS = r"(?![A-Za-z0-9+/_-])"


def _key(kind: str, pattern: str, *anchors: str) -> Rule:
    """A key known by a prefix with a dash, a dot or an underscore in it."""
    return Rule(kind, anchors, rf"{_AFTER_SLASH}(?P<secret>{pattern})(?![A-Za-z0-9])")


def _word(kind: str, pattern: str, *anchors: str) -> Rule:
    """A key whose prefix is letters and digits only."""
    return Rule(kind, anchors, rf"{_ALONE}(?P<secret>{pattern}){_ENDS}")


def _around(kind: str, pattern: str, *anchors: str, mark: str = "") -> Rule:
    """A secret known by what stands before it."""
    return Rule(kind, anchors, pattern, mark)


def _sign(anchor: str) -> str:
    return next(sign for sign in SIGNS if sign in anchor)


# Names that promise a secret, and values that may be one: with a digit and a letter, no placeholder (``$NAME``,
# ``<name>``, ``{name}``, ``***``) and no marker of ours.
_NAME = (
    r"(?:(?:api|access|secret|auth|account|subscription|shared[_-]?access|signing|encryption|master)[_-]?key"
    r"|secret[_-]?access[_-]?key|client[_-]?secret"
    r"|(?:access|auth|refresh|bearer|session)[_-]?token|password|passwd|passphrase)"
)
_PROMISES = ("key", "token", "secret", "passw", "passphrase")
_MIXED = r"(?=[^0-9\s\"']{0,200}[0-9])(?=[^A-Za-z\s\"']{0,200}[A-Za-z])"
_VALUE = r"[A-Za-z0-9_.~+/=%-]"
_QUOTED = rf"(?P<quote>\\{{0,7}}[\"'])(?P<secret>{_MIXED}[^\s\"'<>{{}}$*()\[\]\\]{{8,}})(?P=quote)"
_LONG = rf"(?P<quote>\\{{0,7}}[\"'])(?P<secret>{_MIXED}[A-Za-z0-9_.~+/=%-]{{16,}})(?P=quote)"
_LIKELY = r"(?=\S{0,200}[0-9])(?=\S{0,200}[a-z])(?=\S{0,200}[A-Z])[A-Za-z0-9_~+/=-]{16,}"  # no name of a variable

_PRIVATE_KEY = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?=(?:[A-Za-z0-9+/=\s:,.()\\]|-(?!-)){0,400}?[A-Za-z0-9+/]{32})"
    r"(?P<secret>(?:[A-Za-z0-9+/=\s:,.()\\]++|-(?!-))*+)"
)
_JWT = (
    rf"{_AFTER_SLASH}(?P<secret>eyJ[A-Za-z0-9_-]{{8,}}"
    r"(?:(?:\.[A-Za-z0-9_-]+){4}|\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?))"
)
_IN_ADDRESS = (
    r"(?<=://)[^\s/:@\"'<>\[\]]{0,80}:(?P<secret>(?!(?:password|passwd|pass|pwd|secret)@)[^\s/:@\"'<>{}$*\[\]]{3,200})@"
)

RULES: tuple[Rule, ...] = (
    _around("private key", _PRIVATE_KEY, "private key"),
    _around("password", _IN_ADDRESS, "://"),
    *(_key(kind, pattern, *anchors) for kind, pattern, anchors in KEYS),
    _around("JWT", _JWT, "eyj", mark="."),
    _word("Google key", r"AIza[A-Za-z0-9_-]{35}", "aiza"),
    _word("AWS key", r"(?:AKIA|ASIA)[A-Z0-9]{16}", "akia", "asia"),
    _word("AWS key", r"ABSK[A-Za-z0-9+/]{80,}={0,2}", "absk"),
    _word("Atlassian token", r"ATBB[A-Za-z0-9]{24,}", "atbb"),
    _around("Telegram token", r"(?:(?<![A-Za-z0-9_-])|(?<=/bot))(?P<secret>[0-9]{8,10}:AA[\w-]{33})(?![\w-])", ":aa"),
    _around("Slack address", r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[\w/-]{20,})", "hooks.slack.com"),
    _around(
        "Discord address", r"discord(?:app)?\.com/api/webhooks/(?P<secret>[0-9]{10,}/[\w-]{40,})", "/api/webhooks/"
    ),
    _around("Teams address", r"webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{40,})", "webhook.office.com"),
    _around("token", rf"\b(?i:bearer)[ \t]+(?P<secret>{_MIXED}{_VALUE}{{16,}})", "bearer"),
    _around("password", r"(?i:authorization[\"']?\s?[:=]\s?[\"']?basic)[ \t]+(?P<secret>[A-Za-z0-9+/=]{8,})", "basic"),
    # "api_key": "…", api_key="…", ?api_key=…, --api-key …, export X_API_KEY=…, x-api-key: …, GITHUB_TOKEN=…
    _around("secret", rf"(?i:{_NAME}\\{{0,7}}[\"']?\s?[:=]\s?){_QUOTED}", *_PROMISES),
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
    _around("secret", rf"\b[A-Z0-9_]{{0,60}}_(?:PASS|PWD)=(?P<secret>{_MIXED}{_VALUE}{{8,}})(?!\S)", "_pass=", "_pwd="),
    _around(
        "secret", rf"(?mi:^[ \t]*[\w-]{{0,60}}{_NAME}[ \t]=[ \t])(?P<secret>{_LIKELY})(?!\S)", *_PROMISES, mark="="
    ),
    # "token": "…", 'MY_SECRET': '…'
    _around(
        "secret", rf"(?i:[\"'](?:\w{{0,40}}_)?(?:token|secret)\\{{0,7}}[\"']:\s?){_LONG}", "token", "secret", mark=":"
    ),
    _around(
        "secret",
        rf"(?i:--(?:[a-z]{{1,20}}-){{0,2}}token[= ])(?P<secret>{_MIXED}{_VALUE}{{16,}})(?!\S)",
        "token",
        mark="--",
    ),
    # curl -H "X-Api-Key: …", {"PRIVATE-TOKEN": "…"}
    _around(
        "secret",
        rf"(?i:(?<![\w-])(?:x-[a-z-]{{1,30}}|private-|job-|api-)(?:key|token)[\"']?:\s?[\"']?)(?P<secret>{_MIXED}{_VALUE}{{12,}})",
        "-key",
        "-token",
        mark=":",
    ),
    _around(
        "token",
        rf"(?i:authorization[\"']?\s?[:=]\s?[\"']?(?:token[ \t]+)?)(?P<secret>{_MIXED}{_VALUE}{{20,}})",
        "authorization",
    ),
    _around(
        "password",
        r"\bcurl\b(?:(?!\[redacted)[^\n|;]){0,200}?\s(?:-u|--user)[ =]?"
        r"[\"']?[^\s:\"'\[]{1,80}:(?P<secret>[^\s\"'$\[\]]{3,200})",
        "curl",
        mark=":",
    ),
    _around(
        "password",
        r"(?mi:^[ \t]*(?:machine\s+\S{1,200}|default)\s+(?:login\s+\S{1,200}\s+)?password\s+)"
        r"(?P<secret>[^\s\[]{3,200})",
        "machine",
        "default",
        mark="password",
    ),
    _around(
        "password",
        rf"(?i:\b(?:password|identified by)\s+')(?P<secret>{_MIXED}[^'\s\[\]]{{6,200}})'",
        "password '",
        "identified by",
    ),
    _around(
        "password",
        rf"(?i:<[\w:-]{{0,40}}(?:password|passwd|secret|token|api-?key)>)(?P<secret>{_MIXED}[^<>\s\[\]]{{9,200}})(?=</)",
        "</",
        mark=">",
    ),
    _around(
        "secret",
        rf"(?i:(?<![a-z0-9])_(?:authtoken|auth|password)=)(?P<secret>{_MIXED}{_VALUE}{{8,}})",
        "_auth",
        "_password",
    ),
    _around(
        "password",
        rf"\\{{0,7}}\"auth\\{{0,7}}\":\s?\\{{0,7}}\"(?P<secret>{_MIXED}[A-Za-z0-9+/]{{8,}}={{0,2}})\\{{0,7}}\"",
        "auth",
        mark=":",
    ),
    _around("cookie", rf"(?i:\bcookie:\s?[\w.-]{{1,60}}=)(?P<secret>{_MIXED}{_VALUE}{{16,}})", "cookie:"),
    _around(
        "cookie",
        rf"(?i:(?<![\w-])(?:sessionid|phpsessid|jsessionid|connect\.sid|_xsrf|csrftoken|remember_token)=)(?P<secret>{_MIXED}{_VALUE}{{16,}})",
        "sessionid=",
        "sessid=",
        "connect.sid=",
        "_xsrf=",
        "csrftoken=",
        "remember_token=",
    ),
    _around(
        "signature",
        r"(?i:[?&](?:sig|x-(?:amz|goog)-signature|x-amz-security-token)=)(?P<secret>[A-Za-z0-9%+/=_-]{32,})",
        "sig=",
        "-signature=",
        "-security-token=",
    ),
    _around("token", rf"(?<=://)(?P<secret>{_MIXED}[A-Za-z0-9_-]{{20,}})@", "://", mark="@"),
)

SIGNS = ("_", "-", ".", ":", "")
ANCHORED: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = tuple(
    (sign, tuple((anchor, n) for n, rule in enumerate(RULES) for anchor in rule.anchors if sign == _sign(anchor)))
    for sign in SIGNS
)
"""The anchors by the first of the signs that stands in them, each with the place of its rule."""
