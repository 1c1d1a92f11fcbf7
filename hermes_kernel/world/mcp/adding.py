"""The words after ``mcp add``, for the magic and the command alike: ``[--env K=V] [--header K:V] [--cwd D] [--trust]
NAME COMMAND…|URL``. What follows the command is the command's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hermes_kernel.core.text import brief
from hermes_kernel.world.mcp.described import WrongServer

NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")
USAGE = "mcp add takes [--env NAME=VALUE] [--header NAME:VALUE] [--cwd FOLDER] [--trust] NAME COMMAND…|URL"
TAKES = {"--env": "=", "--header": ":", "--cwd": ""}


def adding(words: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The name and the table of the server that `words` describe. Options stand before the name or after it.

    Raises:
        WrongServer: something is missing or in the wrong place. The line says what is taken.
    """
    table: dict[str, Any] = {}
    rest = _options(list(words), table)
    if not rest:
        raise WrongServer(f"{USAGE}.")
    name, rest = rest[0], _options(rest[1:], table)
    if not NAME.fullmatch(name):
        raise WrongServer(f"{brief(name, 40)!r} is no name for a server: at most 40 letters, digits, _, - and dots.")
    if not rest:
        raise WrongServer(f"{USAGE}: there is no command and no URL.")
    if not rest[0].lower().startswith(("http://", "https://")):
        return name, {"command": rest[0], "args": rest[1:], **table}
    if len(rest) > 1:
        raise WrongServer(f"{USAGE}: nothing follows the URL, not {brief(rest[1], 40)!r}.")
    return name, {"url": rest[0], **table}


def _options(words: list[str], table: dict[str, Any]) -> list[str]:
    while words and words[0].startswith("--"):
        option, equals, value = words.pop(0).partition("=")
        if option == "--trust" and not equals:
            table["trust"] = True
            continue
        if option not in TAKES or (not equals and not words):
            raise WrongServer(f"{USAGE}, not {brief(option, 40)}.")
        _take(option, value if equals else words.pop(0), table)
    return words


def _take(option: str, value: str, table: dict[str, Any]) -> None:
    between = TAKES[option]
    if not between:
        table["cwd"] = value
        return
    name, found, text = value.partition(between)
    if not found or not name.strip():
        raise WrongServer(f"{option} takes NAME{between}VALUE.")
    key = "env" if option == "--env" else "headers"
    table.setdefault(key, {})[name.strip()] = text if option == "--env" else text.strip()
