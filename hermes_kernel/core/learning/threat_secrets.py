"""What gives secrets away or runs what a server sends, in English and in shells: what is sent where, read, piped."""

# ruff: noqa: E501 - a pattern is read as one line

from __future__ import annotations

from hermes_kernel.core.learning.threat_rules import Rule, rule
from hermes_kernel.core.learning.threat_words import READ, REMOTE, SEND

_SECRETS = (
    r"(?:api[ -]?keys?|(?:access |auth |secret )?tokens|secrets|passwords?|credentials|private keys?|ssh keys?|keys"
    r"|environment(?: variables)?|env(?:ironment)? vars?|\.env\b|kernel\.toml|id_rsa|auth\.json"
    r"|(?:chat|shell|conversation|command|message|session|bash|the|your|full|whole|entire)[ -]history|conversations?"
    r"|memory\.md|user\.md|memories|sessions\.duckdb)"
)
_AWAY = (
    r"(?:https?:|www\.|ftp:|webhook|pastebin|gist\b|discord|telegram|[\w.+-]{1,40}@\w|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d"
    r"|(?:this|the following|my|our|an?) (?:external |remote |third[- ]party )?(?:url|server|address|endpoint|webhook|site)"
    r"|attacker|evil)"
)
_FILES = (
    r"(?:~?/?[\w./-]{0,40}\.ssh/(?!config|known_hosts|authorized)[\w*]|id_(?:rsa|ed25519|ecdsa)(?!\.pub)\b|kernel\.toml"
    r"|\.netrc|\.aws/credentials|\.pgpass|/etc/shadow|\.git-credentials|\.kube/config|\.hermes/auth|\.docker/config\.json)"
)
_SHELL = (
    r"(?:sudo (?:-\w{1,8} )?)?(?:/usr)?(?:/bin/)?(?:env )?(?:(?:ba|z|da|k|fi)?sh|python[\d.]*|perl|ruby|node|iex)\b"
)

SECRETS: tuple[Rule, ...] = (
    rule(
        "secret",
        SEND,
        "send sends upload uploads post forward email mail exfiltrate transmit leak copy share paste append submit report encode include put pipe deliver publish attach",
        rf"¦\b{_SECRETS}¦\b{_AWAY}",
    ),
    rule(
        "secret",
        SEND,
        "send upload post forward email exfiltrate transmit leak submit deliver",
        rf"¦{_AWAY}¦\b(?:with|containing|including|together with|along with) ¦{_SECRETS}",
    ),
    rule("secret", SEND, "exfiltrate", rf"¦\b(?:{_SECRETS}|data|files|everything)"),
    rule(
        "secret",
        SEND,
        "env printenv history base64 cat tar zip",
        r"(?: [^\n|]{0,80})?\| ?(?:base64[^|\n]{0,20}\| ?)?(?:curl|wget|nc|ncat|netcat|telnet)\b",
        commands=False,
    ),
    rule(
        "secret",
        SEND,
        "curl wget nc ncat",
        r"[^\n]{0,200}(?:\$\(|`) ?(?:env|printenv|cat|history|base64|set|tar)\b"
        r"|[^\n]{0,200}(?: -d| --data[\w-]{0,12}| -f| --form| -t| --upload-file| --post-(?:data|file)|[?&]\w{1,20}=)[^\n]{0,100}"
        r"(?:\.env\b|\.ssh|id_rsa|kernel\.toml|\.netrc|\.aws|/\.hermes|\$\{?\w{0,30}(?:key|token|secret|passw)\w{0,20})"
        r"|[^\n]{0,200}@[~\w./-]{0,40}(?:\.env\b|\.ssh|id_rsa|kernel\.toml|\.netrc|\.aws)",
        commands=False,
    ),
    rule(
        "secret",
        SEND,
        "requests httpx session client urllib",
        r"\.(?:post|put|get|request|urlopen)\([^\n]{0,200}(?:data|json|params|files|content) ?= ?[^\n]{0,80}"
        r"(?:os\.environ(?! ?[\[.](?!copy|items))|open\([^\n)]{0,60}(?:\.ssh|id_rsa|\.env\b|kernel\.toml|\.netrc|\.aws)|get_history|_ih\b)",
        commands=False,
    ),
    rule(
        "secret",
        READ,
        "cat less head tail base64 type xxd strings scp cp tar zip open read print show dump include paste source bat grep",
        rf"(?:\W{{1,3}}\w{{1,12}}){{0,4}}?[\s(\"'`]{{1,4}}(?:\$home/|~/)?{_FILES}",
    ),
    rule(
        "secret",
        READ,
        "cat less head base64 xxd strings scp",
        r"(?: -\w{1,8}){0,2} ['\"]?[~\w./$-]{0,60}(?<![\w])\.env\b(?!\.(?:example|sample|template))",
        commands=False,
    ),
    rule(
        "secret",
        READ,
        "read print show dump open",
        r"(?: me)?(?: the| your| their| contents?| of| file| user's){0,5} ['\"`]?[~\w./]{0,30}(?<!\w)\.env\b(?: file)? (?:and|then) (?:send|show|print|include|post|upload|paste|report|tell|output|copy)\b",
    ),
    rule(
        "secret", READ, "open path", r"\( ?['\"][~\w./]{0,60}(?:\.env|\.ssh/\w{1,30}|kernel\.toml)['\"]", commands=False
    ),
)

SCRIPTS: tuple[Rule, ...] = (
    rule("script", REMOTE, "curl wget iwr irm fetch", rf"\b[^\n|]{{0,200}}\| ?{_SHELL}", commands=False),
    rule(
        "script",
        REMOTE,
        "bash sh zsh source eval python python3 node perl",
        r"[^\n]{0,40}?(?:\$\(|`|<\() ?(?:curl|wget)\b",
        commands=False,
    ),
    rule(
        "script",
        REMOTE,
        "exec eval",
        r" ?\( ?(?:requests\.get|urllib|httpx\.get|urlopen|base64|zlib|codecs\.decode|bytes\.fromhex|compile\( ?base64)",
        commands=False,
    ),
    rule("script", REMOTE, "base64", r"[^\n|]{0,80}\| ?" + _SHELL, commands=False),
    rule(
        "script",
        REMOTE,
        "iex invoke",
        r"(?:-expression)? ?\(? ?(?:new-object net\.webclient|iwr|irm|invoke-webrequest)",
        commands=False,
    ),
)
