"""A shell command as the simple commands it would run, with the usual disguises taken off: quotes, backslashes,
``$IFS``, variables, substitutions, wrappers such as ``env``, nested ``bash -c``. It only approximates a shell."""

from __future__ import annotations

import posixpath
import re
import sys
from fnmatch import fnmatchcase
from itertools import islice

from hermes_kernel.world.tools.scripts import fed, handed

UNREAD = "(too long or too deep to read)"
DEPTH = 6
LENGTH = 20_000
RUNNERS = ["sudo", "doas", "env", "nohup", "time", "command", "exec", "builtin", "nice", "ionice", "stdbuf", "timeout"]
OTHERS = [
    "xargs", "setsid", "unbuffer", "busybox", "toybox", "chroot", "watch", "strace", "ltrace", "flock", "unshare",
    "taskset", "chrt", "prlimit", "setarch", "fakeroot", "systemd-run",
]  # fmt: skip
WORDS = ["then", "do", "else", "if", "while", "until", "!", "coproc", "function"]
TAKES = {  # short options of wrappers whose value is the next word
    "sudo": "ughpCDRT", "doas": "uC", "env": "uC", "time": "fo", "exec": "a", "nice": "n", "ionice": "cnpPu",
    "stdbuf": "ioe", "timeout": "sk", "xargs": "IdEanPLs", "watch": "n", "strace": "oepuas", "ltrace": "oepuas",
    "flock": "wE",
}  # fmt: skip
OPERANDS = frozenset(["flock", "chroot", "setarch", "function"])  # wrappers that name something before the command
WRAPPERS = frozenset([*RUNNERS, *OTHERS, *WORDS])
HIDDEN = ("rm", "dd", "shred", "mkfs")  # looked for behind a pattern such as ``/bin/r?``
KNOWN = {"SHELL": "sh", "BASH": "bash", "0": "sh"}
REDIRECTED = re.compile(r"^\d?&?(?:>{1,2}\|?|<{1,3}|<>)(.*)$", re.DOTALL)
ASSIGNMENT = re.compile(r"^([A-Za-z_]\w*)=(.*)$", re.DOTALL)
ANSI_C = re.compile(r"\$'((?:[^'\\]|\\.)*)'")
IFS = re.compile(r"\$\{IFS[^}]*\}|\$IFS(?:\$\d)?")
VARIABLE = re.compile(r"\$\{(\w+)(?::?[-=+]([^}]*)|[^}]*)\}|\$(\w+)")
EMPTY = re.compile(r"\$\{\w+[^}]*\}|\$[\w@*#]+")
SUBSTITUTION = re.compile(r"\$\(([^()]*)\)|`([^`]*)`|[<>]\(([^()]*)\)")
ECHO = re.compile(r"^\s*(?:echo|printf)\s+(?:-\w+\s+)?(.*)$", re.DOTALL)
BRACES = re.compile(r"(?<![\w$])\{([^{}\s]+,[^{}\s]*)\}")
ESCAPES = re.compile(r"\\([xuU][0-9a-fA-F]{1,8}|[0-7]{1,3}|[nt])")
OPERATORS = re.compile(r"(\|\||&&|;;|\|&|[;|\n()])")


def pipelines(command: str, depth: int = 0) -> list[str]:
    """Every pipeline in `command`, nested ones included: simple commands joined by `` | ``, each a program's base name
    and its words joined by one space. Wrappers are left out, but for a leading ``sudo``."""
    if depth > DEPTH or len(command) > LENGTH:
        return [UNREAD]
    text = _undisguised(command)
    found: list[str] = []
    for inner in _substituted(text):
        found += pipelines(inner, depth + 1)
    names = dict(KNOWN)
    pipeline: list[str] = []
    for part, joiner in _parts(SUBSTITUTION.sub(_echoed, text)):
        simple, nested = _simple(_words(part), names)
        pipeline += [simple] if simple else []
        found += [line for script in nested for line in pipelines(script, depth + 1)]
        if joiner not in ("|", "|&") and pipeline:
            found.append(" | ".join(pipeline))
            found += [line for script in fed(pipeline) for line in pipelines(script, depth + 1)]
            pipeline = []
    return found


def _undisguised(command: str) -> str:
    command = command.replace("\\\n", "").replace('$"', '"')
    command = ANSI_C.sub(lambda found: "'" + ESCAPES.sub(_escape, found[1]) + "'", command)
    command = IFS.sub(" ", command)
    return BRACES.sub(lambda found: found[1].replace(",", " "), command)


def _escape(found: re.Match[str]) -> str:
    code = found[1]
    if code in ("n", "t"):
        return " "
    value = int(code[1:], 16) if code[0] in "xuU" else int(code, 8)
    return chr(value) if value <= sys.maxunicode else ""


def _substituted(text: str) -> list[str]:
    return [inner for found in islice(SUBSTITUTION.finditer(text), 100) for inner in found.groups() if inner]


def _echoed(found: re.Match[str]) -> str:
    """What a substitution leaves in the command line: the words of an ``echo``, else nothing that can be known."""
    words = ECHO.match(found[1] or found[2] or "")
    return ESCAPES.sub(_escape, words[1]).strip("'\" ") if words else "$UNKNOWN"


def _parts(text: str) -> list[tuple[str, str]]:
    """The text cut at shell operators outside quotes, each piece with the operator that follows it."""
    pieces: list[tuple[str, str]] = []
    start = at = 0
    quote = ""
    while at < len(text):
        character = text[at]
        if quote:
            at += 2 if character == "\\" and quote == '"' else 1
            quote = "" if character == quote else quote
            continue
        operator = OPERATORS.match(text, at) or _ampersand(text, at)
        if operator:
            joiner = operator[0]
            pieces.append((text[start:at], joiner))
            at = start = at + len(joiner)
            continue
        quote = character if character in "'\"" else ""
        at += 2 if character == "\\" else 1
    return [*pieces, (text[start:], "")]


def _ampersand(text: str, at: int) -> re.Match[str] | None:
    """A ``&`` that ends a command, not one of a redirection such as ``2>&1`` or ``&>``."""
    alone = text[at] == "&" and text[max(at - 1, 0)] not in "<>&" and text[at + 1 : at + 2] != ">"
    return re.compile("&").match(text, at) if alone else None


def _words(text: str) -> list[str]:
    """Words as a shell would see them, quotes and backslashes removed. Redirections stand alone."""
    words: list[str] = []
    word, open_quote, at, begun = "", "", 0, False
    text = (
        re.sub(r"(?<![\\&\d>])(\d?&?>{1,2}\|?|<{1,3})(?![&(])", r" \1 ", text)
        if "'" not in text and '"' not in text
        else text
    )
    while at < len(text):
        character = text[at]
        if character == "\\" and open_quote != "'" and at + 1 < len(text):
            word, begun, at = word + text[at + 1], True, at + 2
            continue
        if character in "'\"" and open_quote in ("", character):
            open_quote, begun = ("" if open_quote else character), True
        elif character.isspace() and not open_quote:
            words += [word] if begun else []
            word, begun = "", False
        else:
            word, begun = word + character, True
        at += 1
    return [*words, word] if begun else words


def _simple(words: list[str], names: dict[str, str]) -> tuple[str, list[str]]:
    """The simple command of `words` and the scripts it hands to another shell. Assignments go into `names`."""
    words = [_filled(word, names) for word in words]
    if words and " " in words[0] and not ASSIGNMENT.match(words[0]):
        words = [*words[0].split(), *words[1:]]
    words, before = _begun(words, names)
    words = [word for word in words if word not in ("(", ")", "{", "}")]
    prefix = "sudo " if words and words[0].lstrip("(").rsplit("/", 1)[-1] in ("sudo", "doas") else ""
    words = _unwrapped(words)
    if not words:
        return "", list(handed("", (), before))
    program = _meant(words[0])
    arguments = [_plain(word) for word in words[1:]]
    return prefix + " ".join([program, *arguments]), list(handed(program, words[1:], before))


def _begun(words: list[str], names: dict[str, str]) -> tuple[list[str], dict[str, str]]:
    """What is left of `words` without redirections and assignments before the command, and those assignments."""
    before: dict[str, str] = {}
    while words:
        if assigned := ASSIGNMENT.match(words[0]):
            before[assigned[1]] = assigned[2]
            words = words[1:]
        elif redirected := REDIRECTED.match(words[0]):
            words = words[1 if redirected[1] else 2 :]
        else:
            break
    names |= before
    return words, before


def _filled(word: str, names: dict[str, str]) -> str:
    return VARIABLE.sub(lambda found: names.get(found[1] or found[3], found[2] or found[0]), word)


def _meant(word: str) -> str:
    """The base name of a program. A variable that nobody knows is empty; of a pattern, a program that it may be."""
    bare = EMPTY.sub("", word)
    program = (bare if bare and bare != word and "UNKNOWN" not in word else word).lstrip("({").rsplit("/", 1)[-1]
    patterned = any(character in program for character in "?*[")
    return next((name for name in HIDDEN if patterned and fnmatchcase(name, program)), program)


def _plain(word: str) -> str:
    """A path without the detours in it."""
    return posixpath.normpath(word) if word.startswith("/") and re.search(r"/\.{1,2}/|//", word) else word


def _unwrapped(words: list[str]) -> list[str]:
    while words and (wrapper := words[0].lstrip("({").rsplit("/", 1)[-1]) in WRAPPERS:
        words = words[1:]
        while words and (
            words[0].startswith("-") or ASSIGNMENT.match(words[0]) or re.fullmatch(r"\d+[smhd]?", words[0])
        ):
            words = words[2 if re.fullmatch(f"-[{TAKES.get(wrapper, '-')}]", words[0]) else 1 :]
        words = words[1:] if wrapper in OPERANDS else words
        words = [*words[0].split(), *words[1:]] if words else words
    return words
