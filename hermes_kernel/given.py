"""Settings as a person wrote them down: in the environment, in ``kernel.toml``, in a command. Knows where,
not what is allowed."""

from __future__ import annotations

import difflib
import json
import stat
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

# What OpenAI's own client reads. Ours and kernel.toml come first.
OPENAI_NAMES = {"base_url": "OPENAI_BASE_URL", "api_key": "OPENAI_API_KEY"}
TARGET = "HERMES_NOTIFY_"  # begins the name of a variable with a target's address; the rest is a person's choice

# All that a spec takes from the person's own kernel.toml: who is asked, and how it is played where the file is what
# makes it a spec. The rest differs from one person to the next, and with it what cells show.
ASKED = frozenset({"api_key", "aux_model", "base_url", "context_window", "fallback_models", "model"})
PLAYED = frozenset({"record", "replay", "replay_gaps", "replay_tools", "spec"})

SAVED = "schedule/targets.json"  # in the home: the addresses that were given in a command
MOST = 1_000_000  # bytes of it


class Given(NamedTuple):
    """A raw value and the place that a person would go to change it."""

    raw: Any
    where: str


class Unreadable(ValueError):
    """A file of settings that is there but cannot be understood."""


def in_environment(environ: Mapping[str, str], known: Iterable[str]) -> dict[str, Given]:
    """``HERMES_<NAME>`` of each known name. An empty variable is an unset one; names not known belong to others."""
    written = {name: f"HERMES_{name.upper()}" for name in known}
    return _set(environ, written)


def from_openai(environ: Mapping[str, str]) -> dict[str, Given]:
    """What is set for OpenAI's own client."""
    return _set(environ, OPENAI_NAMES)


def near_misses(environ: Mapping[str, str], known: Iterable[str]) -> dict[str, str]:
    """Variables that look like one of ours misspelt, each with the one that was probably meant."""
    ours = [f"HERMES_{name.upper()}" for name in known]
    strange = (name for name in environ if name.startswith("HERMES") and name not in ours
               and not name.startswith(TARGET))  # fmt: skip
    meant = {name: difflib.get_close_matches(name, ours, 1, 0.85) for name in sorted(strange)}
    return {name: close[0] for name, close in meant.items() if close}


def in_file(path: Path) -> dict[str, Given]:
    """The top level of a TOML file; nothing where there is no file.

    Raises:
        Unreadable: it is not TOML, not UTF-8, or may not be read.
    """
    try:
        if path.is_fifo():  # whoever opens one waits for a writer
            raise Unreadable(f"{path} cannot be read: it is a pipe.")
        text = path.read_text(encoding="utf-8")
        return {name: Given(raw, str(path)) for name, raw in tomllib.loads(text).items()}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        then = " Let it be read, or set HERMES_HOME to another folder." if isinstance(error, PermissionError) else ""
        raise Unreadable(f"{path} cannot be read: {error.strerror}.{then}") from None
    except RecursionError:
        raise Unreadable(f"{path} is not valid TOML: it is nested too deeply.") from None
    except ValueError as error:  # of TOML, of UTF-8, of a number with thousands of digits
        raise Unreadable(f"{path} is not valid TOML: {str(error)[:200]}.") from None


def saved_addresses(home: Path) -> tuple[str, ...]:
    """The addresses of targets that were given in a command and are kept in `home`; none where none can be read."""
    path = home / SAVED
    try:
        now = path.stat()
    except OSError:
        return ()
    if not stat.S_ISREG(now.st_mode) or now.st_size > MOST:
        return ()
    return _addresses(path, (now.st_mtime_ns, now.st_size, now.st_ino))


@lru_cache(maxsize=8)
def _addresses(path: Path, _: tuple[int, ...]) -> tuple[str, ...]:
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ()
    return tuple(url for url in plain.values() if isinstance(url, str)) if isinstance(plain, dict) else ()


def _set(environ: Mapping[str, str], written: Mapping[str, str]) -> dict[str, Given]:
    return {name: Given(environ[key], key) for name, key in written.items() if environ.get(key, "").strip()}
