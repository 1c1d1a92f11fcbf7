"""From messages in the order of their rank to what a person is shown: threads of a lineage, hits with snippets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hermes_kernel.core.search.found import Found, Hit, Passage, Thread
from hermes_kernel.core.search.query import Query
from hermes_kernel.core.search.rank import Entry, Ranked, census, ranked
from hermes_kernel.core.search.snippet import snippet

HITS = 3  # of a thread that are shown; the others are read where they stand


@dataclass(frozen=True, slots=True)
class About:
    """What a search tells of a session: the one its lineage began with, and its own title, notebook and model."""

    root: str
    title: str = ""
    notebook: str = ""
    model: str = ""


def root(parents: Mapping[str, str], session: str) -> str:
    """The session that a lineage began with; one that leads back to itself, for the data is damaged, begins with the
    first of its names. A parent that is not there still joins its children."""
    line = [session]
    while (session := parents.get(session, "")) and session not in line:
        line.append(session)
    return min(line[line.index(session) :]) if session else line[-1]


def shown(found: Ranked, query: Query, about: Mapping[str, About], limit: int, note: str = "") -> Found:
    """The best ``limit`` threads of what was found, with the `HITS` best of each. ``about`` knows each session."""
    groups: dict[str, list[tuple[float, Passage]]] = {}
    for points, passage in found.best:
        origin = about[passage.session].root
        if origin in groups or len(groups) < limit:
            groups.setdefault(origin, []).append((points, passage))
    threads = tuple(_thread(origin, best[:HITS], query, about) for origin, best in groups.items())
    return Found(threads, found.total, partly=found.met < len(query.clauses) and found.total > 0, note=note)


def find(entries: Sequence[Entry], query: Query, about: Mapping[str, About], limit: int) -> Found:
    """A whole search among messages that are all at hand."""
    return shown(ranked(entries, query, census(entries, query)), query, about, limit)


def _thread(origin: str, best: Sequence[tuple[float, Passage]], query: Query, about: Mapping[str, About]) -> Thread:
    hits = tuple(Hit(passage, points, snippet(passage.text, query)) for points, passage in best)
    known = about[hits[0].passage.session]
    return Thread(origin, known.title, known.notebook, known.model, hits)
