"""The options of a ``%%hermes`` cell: a table, and the reading of a line by it. Knows no agent and no shell."""

from __future__ import annotations

import difflib
import io
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError


class Option(NamedTuple):
    """One option. ``value`` names what follows it (empty: nothing does), ``allowed`` says what that may be."""

    value: str
    allowed: str
    about: str
    read: Callable[[str], Any] = str


@dataclass(frozen=True, slots=True)
class Options:
    """What a cell asks for beside its prompt. None and empty mean that nothing was said."""

    model: str | None = None
    budget: int | None = None
    session: str | None = None
    tools: tuple[str, ...] | None = None
    skills: tuple[str, ...] = ()
    name: str = ""
    cells: bool = True
    plain: bool = False
    quiet: bool = False
    timeout: float | None = None
    map: str = ""
    workers: int | None = None
    again: tuple[str, ...] = ()
    record: str = ""
    replay: str = ""
    replay_gaps: bool = False
    replay_tools: bool = False
    words: str = ""


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= 7 * 86_400:
        raise ValueError(text)
    return seconds


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise ValueError(text)
    return () if names == ("none",) else names


def _variable(text: str) -> str:
    if not text.isidentifier():
        raise ValueError(text)
    return text


FILES = "a file, or `on` for NAME.cassette.jsonl beside the notebook"
OPTIONS: dict[str, Option] = {
    "--model": Option("M", "a model's name", "ask this model, for this cell only"),
    "--budget": Option("N", "a whole number from 1", "model calls this turn may make", _positive),
    "--session": Option(
        "ID", "a session's id, the beginning of it, its title, `new` or `last`", "the conversation to go on with"
    ),
    "--tools": Option("A,B", "names of tools with commas between, or `none`", "offer only these", _names),
    "--skill": Option("NAME", "a skill's name", "read this skill first; may be said again"),
    "--as": Option("VAR", "a variable's name", "keep the turn in this variable, too", _variable),
    "--timeout": Option("S", "seconds from 0, at most a week", "stop the turn after so many seconds", _seconds),
    "--map": Option(
        "VAR",
        "the name of a variable that holds a table or a list",
        "ask once for each row; $column in the prompt is its value",
        _variable,
    ),
    "--workers": Option("N", "a whole number from 1", "with --map: rows that are asked at once", _positive),
    "--again": Option(
        "A,B", "ways in which rows end, such as `failed`, with commas between", "with --map: ask such rows anew", _names
    ),
    "--schedule": Option(
        "WHEN",
        'a time in quotes, such as "every monday 9am"',
        "do not ask now: make a job of the prompt; comes first, then the options of `%hermes schedule`",
    ),
    "--record": Option("FILE", FILES, "record what models say, for `--replay` and `%hermes replay`"),
    "--replay": Option("FILE", FILES, "answer from a recording, without a network"),
    "--replay-gaps": Option("", "", "with the pauses that it had"),
    "--replay-tools": Option("", "", "answer calls of tools from the recording, too: none is run"),
    "--no-cells": Option("", "", "do not show the model the cells run since the last turn"),
    "--plain": Option("", "", "text only, no widgets"),
    "--quiet": Option("", "", "show nothing; the turn is in `_`"),
}


def parse(line: str) -> Options:
    """The options at the beginning of `line`. Other words begin the prompt, and end the options.

    Raises:
        HermesError: an option is unknown, lacks its value or has a wrong one; the text names it and what is allowed.
    """
    found: dict[str, Any] = {}
    skills: tuple[str, ...] = ()
    rest = line.strip()
    while rest.startswith("--"):
        name, value, rest = _next(rest)
        match name:
            case "--skill":
                skills = (*skills, value)
            case "--as":
                found["name"] = value
            case "--no-cells":
                found["cells"] = False
            case _:
                found[name[2:].replace("-", "_")] = value
    if "schedule" in found:
        raise HermesError(
            "--schedule comes first, then the options of %hermes schedule; %hermes help schedule lists them."
        )
    for name in ("workers", "again"):
        if name in found and "map" not in found:
            raise HermesError(f"--{name} goes with --map VAR, the table whose rows are asked about.")
    return Options(skills=skills, words=rest, **found)


def usage() -> tuple[tuple[str, str], ...]:
    """Every option as it is written, and what it does."""
    return tuple((f"{name} {option.value}".strip(), option.about) for name, option in OPTIONS.items())


def _next(line: str) -> tuple[str, Any, str]:
    """The first option of `line`, its value, and what follows them."""
    word, rest = _word(line)
    name, equals, value = word.partition("=")
    option = _option(name)
    if not option.value:
        if equals:
            raise HermesError(f"{name} takes no value.")
        return name, True, rest
    if not equals:
        value, rest = _word(rest)
    if not value or (not equals and value.startswith("--")):
        raise HermesError(f"{name} needs {option.allowed}: {name} {option.value}.")
    try:
        return name, option.read(value), rest
    except ValueError:
        raise HermesError(f"{name} cannot be {brief(value, 80)!r}: it must be {option.allowed}.") from None


def _option(name: str) -> Option:
    if name not in OPTIONS:
        close = difflib.get_close_matches(name[:80], OPTIONS, 1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise HermesError(f"There is no option {brief(name, 80)}.{hint} There are: {', '.join(OPTIONS)}.")
    return OPTIONS[name]


def split(line: str) -> list[str]:
    """The words of a line, as a shell reads quotes.

    Raises:
        HermesError: a quote is not closed.
    """
    try:
        return shlex.split(line)
    except ValueError:
        raise HermesError(f"A quote is not closed in: {brief(line, 80)}") from None


def _word(line: str) -> tuple[str, str]:
    """The first word of `line`, quotes taken off, and the rest."""
    source = io.StringIO(line)
    lexer = shlex.shlex(source, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", ""
    try:
        word = lexer.get_token() or ""
    except ValueError:
        raise HermesError(f"A quote is not closed in: {brief(line, 80)}") from None
    return word, source.read().strip()
