"""Which servers there are to be: those of the settings and those of ``mcp.json``, read again when either changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hermes_kernel.world.mcp import file
from hermes_kernel.world.mcp.described import Described, WrongServer, described


class Roster:
    """The settings' ``tables`` win over the file in ``home``."""

    def __init__(self, home: Path, tables: Mapping[str, Any]) -> None:
        self.home = home
        self.tables = tables
        self._written: dict[str, Any] = {}
        self._stamp: tuple[Any, ...] = ()

    def changed(self) -> list[tuple[Described, str]] | None:
        """Each server, with what is wrong about it, or nothing; None while all is as it was."""
        stamp = (file.stamp(self.home), repr(dict(self.tables)))
        if stamp == self._stamp:
            return None
        self._stamp = stamp
        return list(self._read())

    def add(self, name: str, table: Mapping[str, Any]) -> None:
        """Write a server into the file.

        Raises:
            WrongServer: it is none, the settings have one of that name, or the file cannot be read or written.
        """
        if name in self.tables:
            raise WrongServer(f"{name} is one of the settings' mcp_servers: change it there, or take another name.")
        file.add(self.home, name, table)

    def remove(self, name: str) -> None:
        """Take a server out of the file.

        Raises:
            WrongServer: it is not there, or the file cannot be read or written.
        """
        file.remove(self.home, name)

    def _read(self) -> Iterator[tuple[Described, str]]:
        """While the file cannot be understood, it says what it said before: what is wrong with it ends no server."""
        try:
            self._written = file.written(self.home)
        except WrongServer as error:
            yield Described(file.FILE), str(error)
        for name, table in {**self._written, **self.tables}.items():
            try:
                yield described(name, table, strict=name in self.tables), ""
            except WrongServer as error:
                yield Described(name), str(error)
