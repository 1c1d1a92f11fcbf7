"""The inverted index: in which passages a unit stands, and where. Rows lie sorted in runs, as they came; several small
runs become one larger, so that a unit is looked up in few places.

A phrase is units at neighbouring places. Two neighbours that are both common in a large run have a row of their own, as
``" of the"``: without it, the phrases people know best would be the slowest to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LARGEST = 65_536  # passages in a run that is made by merging: what it costs to make one is what a reader may wait for
FAN = 4  # neighbouring runs of one size that become one
LARGE = 4096  # passages from which on a run has pairs
COMMON = 33  # a unit in more than one passage of so many is common

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
WHERE id BETWEEN {low} AND {high} AND NOT starts_with(u.unit, ' ')
"""
PAIRS = """
INSERT INTO entries
WITH common AS (SELECT unit FROM entries GROUP BY unit HAVING count(*) * {common} > {passages}),
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
EXTENT = """
WITH span AS (SELECT min(id) AS low, max(id) AS high FROM store.units WHERE run IN (SELECT unnest($1)))
SELECT low, high, (SELECT count(*) FROM store.postings WHERE id BETWEEN low AND high),
       (SELECT sum(passages)::INTEGER FROM store.runs WHERE run IN (SELECT unnest($1)))
FROM span
"""


class Extent(NamedTuple):
    """Some neighbouring runs: the ids of their first and last unit, how many postings and how many passages."""

    low: int
    high: int
    postings: int
    passages: int


def add(connection: DuckDBPyConnection, lines: Sequence[tuple[int, str, int]]) -> None:
    """A run of new passages: each its number, and what `words.row` says of its text. Within a transaction."""
    connection.execute("CREATE OR REPLACE TEMP TABLE lines (mid INTEGER, line VARCHAR, size INTEGER)")
    columns = [list(column) for column in zip(*lines, strict=True)]
    connection.execute("INSERT INTO lines SELECT unnest(?), unnest(?), unnest(?)", columns)
    connection.execute(SPLIT)
    _pair(connection, len(lines))
    _number(connection)
    _write(connection, len(lines))


def due(connection: DuckDBPyConnection) -> tuple[int, ...]:
    """The youngest runs, in order, where it is time to make them one; none where it is not."""
    runs = connection.execute("SELECT run, passages FROM store.runs ORDER BY run").fetchall()
    return tuple(run for run, _ in runs[len(runs) - ripe([passages for _, passages in runs]) :])


def ripe(sizes: Sequence[int]) -> int:
    """How many of the youngest runs are to become one, given how large each is, the oldest first."""
    best = 0
    for level in range(LARGEST.bit_length()):
        small = list(takewhile(lambda size: size < FAN**level, reversed(sizes)))  # noqa: B023 - used before the next
        if len(small) >= FAN and sum(small) <= LARGEST:
            best = len(small)
    return best


def gather(connection: DuckDBPyConnection, runs: Sequence[int]) -> Extent:
    """Read what `runs`, which are neighbours, have into memory: the most of the work of `merge`, and readers need not
    wait for it."""
    found = extent(connection, runs)
    connection.execute(GATHER.format(low=found.low, high=found.high))
    _pair(connection, found.passages)
    _number(connection)
    return found


def merge(connection: DuckDBPyConnection, runs: Sequence[int]) -> None:
    """Put what was gathered in the place of `runs`. Within a transaction."""
    old = extent(connection, runs)
    _write(connection, old.passages)
    for table in ("postings", "units"):
        connection.execute(f"DELETE FROM store.{table} WHERE id BETWEEN {old.low} AND {old.high}")
    connection.execute("DELETE FROM store.runs WHERE run IN (SELECT unnest(?))", [list(runs)])


def extent(connection: DuckDBPyConnection, runs: Sequence[int]) -> Extent:
    """What `runs` hold now."""
    return Extent(*connection.execute(EXTENT, [list(runs)]).fetchall()[0])


def _pair(connection: DuckDBPyConnection, passages: int) -> None:
    if passages >= LARGE:
        connection.execute(PAIRS.format(common=COMMON, passages=passages))


def _number(connection: DuckDBPyConnection) -> None:
    """Units in order, and postings in the order of their units. Their ids are from 0 until they are written."""
    connection.execute(NUMBERED)
    connection.execute(SORTED)


def _write(connection: DuckDBPyConnection, passages: int) -> None:
    """What is in ``numbered`` and ``sorted``, as a run of its own."""
    ((units, run),) = connection.execute("SELECT units, runs FROM store.indexed").fetchall()
    ((added,),) = connection.execute("SELECT count(*) FROM numbered").fetchall()
    connection.execute(UNITS, [units, run])
    connection.execute(POSTINGS, [units])
    connection.execute("INSERT INTO store.runs VALUES (?, ?)", [run, passages])
    connection.execute("UPDATE store.indexed SET units = ?, runs = ?", [units + added, run + 1])
