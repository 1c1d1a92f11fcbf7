"""What a search text means: words, ``"phrases"``, ``prefix*``, ``-not``, ``OR`` and filters. All else is plain text.

Words that stand side by side must all be there; ``OR`` joins its two neighbours and nothing more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import NamedTuple

from hermes_kernel.core.search.found import ROLES
from hermes_kernel.core.search.times import TimeError, moment
from hermes_kernel.core.search.words import fold, units
from hermes_kernel.core.text import brief

MOST = 64  # words, phrases and filters in a query, each of which costs a look-up
MOST_UNITS = 512  # words of all phrases together: a long paragraph, pasted between quotes
KEYS = ("role", "tool", "notebook", "model", "session", "after", "before")

_OTHER_SIDE = {"after": "before", "before": "after"}  # what is not after a moment is before it
_QUOTES = str.maketrans(dict.fromkeys("“”„‟\uff02", '"'))
_PIECE = re.compile(
    rf"""(?P<no>-(?=[^\s-]))?
         (?: (?P<key>{"|".join(KEYS)}): (?: "(?P<value>[^"]*)" | (?P<bare>[^\s"]\S*) )
           | "(?P<phrase>[^"]*)"(?P<open>\*)?
           | (?P<plain>\S+) )""",
    re.VERBOSE | re.IGNORECASE,
)


class QueryError(ValueError):
    """A filter whose value means nothing, or more words than one may ask for. One line: what, and what is allowed."""


@dataclass(frozen=True, slots=True)
class Term:
    """Units of text that follow one another: one for a word, several for a phrase (``"of the"``, ``a.b.c``, ``桂林``).
    With ``prefix`` the last is only the beginning of one."""

    units: tuple[str, ...]
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Filters:
    """What a message must be besides its words. Each tuple is a list of alternatives, empty for any; ``no_…`` are
    refused. ``tool`` is a name, ``notebook`` and ``model`` are parts of one, all folded as words are; ``session``
    begins an id. Times are seconds since 1970-01-01 UTC: at or after ``after``, before ``before``."""

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
    all messages that pass the filters match, the newest first. A clause without terms, which is what a text of nothing
    but punctuation is, is met by none."""

    clauses: tuple[tuple[Term, ...], ...] = ()
    without: tuple[Term, ...] = ()
    filters: Filters = Filters()


class _Piece(NamedTuple):
    """One stretch of a query between spaces: words, or a filter with its ``key`` and ``value``. ``joins`` is the word
    ``OR``."""

    term: Term
    no: bool = False
    key: str = ""
    value: str = ""
    joins: bool = False

    @property
    def wanted(self) -> bool:
        return bool(self.term.units) and not self.no


def parse(text: str, *, now: float, zone: tzinfo) -> Query:
    """The meaning of ``text``, asked at ``now`` (seconds since 1970-01-01 UTC) by a person whose clock is in ``zone``.

    Raises:
        QueryError: a known filter has a value that means nothing, or there are more words than one may ask for.
    """
    pieces = [piece for piece in _pieces(text) if piece.term.units or piece.value]
    if len(pieces) > MOST or sum(len(piece.term.units) for piece in pieces) > MOST_UNITS:
        raise QueryError(f"too long a search: at most {MOST} words, phrases and filters, of {MOST_UNITS} words in all")
    if not pieces:
        return Query(((),) if text.strip() else ())
    without = dict.fromkeys(piece.term for piece in pieces if piece.no and piece.term.units)
    return Query(_clauses(pieces), tuple(without), _filters([piece for piece in pieces if piece.key], now, zone))


def _pieces(text: str) -> Iterator[_Piece]:
    for found in _PIECE.finditer(unicodedata.normalize("NFC", text).translate(_QUOTES)):
        no = bool(found["no"])
        if found["key"]:
            value = found["bare"] if found["value"] is None else found["value"]
            yield _Piece(Term(()), no, found["key"].lower(), value.strip())
        elif found["plain"]:
            yield _Piece(_term(found["plain"]), no, joins=found.group() == "OR")
        else:
            yield _Piece(_term(found["phrase"] + (found["open"] or "")), no)


def _term(text: str) -> Term:
    """A stretch of text as what is looked for: one unit or several in a row."""
    found = list(units(text))
    names = tuple(unit.text for unit in found)
    if not found or not text.endswith("*") or text.startswith("*"):
        return Term(names)
    between = text[found[-1].end : -1]
    if between.strip("_"):
        return Term(names)
    return Term((*names[:-1], names[-1] + between), prefix=True)  # `test_*` begins `test_a` and not `tests`


def _clauses(pieces: Sequence[_Piece]) -> tuple[tuple[Term, ...], ...]:
    """Each word and phrase that is wanted, those around an ``OR`` together. At an edge it is the word."""
    clauses: list[tuple[Term, ...]] = []
    joining, operand = False, False
    for piece, after in zip(pieces, (*pieces[1:], None), strict=True):
        if piece.joins and operand and after and after.wanted:
            joining, operand = True, False
            continue
        operand = piece.wanted
        if operand and joining:
            clauses[-1] = (*clauses[-1], piece.term)
        elif operand:
            clauses.append((piece.term,))
        joining = False
    return tuple(dict.fromkeys(tuple(dict.fromkeys(clause)) for clause in clauses))


def _filters(pieces: Sequence[_Piece], now: float, zone: tzinfo) -> Filters:
    names: dict[str, tuple[str, ...]] = {}
    times: dict[str, list[float]] = {"after": [], "before": []}
    for _, no, key, value, _ in pieces:
        if key in times:
            side = _OTHER_SIDE[key] if no else key
            times[side].append(_moment(key, value, now, zone))
        else:
            name = f"no_{key}" if no else key
            names[name] = (*names.get(name, ()), _name(key, value))
    return Filters(**names, after=min(times["after"], default=None), before=max(times["before"], default=None))


def _moment(key: str, value: str, now: float, zone: tzinfo) -> float:
    try:
        return moment(value, now, zone)
    except TimeError as error:
        raise QueryError(f"{key}: {error}") from None


def _name(key: str, value: str) -> str:
    if key == "session":
        return value
    name = fold(value)
    if key == "role" and name not in ROLES:
        raise QueryError(f"role: is one of {', '.join(ROLES)}, not {brief(value, 40)!r}")
    return name
