"""What the panel of memory shows: read in one go, and said as labels and pages. Knows no control."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.learning.memory import FILES, Operation, size
from hermes_kernel.core.learning.memory_words import asked, understood
from hermes_kernel.core.text import brief
from hermes_kernel.learning.memory import Memory, Past
from hermes_kernel.learning.memory.asked import Line, differences, lines
from hermes_kernel.learning.proposals import Proposal
from hermes_kernel.view.columns import aligned
from hermes_kernel.view.kept.pages import beside, difference, gauge, words
from hermes_kernel.view.markup import marked, quiet

ENTRIES, CHANGES = "entries", "changes"
SHOWN, LABEL = 500, 100  # rows of the list, characters of each
EMPTY = "Nothing is remembered yet. Add something, or ask for it in a prompt."
UNCHANGED = "Nothing has been changed yet."

Key = tuple[str, ...]
"""``("entry", target, text)``, ``("waits", id)`` or ``("change", number)``: what is chosen, whatever moves about it."""

Findings = Callable[[Iterable[Operation]], tuple[Finding, ...]]


@dataclass(frozen=True, slots=True)
class Seen:
    """What was there when it was read: entries, what waits, changes (the latest first), how full each file is."""

    view: str = ENTRIES
    lines: tuple[Line, ...] = ()
    waiting: tuple[Proposal, ...] = ()
    past: tuple[Past, ...] = ()
    full: tuple[tuple[str, int, int], ...] = ()

    @property
    def keys(self) -> tuple[Key, ...]:
        """What can be chosen: what waits for a word stands first."""
        if self.view == CHANGES:
            return tuple(("change", str(each.n)) for each in self.past)
        waits = [("waits", each.id) for each in self.waiting]
        return (*waits, *dict.fromkeys(("entry", each.target, each.entry) for each in self.lines[:SHOWN]))

    def number(self, target: str, entry: str) -> str:
        """By which a person calls this entry."""
        return next((str(each.n) for each in self.lines if (each.target, each.entry) == (target, entry)), "")


def seen(kept: Memory, view: str) -> Seen:
    """All of it as it is now.

    Raises:
        StoreError: a file or the store cannot be read.
    """
    there = lines(kept)
    past = tuple(reversed(kept.history(SHOWN))) if view == CHANGES else ()
    limits = kept.limits()
    full = tuple(
        (target, size([each.entry for each in there if each.target == target]), limits.of(target)) for target in FILES
    )
    return Seen(view, there, kept.proposals.all("memory"), past, full)


def gauges(what: Seen) -> str:
    """How full each file is, as bars with their words."""
    return beside(
        *(gauge(FILES[each], taken, limit, f"{taken:,} of {limit:,} characters") for each, taken, limit in what.full)
    )


def options(what: Seen) -> list[tuple[str, Key]]:
    """The rows of the list, aligned."""
    keys = what.keys
    return list(zip(aligned(("", "", ""), [_cells(what, each) for each in keys]), keys, strict=True))


def _cells(what: Seen, key: Key) -> tuple[str, str, str]:
    match key:
        case ("entry", target, entry):
            return what.number(target, entry), FILES[target], brief(entry, LABEL)
        case ("waits", name):
            proposal = _proposal(what, name)
            target, operations = understood(proposal.what)
            return "waits", FILES.get(target, brief(target, 12)), brief(asked("", operations).lstrip(":\n"), LABEL)
    past = _change(what, key)
    (first, *_) = differences(past.fact.before, past.fact.after) or [""]
    return str(past.n), f"{_when(past.t)}  {brief(past.fact.by, 12)}", brief(first, LABEL)


def page(what: Seen, key: Key | None, findings: Findings) -> str:
    """The chosen one in full."""
    match key:
        case None:
            return quiet(UNCHANGED if what.view == CHANGES else EMPTY)
        case ("entry", target, entry):
            suspicious = tuple(each.what for each in findings([Operation("add", entry)]))
            about = f"in {FILES[target]}, {len(entry):,} characters"
            return quiet(about) + words(entry) + _suspicious(suspicious)
        case ("waits", name):
            proposal = _proposal(what, name)
            target, operations = understood(proposal.what)
            about = f"{proposal.by} wants this, {_when(proposal.t)} UTC; it waits for your word"
            why = f"why: {proposal.why}" if proposal.why else ""
            return quiet(about) + words(asked(target, operations)) + _suspicious(proposal.findings) + quiet(why)
    past = _change(what, key)
    about = f"change {past.n} of {FILES[past.fact.target]}, by {past.fact.by}, {_when(past.t)} UTC"
    return quiet(about) + difference(past.fact.before, past.fact.after) + quiet(past.fact.why)


def _suspicious(found: Iterable[str]) -> str:
    return "".join(marked(f"suspicious: {each}", "slow") for each in dict.fromkeys(found))


def _proposal(what: Seen, name: str) -> Proposal:
    return next(each for each in what.waiting if each.id == name)


def _change(what: Seen, key: Key) -> Past:
    return next(each for each in what.past if str(each.n) == key[1])


def _when(t: float) -> str:
    try:
        return f"{datetime.fromtimestamp(t, UTC):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
