"""The inverted index: in which passages a unit stands, and where. Rows lie sorted in runs, as they came; several small
runs become one larger, so that a unit is looked up in few places.

A phrase is units at neighbouring places. Two neighbours that are both common in a large run have a row of their own, as
``" of the"``: without it, the phrases people know best would be the slowest to find.
"""

# ruff: noqa: S608 - what is put into SQL here are numbers and our own words; what others wrote is a parameter
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Shape(NamedTuple):
    """How the runs of a store are made. A store has some ``runs`` of them, or of the ``largest`` size: what it takes to
    put one in place is what a reader may wait for. At least ``fan`` neighbours become one. A run of ``paired`` passages
    has pairs of the units that are in more than one passage of ``common``."""

    largest: int = 49_152
    runs: int = 8
    fan: int = 4
    paired: int = 4096
    common: int = 20


SHAPE = Shape()
NEVER = 2**31 - 1

# A newline takes a place, so that no phrase crosses it.
SPLIT = """
CREATE OR REPLACE TEMP TABLE entries AS
SELECT unit, mid, any_value(size) AS size, count(*)::INTEGER AS often, list(place ORDER BY place)::INTEGER[] AS places
FROM (SELECT mid, size, unnest(words) AS unit, unnest(range(len(words))) AS place
      FROM (SELECT mid, size, string_split(trim(replace(line, chr(10), ' ' || chr(10) || ' '), ' '), '  ') AS words
            FROM lines))
WHERE unit NOT IN ('', chr(10))
GROUP BY unit, mid
"""
GATHER = """
CREATE OR REPLACE TEMP TABLE entries AS
SELECT u.unit, p.mid, p.size, p.often, p.places
FROM store.postings p JOIN store.units u USING (id)
WHERE ({ids}) AND NOT starts_with(u.unit, ' ')
"""
PAIRS = """
INSERT INTO entries
WITH common AS (SELECT unit FROM entries GROUP BY unit HAVING count(*) > {common}),
places AS (SELECT unit, mid, size, unnest(places) AS place FROM entries WHERE unit IN (SELECT unit FROM common))
SELECT ' ' || a.unit || ' ' || b.unit, a.mid, any_value(a.size), count(*)::INTEGER,
       list(a.place ORDER BY a.place)::INTEGER[]
FROM places a JOIN places b ON a.mid = b.mid AND a.place + 1 = b.place
GROUP BY a.unit, b.unit, a.mid
"""
NUMBERED = """
CREATE OR REPLACE TEMP TABLE numbered AS
SELECT unit, (row_number() OVER (ORDER BY unit) - 1)::INTEGER AS id, count(*)::INTEGER AS passages
FROM entries GROUP BY unit ORDER BY unit
"""
SORTED = """
CREATE OR REPLACE TEMP TABLE sorted AS
SELECT id, mid, size, often, places FROM entries JOIN numbered USING (unit) ORDER BY id, mid
"""
UNITS = """
INSERT INTO store.units
SELECT ('0x' || rpad(left(hex(left(unit, 8)), 16), 16, '0'))::UBIGINT, unit, id + ?, ?, passages FROM numbered
"""
POSTINGS = "INSERT INTO store.postings SELECT id + ?, mid, size, often, places FROM sorted"
SPANS = """
SELECT min(id), max(id), any_value(r.first), any_value(r.passages)
FROM store.units u JOIN store.runs r USING (run) WHERE run IN (SELECT unnest(?)) GROUP BY run ORDER BY 1
"""


class Run(NamedTuple):
    """The first passage of a run, how many there are, and in more than how many of them a unit is common."""

    first: int
    passages: int
    common: int


class Extent(NamedTuple):
    """What some runs hold: the ids of each one's first and last unit, the first passage, how many passages and postings
    there are, and in more than how many a unit would be common in all of them together."""

    spans: tuple[tuple[int, int], ...]
    first: int
    passages: int
    postings: int = 0
    common: int = NEVER

    def __str__(self) -> str:
        return " OR ".join(f"id BETWEEN {low} AND {high}" for low, high in self.spans) or "false"


def add(connection: DuckDBPyConnection, lines: Sequence[tuple[int, str, int]], shape: Shape = SHAPE) -> None:
    """A run of new passages: each its number, and what `words.row` says of its text. Within a transaction."""
    connection.execute("CREATE OR REPLACE TEMP TABLE lines (mid INTEGER, line VARCHAR, size INTEGER)")
    columns = [list(column) for column in zip(*lines, strict=True)]
    connection.execute("INSERT INTO lines SELECT unnest(?), unnest(?), unnest(?)", columns)
    connection.execute(SPLIT)
    common = _pair(connection, len(lines), shape)
    _number(connection)
    _write(connection, Run(lines[0][0], len(lines), common))


def due(connection: DuckDBPyConnection, shape: Shape = SHAPE) -> tuple[int, ...]:
    """Neighbouring runs where it is time to make them one; none where it is not."""
    runs = connection.execute("SELECT run, passages FROM store.runs ORDER BY first").fetchall()
    start, stop = ripe([passages for _, passages in runs], shape)
    return tuple(run for run, _ in runs[start:stop])


def ripe(sizes: Sequence[int], shape: Shape = SHAPE) -> tuple[int, int]:
    """Which neighbours are to become one, given how large each is: the youngest that at least double by it, so that no
    passage is written anew often."""
    most, fan = max(2 * shape.paired, min(shape.largest, sum(sizes) // shape.runs)), shape.fan
    for start in range(len(sizes) - fan, -1, -1):
        for stop in range(start + fan, min(start + 2 * fan, len(sizes)) + 1):
            window = sizes[start:stop]
            if 2 * max(window) <= sum(window) <= most:
                return start, stop
    return 0, 0


def gather(connection: DuckDBPyConnection, runs: Sequence[int], shape: Shape = SHAPE) -> Extent:
    """Read what `runs` have into memory: the most of the work of `merge`, and readers need not wait for it."""
    found = extent(connection, runs)
    connection.execute(GATHER.format(ids=found))
    common = _pair(connection, found.passages, shape)
    _number(connection)
    return found._replace(common=common)


def merge(connection: DuckDBPyConnection, runs: Sequence[int], old: Extent) -> None:
    """Put what was gathered in the place of `runs`, which hold now what `gather` found. Within a transaction."""
    _write(connection, Run(old.first, old.passages, old.common))
    connection.execute(f"DELETE FROM store.postings WHERE {old}")
    connection.execute(f"DELETE FROM store.units WHERE {old}")
    connection.execute("DELETE FROM store.runs WHERE run IN (SELECT unnest(?))", [list(runs)])


def extent(connection: DuckDBPyConnection, runs: Sequence[int]) -> Extent:
    """What `runs` hold now."""
    rows = connection.execute(SPANS, [list(runs)]).fetchall()
    spans = tuple((low, high) for low, high, _, _ in rows)
    found = Extent(spans, min((row[2] for row in rows), default=0), sum(row[3] for row in rows))
    ((postings,),) = connection.execute(f"SELECT count(*) FROM store.postings WHERE {found}").fetchall()
    return found._replace(postings=postings)


def _pair(connection: DuckDBPyConnection, passages: int, shape: Shape) -> int:
    """Add the pairs that a run of so many passages has; in more than how many of them a unit is common there."""
    if passages < shape.paired:
        return NEVER
    common = passages // shape.common
    connection.execute(PAIRS.format(common=common))
    return common


def _number(connection: DuckDBPyConnection) -> None:
    """Units in order, and postings in the order of their units. Their ids are from 0 until they are written."""
    connection.execute(NUMBERED)
    connection.execute(SORTED)


def _write(connection: DuckDBPyConnection, made: Run) -> None:
    """What is in ``numbered`` and ``sorted``, as a run of its own."""
    ((units, run),) = connection.execute("SELECT units, runs FROM store.indexed").fetchall()
    ((added,),) = connection.execute("SELECT count(*) FROM numbered").fetchall()
    connection.execute(UNITS, [units, run])
    connection.execute(POSTINGS, [units])
    connection.execute("INSERT INTO store.runs VALUES (?, ?, ?, ?)", [run, *made])
    connection.execute("UPDATE store.indexed SET units = ?, runs = ?", [units + added, run + 1])
