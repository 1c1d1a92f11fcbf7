"""Facts that come with their places, from another program or another store: what is here of their sessions already,
and in which portions the rest is written. A fact's uid says that it is the same one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hermes_kernel.world.store.reading import Home, everything
from hermes_kernel.world.store.records import Record, encode
from hermes_kernel.world.store.retention.retired import retired

PORTION = 4 * 2**20  # bytes between two waits for the disk

PRESENT = """
SELECT session, uid, n, t, kind, CASE kind WHEN 'Undone' THEN body->>'turns' WHEN 'Titled' THEN body->>'title'
                                           WHEN 'Replied' THEN CAST(body->'usage' AS VARCHAR) END
FROM everything WHERE session IN (SELECT unnest(?::VARCHAR[])) ORDER BY session, n, t, uid
"""


class Trace(NamedTuple):
    """A fact that is here. ``detail`` is what a title, an undo (how many turns) or a reply (its usage as JSON) says."""

    session: str
    uid: str
    n: int
    t: float
    kind: str
    detail: str | None


class Present(NamedTuple):
    """What a home has of some sessions, in order, and which of them were deleted here."""

    traces: tuple[Trace, ...]
    deleted: frozenset[str]


def present(home: Home, sessions: Sequence[str]) -> Present:
    """What is here of `sessions`.

    Raises:
        StoreError: the store cannot be read now.
    """
    deleted = retired(home.places).deleted.intersection(sessions)
    with everything(home) as connection:
        rows = connection.execute(PRESENT, [list(sessions)]).fetchall()
    return Present(tuple(Trace(*row) for row in rows), deleted)


def portions(told: Iterable[Record]) -> Iterator[bytes]:
    """The journal lines of `told`, as many at once as one wait for the disk is worth."""
    lines: list[bytes] = []
    size = 0
    for record in told:
        line = encode(record)
        if lines and size + len(line) > PORTION:
            yield b"".join(lines)
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield b"".join(lines)
