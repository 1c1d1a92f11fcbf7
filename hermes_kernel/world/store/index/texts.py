"""The text of passages of the index: it is stored once, in the fact that says it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hermes_kernel.core.events import Kept, Observed, Replied
from hermes_kernel.core.search.found import Passage
from hermes_kernel.core.search.passages import Telling, tell
from hermes_kernel.world.store.records import understood

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NEAR = 64  # facts, about two turns: as cheaply unpacked as one of them
SOME = "SELECT number, kind, body FROM store.facts WHERE number BETWEEN ? AND ?"


class Match(NamedTuple):
    """A passage of the index that matches, and where its text is: in the fact with this number, from a place on."""

    score: float
    passage: Passage
    number: int
    skipped: int


def with_texts(connection: DuckDBPyConnection, matches: Sequence[Match]) -> tuple[tuple[float, Passage], ...]:
    """Matches with their texts and scores."""
    if not matches:
        return ()
    groups = _neighbours(sorted({match.number for match in matches}))
    rows = _unpacked(connection, groups)
    wanted = {match.number for match in matches}
    facts = {number: understood({"fact": kind, **json.loads(body)}) for number, kind, body in rows if number in wanted}
    return tuple((match.score, _with_text(match, facts.get(match.number))) for match in matches)


def _unpacked(connection: DuckDBPyConnection, groups: Sequence[Sequence[int]]) -> list[tuple[Any, ...]]:
    """Facts of each group, and some between. DuckDB does not unpack few rows by more than one thread, and this is the
    most of many a search."""
    with ThreadPoolExecutor(2) as threads, connection.cursor() as one, connection.cursor() as other:
        halves = ((one, groups[::2]), (other, groups[1::2]))
        return [row for rows in threads.map(_rows, *zip(*halves, strict=True)) for row in rows]


def _rows(connection: DuckDBPyConnection, groups: Sequence[Sequence[int]]) -> list[tuple[Any, ...]]:
    if not groups:
        return []
    given = [number for group in groups for number in (group[0], group[-1])]
    return connection.execute(" UNION ALL ".join([SOME] * len(groups)), given).fetchall()


def _neighbours(numbers: Sequence[int]) -> list[list[int]]:
    groups = [[numbers[0]]]
    for number in numbers[1:]:
        if number - groups[-1][0] < NEAR:
            groups[-1].append(number)
        else:
            groups.append([number])
    return groups


def _with_text(match: Match, fact: Kept | None) -> Passage:
    """A passage told by its fact alone."""
    if fact is None:
        return match.passage
    passage, telling = match.passage, Telling(match.passage.session)
    if isinstance(fact, Observed):
        telling = replace(telling, names={fact.call_id: passage.tool})
    if isinstance(fact, Replied):
        fact = replace(fact, cut=False)
    _, news = tell(telling, passage.n, passage.t, fact)
    said = next((piece.text for piece in news if isinstance(piece, Passage)), "")
    return replace(passage, text=said[match.skipped :])
