"""What a search text means: words, ``"phrases"``, ``prefix*``, ``-not``, ``OR`` and filters. All else is plain text.

Words that stand side by side must all be there; ``OR`` joins its two neighbours and nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """Units of text that follow one another: one for a word, several for a phrase (``"of the"``, ``a.b.c``, ``桂林``).
    With ``prefix`` the last is only the beginning of one."""

    units: tuple[str, ...]
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Filters:
    """What a message must be besides its words. Each tuple is a list of alternatives, empty for any; ``no_…`` are
    refused. ``notebook`` and ``model`` are parts of a name, folded as words are; ``session`` begins an id. Times are
    seconds since 1970-01-01 UTC: at or after ``after``, before ``before``."""

    role: tuple[str, ...] = ()
    no_role: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    no_tool: tuple[str, ...] = ()
    notebook: tuple[str, ...] = ()
    no_notebook: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    no_model: tuple[str, ...] = ()
    session: tuple[str, ...] = ()
    no_session: tuple[str, ...] = ()
    after: float | None = None
    before: float | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """Every one of ``clauses`` must be met by one of its terms; none of ``without`` may be there. Without any clause,
    all messages that pass the filters match, the newest first."""

    clauses: tuple[tuple[Term, ...], ...] = ()
    without: tuple[Term, ...] = ()
    filters: Filters = Filters()
