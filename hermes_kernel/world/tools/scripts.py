"""What a simple command hands to another shell, or has run by a program of another kind: the scripts in its arguments,
its variables, and what it is fed. It only approximates: each program has its own ways."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise

SHELLS = frozenset(["sh", "bash", "zsh", "dash", "ksh", "fish"])
READS = re.compile(r"^(?:sudo )?(?:\w*sh(?: -\S+)*|(?:source|\.) (?:/dev/stdin|-))$")
SAID = re.compile(r"^(?:echo|printf)(?: -\w+)* (.*)$", re.DOTALL)
RUN_BY_OTHERS = re.compile(r"^(?:\w*(?:PAGER|EDITOR|VISUAL|COMMAND|ASKPASS)|BROWSER)$")
RUN = frozenset(["run", "exec", "dlx", "x"])  # `uv run …`, `npm exec …`, `pnpm dlx …`

Arguments = Sequence[str]


def handed(program: str, arguments: Arguments, variables: Mapping[str, str]) -> Iterator[str]:
    """The scripts in a simple command with these assignments before it."""
    yield from (value.lstrip("!") for name, value in variables.items() if RUN_BY_OTHERS.match(name))
    for programs, found in WAYS:
        if program in programs:
            yield from found(arguments)


def fed(pipeline: Sequence[str]) -> Iterator[str]:
    """What is said in a pipeline to a shell that reads its commands there."""
    for said, reader in pairwise(pipeline):
        if READS.match(reader) and (words := SAID.match(said)):
            yield words[1]


def _all(arguments: Arguments) -> Iterator[str]:
    yield " ".join(arguments)


def _shell(arguments: Arguments) -> Iterator[str]:
    at = next((n for n, word in enumerate(arguments) if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word)), len(arguments))
    yield from islice((word for word in arguments[at + 1 :] if not word.startswith(("-", "+"))), 1)
    yield from _here(arguments)


def _here(arguments: Arguments) -> Iterator[str]:
    """The text of a here-string, ``<<< text``."""
    for n, word in enumerate(arguments):
        if word.startswith("<<<"):
            yield word[3:] or " ".join(arguments[n + 1 :])


def _executed(arguments: Arguments) -> Iterator[str]:
    for n, word in enumerate(arguments):
        if word.startswith(("-exec", "-ok")) or word in ("-x", "-X"):
            yield shlex.join(arguments[n + 1 :])


def _remote(arguments: Arguments) -> Iterator[str]:
    host = next((n for n, word in enumerate(arguments) if _is_host(word, arguments[n - 1] if n else "")), None)
    yield " ".join(arguments[host + 1 :]) if host is not None else ""


def _is_host(word: str, before: str) -> bool:
    return not word.startswith("-") and not re.fullmatch(r"-[bcDEeFIiJLlmOopQRSWw]", before)


def _after_c(arguments: Arguments) -> Iterator[str]:
    yield " ".join(arguments[arguments.index("-c") + 1 :] if "-c" in arguments else arguments)


def _named(arguments: Arguments) -> Iterator[str]:
    """``name='a script'``"""
    yield from (script for word in arguments for _, found, script in (word.partition("="),) if found)


def _first(arguments: Arguments) -> Iterator[str]:
    yield next((word for word in arguments if not word.startswith("-")), "")


def _git(arguments: Arguments) -> Iterator[str]:
    """Settings of git can name programs, and an alias is a script."""
    given = [value for n, value in enumerate(arguments) if n and arguments[n - 1] == "-c"]
    yield from (script.lstrip("!") for script in _named(given))
    yield from (word[1:] for word in arguments if word.startswith("!"))


def _rest(arguments: Arguments) -> Iterator[str]:
    if "--" in arguments:
        yield shlex.join(arguments[arguments.index("--") + 1 :])


def _run(arguments: Arguments) -> Iterator[str]:
    at = next((n for n, word in enumerate(arguments) if word in RUN), None)
    if at is not None:
        words = list(arguments[at + 1 :])
        while words and words[0].startswith("-"):
            words = words[1:]
        yield shlex.join(words)


def _spaced(arguments: Arguments) -> Iterator[str]:
    yield from (word for word in arguments if " " in word)
    yield shlex.join([word for word in arguments if not word.startswith("-")])


WAYS: tuple[tuple[frozenset[str], Callable[[Arguments], Iterator[str]]], ...] = (
    (frozenset(["eval", "npx", "bunx"]), _all),
    (SHELLS, _shell),
    (frozenset(["source", "."]), _here),
    (frozenset(["find", "fd", "fdfind"]), _executed),
    (frozenset(["ssh"]), _remote),
    (frozenset(["su", "parallel", "script"]), _after_c),
    (frozenset(["alias"]), _named),
    (frozenset(["trap"]), _first),
    (frozenset(["git"]), _git),
    (frozenset(["set"]), _rest),
    (
        frozenset(["uv", "poetry", "pdm", "hatch", "conda", "mamba", "pixi", "bundle", "npm", "pnpm", "yarn", "bun"]),
        _run,
    ),
    (frozenset(["tmux", "screen"]), _spaced),
)
