"""What a kernel prints, in messages of a bounded size: what prints without end waits for what it has printed."""

from __future__ import annotations

from ipykernel.iostream import OutStream

MOST = 1_000_000  # characters that wait to be sent. ipykernel gathers for 0.2 s, in which a loop prints a gigabyte


class Paced(OutStream):
    """ipykernel's stream, which sends what is printed as soon as it is much, and lets the printer wait until then."""

    _waiting = 0

    def write(self, string: str) -> int | None:  # type: ignore[override]
        written: int | None = super().write(string)
        self._waiting += len(string)
        if self._waiting > MOST and self._is_master_process():
            self._waiting = 0
            self.flush()
        return written
