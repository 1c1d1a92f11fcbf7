"""A shell command as the simple commands it would run, with the usual disguises taken off: quotes, backslashes,
``$IFS``, variables, substitutions, wrappers such as ``env``, nested ``bash -c``. It only approximates a shell."""

from __future__ import annotations

import re
from itertools import islice

UNREAD = "(too long or too deep to read)"
DEPTH = 6
LENGTH = 20_000
RUNNERS = ["sudo", "doas", "env", "nohup", "time", "command", "exec", "builtin", "nice", "ionice", "stdbuf", "timeout"]
OTHERS = ["xargs", "setsid", "unbuffer", "busybox", "chroot", "watch", "strace", "ltrace", "flock"]
WORDS = ["then", "do", "else", "if", "while", "until", "!", "coproc"]
TAKES = {  # short options of wrappers whose value is the next word
    "sudo": "ughpCDRT", "doas": "uC", "env": "uC", "time": "fo", "exec": "a", "nice": "n", "ionice": "cnpPu",
    "stdbuf": "ioe", "timeout": "sk", "xargs": "IdEanPLs", "watch": "n", "strace": "oepuas", "ltrace": "oepuas",
    "flock": "wE",
}  # fmt: skip
OPERANDS = frozenset(["flock", "chroot"])  # wrappers that name a file before the command
WRAPPERS = frozenset([*RUNNERS, *OTHERS, *WORDS])
SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh", "fish"])
ASSIGNMENT = re.compile(r"^([A-Za-z_]\w*)=(.*)$", re.DOTALL)
ANSI_C = re.compile(r"\$'((?:[^'\\]|\\.)*)'")
IFS = re.compile(r"\$\{IFS[^}]*\}|\$IFS(?:\$\d)?")
VARIABLE = re.compile(r"\$\{(\w+)[^}]*\}|\$(\w+)")
SUBSTITUTION = re.compile(r"\$\(([^()]*)\)|`([^`]*)`|[<>]\(([^()]*)\)")
ECHO = re.compile(r"^\s*(?:echo|printf)\s+(?:-\w+\s+)?(.*)$", re.DOTALL)
BRACES = re.compile(r"(?<![\w$])\{([^{}\s]+,[^{}\s]*)\}")
ESCAPES = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|[nt])")
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
    names: dict[str, str] = {}
    pipeline: list[str] = []
    for part, joiner in _parts(SUBSTITUTION.sub(_echoed, text)):
        simple, nested = _simple(_words(part), names)
        pipeline += [simple] if simple else []
        found += [line for script in nested for line in pipelines(script, depth + 1)]
        if joiner not in ("|", "|&") and pipeline:
            found.append(" | ".join(pipeline))
            pipeline = []
    return found


def _undisguised(command: str) -> str:
    command = command.replace("\\\n", "")
    command = ANSI_C.sub(lambda found: "'" + ESCAPES.sub(_escape, found[1]) + "'", command)
    command = IFS.sub(" ", command)
    return BRACES.sub(lambda found: found[1].replace(",", " "), command)


def _escape(found: re.Match[str]) -> str:
    code = found[1]
    if code in ("n", "t"):
        return " "
    return chr(int(code[1:], 16) if code[0] == "x" else int(code, 8))


def _substituted(text: str) -> list[str]:
    return [inner for found in islice(SUBSTITUTION.finditer(text), 100) for inner in found.groups() if inner]


def _echoed(found: re.Match[str]) -> str:
    """What a substitution leaves in the command line: the words of an ``echo``, else nothing that can be known."""
    words = ECHO.match(found[1] or found[2] or "")
    return words[1].strip("'\" ") if words else "$UNKNOWN"


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
        re.sub(r"(?<![\\&\d>])(\d?&?>{1,2}\|?|<)(?![&(])", r" \1 ", text)
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
    words = [part for word in words for part in (word.split() if " " in word and word is words[0] else [word])]
    while words and (found := ASSIGNMENT.match(words[0])):
        names[found[1]] = found[2]
        words = words[1:]
    words = [word for word in words if word not in ("(", ")", "{", "}")]
    prefix = "sudo " if words and words[0].lstrip("(").rsplit("/", 1)[-1] in ("sudo", "doas") else ""
    words = _unwrapped(words)
    if not words:
        return "", []
    program = words[0].lstrip("({").rsplit("/", 1)[-1]
    return prefix + " ".join([program, *words[1:]]), _nested(program, words[1:])


def _filled(word: str, names: dict[str, str]) -> str:
    return VARIABLE.sub(lambda found: names.get(found[1] or found[2], found[0]), word)


def _unwrapped(words: list[str]) -> list[str]:
    while words and (wrapper := words[0].lstrip("({").rsplit("/", 1)[-1]) in WRAPPERS:
        words = words[1:]
        while words and (
            words[0].startswith("-") or ASSIGNMENT.match(words[0]) or re.fullmatch(r"\d+[smhd]?", words[0])
        ):
            words = words[2 if re.fullmatch(f"-[{TAKES.get(wrapper, '-')}]", words[0]) else 1 :]
        words = words[1:] if wrapper in OPERANDS else words
    return words


def _nested(program: str, arguments: list[str]) -> list[str]:
    if program == "eval":
        return [" ".join(arguments)]
    if program in SHELLS and arguments:
        at = next((i for i, word in enumerate(arguments) if re.fullmatch(r"-[a-z]*c", word)), None)
        return arguments[at + 1 : at + 2] if at is not None else []
    if program in ("find", "fd") and any(word.startswith("-exec") or word == "-ok" for word in arguments):
        at = next(i for i, word in enumerate(arguments) if word.startswith("-exec") or word == "-ok")
        return [" ".join(arguments[at + 1 :])]
    if program == "ssh":
        host = next((at for at, word in enumerate(arguments) if _is_host(word, arguments[at - 1] if at else "")), None)
        return [" ".join(arguments[host + 1 :])] if host is not None else []
    if program in ("su", "parallel"):
        return [" ".join(arguments[arguments.index("-c") + 1 :] if "-c" in arguments else arguments)]
    return []


def _is_host(word: str, before: str) -> bool:
    return not word.startswith("-") and not re.fullmatch(r"-[bcDEeFIiJLlmOopQRSWw]", before)
