"""``mcp.json`` in the home: the servers of this person, in the form that other clients of the protocol keep, too. What
stands in it beside them is kept as it is; a file that cannot be understood is left alone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hermes_kernel.core.text import brief, scrub
from hermes_kernel.world.mcp.described import WrongServer, described
from hermes_kernel.world.store.disk import StoreError
from hermes_kernel.world.store.locks import Busy, held
from hermes_kernel.world.store.places import Places

FILE = "mcp.json"
SERVERS = "mcpServers"
LARGEST = 1_000_000  # bytes; a file of servers has some hundreds
PATIENCE = 5.0  # seconds for another process, which holds it for milliseconds


def written(home: Path) -> dict[str, Any]:
    """The tables of the servers in the file, by name; none where there is no file.

    Raises:
        WrongServer: it cannot be read or is not what it should be.
    """
    return dict(_tables(home, _whole(home)))


def stamp(home: Path) -> tuple[int, int]:
    """What changes when the file does; equal for none and none."""
    try:
        found = (home / FILE).stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def add(home: Path, name: str, table: Mapping[str, Any]) -> None:
    """Write a server into the file, in the place of one of that name.

    Raises:
        WrongServer: it is none, or the file cannot be read or written.
    """
    described(name, table)
    with _alone(home):
        whole = _whole(home)
        _keep(home, whole | {SERVERS: dict(_tables(home, whole)) | {name: dict(table)}})


def remove(home: Path, name: str) -> None:
    """Take a server out of the file.

    Raises:
        WrongServer: it is not in it, or the file cannot be read or written.
    """
    with _alone(home):
        whole = _whole(home)
        tables = dict(_tables(home, whole))
        if name not in tables:
            known = ", ".join(tables) or "none"
            raise WrongServer(f"There is no MCP server {brief(name, 40)!r} in {home / FILE}. There are: {known}.")
        del tables[name]
        _keep(home, whole | {SERVERS: tables})


def _whole(home: Path) -> dict[str, Any]:
    path = home / FILE
    try:
        text = _text(path)
        found = json.loads(text or "{}")
    except WrongServer:
        raise
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise WrongServer(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise WrongServer(f"{path} is not valid JSON: {brief(str(error), 120)}.") from None
    if not isinstance(found, dict):
        raise WrongServer(f"{path} must hold an object with {SERVERS} in it.")
    return found


def _text(path: Path) -> str:
    if path.exists() and (not path.is_file() or path.stat().st_size > LARGEST):
        raise WrongServer(f"{path} is no file of at most {LARGEST:,} bytes.")
    return path.read_text(encoding="utf-8-sig")


def _tables(home: Path, whole: Mapping[str, Any]) -> Mapping[str, Any]:
    tables = whole.get(SERVERS, {})
    if not isinstance(tables, dict):
        raise WrongServer(f"{SERVERS} in {home / FILE} must be an object: a name for each server.")
    return tables


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """One process at a time reads the file and writes it, so that of two that add a server at once neither is lost."""
    try:
        with held(Places(home).lock.with_name("mcp.lock"), PATIENCE):
            yield
    except Busy:
        raise WrongServer(f"{home / FILE} is being changed by another process: try again.") from None
    except StoreError as error:
        raise WrongServer(f"{home / FILE} was not written: {error}.") from None
    except OSError as error:
        raise WrongServer(f"{home / FILE} was not written: {error.strerror}.") from None


def _as_text(whole: Mapping[str, Any]) -> str:
    """As a person would write it; where it holds what no file of text can, half of a surrogate pair, all in ASCII."""
    text = json.dumps(whole, indent=2, ensure_ascii=False)
    return (text if scrub(text) == text else json.dumps(whole, indent=2)) + "\n"


def _keep(home: Path, whole: Mapping[str, Any]) -> None:
    path = home / FILE
    aside = home / f".{FILE}.{os.getpid()}"
    try:
        aside.unlink(missing_ok=True)
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(_as_text(whole))
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path.resolve())  # where the file is a link, what it names is written
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise WrongServer(f"{path} was not written: {error.strerror}.") from None
