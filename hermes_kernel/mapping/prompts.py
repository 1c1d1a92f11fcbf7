"""The prompts of a map, all made before the first is asked: what is wrong with a template or a row costs nothing.

They lie in a file of this process's own, so that a hundred thousand of them take no memory.
"""

from __future__ import annotations

import hashlib
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, Any

from hermes_kernel.core.text import brief, scrub
from hermes_kernel.errors import HermesError
from hermes_kernel.mapping.rows import Record, rows_of
from hermes_kernel.mapping.template import Template

IN_MEMORY = 4 * 2**20  # bytes
LONGEST = 20_000_000  # characters of one prompt, as of a cell's
SIZE = struct.Struct("<I")


class Prompts:
    """The prompt of each row. ``keys`` name the rows, ``index`` is the frame's own or None; ``digest`` tells these rows
    from others, as far as the template looks at them."""

    def __init__(
        self, template: Template, rows: Any, redact: Callable[[str], str], stopped: Callable[[], object] = bool
    ) -> None:
        """``stopped`` is asked before each row: rows may have no end.

        Raises:
            HermesError: the rows or the template cannot be used, the text says which row or name; or it was stopped.
            Exception: whatever the rows raise as they are read.
        """
        self.template = template
        self.keys: list[Any] = []
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - `close` is ours
        try:
            self._read(rows, redact, stopped)
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[str]:
        """Each prompt, in order. One reader at a time."""
        self._file.seek(0)
        while head := self._file.read(SIZE.size):
            (size,) = SIZE.unpack(head)
            yield self._file.read(size).decode()

    def close(self) -> None:
        """Forget them."""
        with suppress(OSError):  # a full disk may not take what was still to be written: nobody wants it
            self._file.close()

    def _read(self, rows: Any, redact: Callable[[str], str], stopped: Callable[[], object]) -> None:
        given = rows_of(rows)
        self.index = given.index
        columns = dict.fromkeys(given.columns)
        seen = hashlib.sha256()
        for key, record in given.records:
            if stopped():
                raise HermesError("Stopped while the rows were read: none was asked.")
            columns.update(dict.fromkeys(record))
            self.keys.append(key)
            prompt = self._prompt(record, seen.update)
            self._write(redact(scrub(prompt)).encode())
        if columns or self.keys:
            self.template.check(columns)
        self.digest = seen.hexdigest()[:16]

    def _prompt(self, record: Record, see: Callable[[bytes], None]) -> str:
        """What is asked of a row."""
        row = len(self.keys) - 1
        try:
            cells = self.template.cells(record)
        except Exception as error:  # noqa: BLE001 - the cell's own code fails, not ours
            words = brief(f"{type(error).__name__}: {error}", 200)
            raise HermesError(f"Row {row} cannot be read: {words}") from None
        for cell in cells.values():
            raw = cell.encode(errors="surrogatepass")
            see(SIZE.pack(len(raw)) + raw)
        prompt = self.template.fill(cells)
        if len(prompt) > LONGEST:
            raise HermesError(f"The prompt of row {row} has {len(prompt):,} characters; {LONGEST:,} is the limit.")
        return prompt

    def _write(self, prompt: bytes) -> None:
        try:
            self._file.write(SIZE.pack(len(prompt)) + prompt)
        except OSError as error:
            raise HermesError(f"The prompts cannot be written to {tempfile.gettempdir()}: {error.strerror}.") from None
