"""What one setting may be: a kind, a range, a sentence about it. Reads text and TOML values alike; knows no names."""

from __future__ import annotations

import ipaddress
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

WORDS = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}
NAMED = re.compile(r"[\w-]+(?:\.[\w-]+)+|localhost")  # what names a server
WORDED = re.compile(r"[A-Za-z]?[a-z]*(?:[-_.+%][A-Za-z]?[a-z]*)*")  # no token: those have digits, or capitals within


class Secret(str):
    """Text that may be sent but not shown: its repr gives nothing away."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'•••'" if self else "''"


class Server(Secret):
    """The address of a server that stores, often with a password in it: a person is shown it without."""

    __slots__ = ()

    @property
    def shown(self) -> str:
        """The address without its password and options."""
        scheme, _, rest = self.partition("://")
        place = rest.partition("?")[0]
        who, at, where = place.rpartition("@")
        name = who.partition(":")[0] + at
        return f"{scheme}://{name}{where}" if self else ""

    @property
    def passwords(self) -> frozenset[str]:
        """The password in it, as it is written and as it is meant; none when there is none."""
        place, _, options = self.partition("?")
        written = {
            place.partition("://")[2].rpartition("@")[0].partition(":")[2],
            *parse_qs(options).get("password", ()),
        }
        return frozenset(written | {unquote(each) for each in written}) - {""}


class Address(Secret):
    """Where messages go, in apprise's notation: tokens may stand in any part of it, so that a person is shown only its
    kind and the last two labels of a server's name."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """What stands before ``://``, in lower case."""
        scheme, found, _ = self.partition("://")
        return scheme.strip().lower() if found else ""

    @property
    def shown(self) -> str:
        """The address as a person may see it."""
        rest = self.partition("://")[2]
        host = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2].partition(":")[0].lower()
        if host == "localhost" or re.fullmatch(r"\d{1,3}(\.\d{1,3}){3}", host):
            return f"{self.kind}://{host}/…"
        named = re.fullmatch(r"(?:[a-z0-9-]{1,63}\.)*([a-z0-9-]{1,40}\.[a-z]{2,24})", host)
        return f"{self.kind}://…{named[1]}/…" if named else f"{self.kind}://…"

    @property
    def secrets(self) -> frozenset[str]:
        """Every part of it that may be one, as it is written and as it is meant. Names of servers are none, nor are
        words in a path or an option, such as a channel's name."""
        rest = self.partition("://")[2]
        host, *path = re.split(r"[/?#&=,]", rest)
        parts = {*re.split(r"[:@]", host), *(part for part in path if not WORDED.fullmatch(part))}
        kept = {part for part in parts if part and not NAMED.fullmatch(part)}
        return frozenset({str(self), rest, *kept, *map(unquote, kept)} - {""})


class Tables(dict[str, Any]):
    """Tables by name, with keys and passwords in them: a person is shown the names."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        return ",".join(self)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))


@dataclass(frozen=True, slots=True)
class Range:
    """The values a setting may take. ``allowed`` says them in words; ``read`` makes one from what a person wrote."""

    about: str
    allowed: str
    read: Callable[[Any], Any]


def _field(default: object, allowed: Range) -> Any:
    return field(default=default, metadata={"range": allowed})


def whole(default: int, low: int, high: int, about: str) -> Any:
    """A dataclass field that holds an int from `low` to `high`."""

    def read(raw: object) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int | str):
            raise TypeError
        return int(_within(int(raw), low, high))

    return _field(default, Range(about, f"a whole number from {low:,} to {high:,}", read))


def number(default: float, low: float, high: float, about: str) -> Any:
    """A dataclass field that holds a float from `low` to `high`."""

    def read(raw: object) -> float:
        if isinstance(raw, bool) or not isinstance(raw, int | float | str):
            raise TypeError
        return _within(float(raw), low, high)

    return _field(default, Range(about, f"a number from {low:,g} to {high:,.14g}", read))


def switch(about: str, *, default: bool) -> Any:
    """A dataclass field that is on or off."""

    def read(raw: object) -> bool:
        return raw if isinstance(raw, bool) else WORDS[_line(raw).lower()]

    return _field(default, Range(about, "on or off", read))


def choice(default: str, choices: tuple[str, ...], about: str) -> Any:
    """A dataclass field that is one of `choices`. TOML's and Python's true and false stand for on and off."""

    def read(raw: object) -> str:
        text = ("on" if raw else "off") if isinstance(raw, bool) else _line(raw).lower()
        return choices[choices.index(text)]

    return _field(default, Range(about, f"{', '.join(choices[:-1])} or {choices[-1]}", read))


def line(about: str, default: str = "") -> Any:
    """A dataclass field that holds one line of text."""
    return _field(default, Range(about, "one line of text", _line))


def file(about: str) -> Any:
    """A dataclass field that holds the name of a file; a path is one."""
    return _field("", Range(about, "the name of a file", lambda raw: _line(os.fspath(raw))))


def address(about: str) -> Any:
    """A dataclass field that holds an http(s) address without a name or password in it, or ``local:``."""

    def read(raw: object) -> str:
        text = _line(raw).rstrip("/")
        if text in ("", "local:"):
            return text
        parts = urlsplit(text)
        if " " in text:
            raise ValueError
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.port == 0:
            raise ValueError
        return text

    return _field("", Range(about, "local: or an http(s):// address without a password in it", read))


def server(about: str) -> Any:
    """A dataclass field that holds the `Server` of a shared store."""

    def read(raw: object) -> Server:
        text = _line(raw)
        scheme, _, rest = text.partition("://")
        if text and (scheme not in ("postgresql", "postgres") or not rest or " " in text):
            raise ValueError
        return Server(text)

    return _field(Server(), Range(about, "a postgresql:// address", read))


def secret(about: str) -> Any:
    """A dataclass field that holds a `Secret`."""
    return _field(Secret(), Range(about, "one line of text", lambda raw: Secret(_line(raw))))


def names(about: str) -> Any:
    """A dataclass field that holds names: a list, or text with commas between them."""

    def read(raw: object) -> tuple[str, ...]:
        parts = raw if isinstance(raw, list | tuple) else _line(raw).split(",")
        return tuple(name for name in map(_line, parts) if name)

    return _field((), Range(about, "names with commas between them", read))


def tables(about: str) -> Any:
    """A dataclass field that holds `Tables`: a mapping of names to mappings, or the same as JSON text. What stands in
    each is its reader's business, so that one that is wrong costs only itself."""

    def read(raw: object) -> Tables:
        found = json.loads(raw or "{}") if isinstance(raw, str) else raw
        if not isinstance(found, Mapping) or not all(name and isinstance(name, str) for name in found):
            raise TypeError
        return Tables(found)

    return _field(Tables(), Range(about, "tables by name, each with a command or a url", read))


def addresses(about: str) -> Any:
    """A dataclass field that holds `Tables` of lines: a mapping of names to secret addresses, or the same as JSON text.
    What an address says is its reader's business, so that one that is wrong costs only itself."""

    def read(raw: object) -> Tables:
        found = json.loads(raw or "{}") if isinstance(raw, str) else raw
        if not isinstance(found, Mapping) or not all(name and isinstance(name, str) for name in found):
            raise TypeError
        return Tables({name: Address(_line(line)) for name, line in found.items()})

    return _field(Tables(), Range(about, "names, each with an address on one line", read))


def folder(default: str, about: str) -> Any:
    """A dataclass field that holds a path; ``~`` is the person's home folder."""

    def read(raw: object) -> Path:
        if not isinstance(raw, str | Path) or not str(raw) or "\0" in str(raw):
            raise TypeError
        try:
            return Path(raw).expanduser().absolute()
        except RuntimeError as error:  # no HOME is set and the user is not on record, or it is a `~name` of nobody
            raise ValueError from error

    allowed = "the path of a folder; where nobody knows `~`, set HERMES_HOME to a whole one"
    return _field(Path(default), Range(about, allowed, read))


def near(base_url: str) -> bool:
    """Whether an endpoint is on this machine or in a private network, where a model may take minutes to load."""
    host = urlsplit(base_url).hostname or ""
    if base_url.startswith("local:") or host == "localhost" or host.endswith((".localhost", ".local")):
        return True
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return False


def _within(value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise ValueError
    return value


def _line(raw: object) -> str:
    if not isinstance(raw, str):
        raise TypeError
    if any(not character.isprintable() for character in raw.strip()):
        raise ValueError
    return raw.strip()


def said(value: object) -> str:
    """A value as a person reads it; of a secret only that there is one."""
    match value:
        case bool():
            return "on" if value else "off"
        case tuple():
            return ",".join(map(str, value))
        case float():
            return f"{value:,.14g}"
        case int():
            return f"{value:,}"
        case Server():
            return value.shown
        case Secret():
            return "set" if value else ""
        case _:
            return str(value)
