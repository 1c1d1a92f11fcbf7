"""What a person says about one server, checked: how it is started or reached, and how far it is trusted. It starts
nothing.

Values of ``env`` and ``headers`` are never shown. ``${NAME}`` stands for a variable of the environment, so that a
secret need not be in a file.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from hermes_kernel.core.redact import SHORTEST, redact
from hermes_kernel.core.text import brief

NAME_CHARS = 64
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")  # ``${NAME}``, or ``${NAME:-otherwise}``
BY_COMMAND = ("command", "args", "env", "cwd")
BY_URL = ("url", "headers")
BOTH = ("type", "trust", "disabled")
KNOWN = (*BY_COMMAND, *BY_URL, *BOTH)
HOW = f"a command (with {', '.join(BY_COMMAND[1:])}) or a url (with headers); besides {', '.join(BOTH)}"


class WrongServer(ValueError):
    """A server cannot be what was said of it. One line that names it and says what is allowed."""


@dataclass(frozen=True, slots=True)
class Described:
    """One server: ``command`` is a program and its arguments, or ``url`` an address. Of a trusted one every tool may be
    called without a word of the person's."""

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    trust: bool = False
    disabled: bool = False

    @property
    def how(self) -> str:
        """How it is started or reached, for a person to read: without what is secret in it."""
        if self.url:
            parts = urlsplit(self.url)
            port = f":{parts.port}" if parts.port else ""
            return brief(redact(f"{parts.scheme}://{parts.hostname}{port}{parts.path}"), 200)
        return brief(redact(shlex.join(self.command), self.secrets), 200)

    @property
    def secrets(self) -> frozenset[str]:
        """What nobody may see of it, as far as it is written down."""
        values = (*self.env.values(), *self.headers.values())
        return frozenset(part for value in values for part in _parts(value))

    def filled(self, environ: Mapping[str, str]) -> tuple[Described, frozenset[str]]:
        """The same with every ``${NAME}`` replaced, and what is secret then.

        Raises:
            WrongServer: the environment has no such variable.
        """
        taken: set[str] = set()

        def fill(text: str) -> str:
            return VARIABLE.sub(lambda found: _value(found, self.name, environ, taken), text)

        made = Described(
            self.name,
            tuple(map(fill, self.command)),
            {name: fill(value) for name, value in self.env.items()},
            fill(self.cwd),
            fill(self.url),
            {name: fill(value) for name, value in self.headers.items()},
            self.trust,
            self.disabled,
        )
        return made, made.secrets | {part for value in taken for part in _parts(value)}


def described(name: str, table: Any, *, strict: bool = True) -> Described:
    """The server that `table` describes. A file that other clients share (not ``strict``) may say more than is known.

    Raises:
        WrongServer: something in it is missing, unknown or of the wrong kind.
    """
    if not isinstance(table, Mapping):
        raise WrongServer(f"The MCP server {_named(name)} must be a table: {HOW}.")
    unknown = [key for key in table if key not in KNOWN]
    if strict and unknown:
        raise WrongServer(f"The MCP server {_named(name)} has no {brief(str(unknown[0]), 40)}; it takes {HOW}.")
    if ("command" in table) == ("url" in table):
        raise WrongServer(f"The MCP server {_named(name)} takes either {HOW}.")
    if table.get("type") == "sse":
        raise WrongServer(
            f"The MCP server {_named(name)} is of type sse, which is of the past: give its streamable url."
        )
    return Described(
        _checked_name(name),
        _command(name, table),
        _texts(name, table, "env"),
        _text(name, table, "cwd"),
        _url(name, table),
        _texts(name, table, "headers"),
        _switch(name, table, "trust"),
        _switch(name, table, "disabled"),
    )


def _checked_name(name: str) -> str:
    if not name or not name.isprintable() or name != name.strip() or len(name) > NAME_CHARS:
        raise WrongServer(f"{_named(name)} is no name for an MCP server: one line of at most {NAME_CHARS} characters.")
    return name


def _command(name: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    if "command" not in table:
        return ()
    program, args = _text(name, table, "command"), table.get("args", [])
    if not program:
        _wrong(name, "command", "the name or path of a program")
    if not isinstance(args, list) or not all(isinstance(each, str) and "\0" not in each for each in args):
        _wrong(name, "args", "a list of texts")
    return (program, *args)


def _url(name: str, table: Mapping[str, Any]) -> str:
    if "url" not in table:
        return ""
    url = _text(name, table, "url")
    try:
        parts = urlsplit(VARIABLE.sub("x", url))
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or not url.isprintable() or " " in url:
        _wrong(name, "url", "an http(s):// address")
    return url


def _text(name: str, table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str) or "\0" in value:
        _wrong(name, key, "text")
    return str(value)


def _texts(name: str, table: Mapping[str, Any], key: str) -> dict[str, str]:
    found = table.get(key) or {}
    if not isinstance(found, Mapping) or not all(
        isinstance(part, str) and part and not any(each in part for each in "\0\r\n")
        for part in (*found, *(value or "-" for value in found.values()))
    ):
        _wrong(name, key, "a table of names and texts, each of one line")
    return dict(found)


def _switch(name: str, table: Mapping[str, Any], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        _wrong(name, key, "true or false")
    return bool(value)


def _wrong(name: str, key: str, allowed: str) -> NoReturn:
    raise WrongServer(f"The MCP server {_named(name)}: {key} must be {allowed}.")


def _named(name: str) -> str:
    return repr(brief(str(name), 40))


def _value(found: re.Match[str], server: str, environ: Mapping[str, str], taken: set[str]) -> str:
    variable, otherwise = found.groups()
    value = environ.get(variable) or otherwise
    if value is None:
        raise WrongServer(f"The MCP server {_named(server)} needs the variable {variable}, which is not set.")
    if environ.get(variable):
        taken.add(value)
    return value


def _parts(value: str) -> tuple[str, ...]:
    """What is secret of a value: all of it and its last word, for ``Bearer …`` is written with and without. The path of
    something that is there is no secret: it would be taken out of every listing."""
    if VARIABLE.search(value) or _is_place(value):
        return ()
    return tuple(part for part in {value, value.rpartition(" ")[2]} if len(part) >= SHORTEST)


def _is_place(value: str) -> bool:
    try:
        return os.sep in value and Path(value).expanduser().exists()
    except (OSError, RuntimeError, ValueError):
        return False
