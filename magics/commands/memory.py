"""``%hermes memory``: what the agent remembers of the person and their work. See it, change it, take a change back, and
decide on what waits for consent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hermes_kernel.core.learning.memory import FILES, Change, MemoryFull, MemoryRefused, MemoryThreat, size
from hermes_kernel.core.learning.memory_words import LATER, asked, understood
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.learning.memory import Memory
from hermes_kernel.learning.memory import asked as asking
from hermes_kernel.learning.memory.asked import differences
from hermes_kernel.learning.proposals import NoProposal, Proposal
from magics.commands.table import Table

if TYPE_CHECKING:
    from magics.desk import Desk

ACTIONS = {
    "add": "add [user] TEXT", "edit": "edit N TEXT", "remove": "remove N", "history": "history [N]",
    "undo": "undo [N]", "accept": "accept ID|all", "reject": "reject ID|all", "path": "path",
}  # fmt: skip
CONSENT = "Write --anyway behind it if you want it all the same."
WAITING = "`%hermes memory accept ID` or `reject ID` decides on what waits."
EMPTY = "Nothing is remembered yet: `%hermes memory add TEXT` adds something, and so does a prompt that asks for it."
USUAL = 20  # changes that are shown


def memory(desk: Desk, rest: str) -> Table:
    """What follows ``memory``: nothing, or what is to be done with it.

    Raises:
        HermesError: it cannot be done, or is nothing that can be done.
    """
    action, _, words = rest.partition(" ")
    kept = desk.agent.learning.memory
    if action and action not in ACTIONS:
        raise HermesError(f"memory takes nothing or {', '.join(ACTIONS.values())}, not {brief(action, 40)!r}.")
    try:
        return DO[action](kept, words.strip())
    except MemoryThreat as threat:
        raise HermesError(f"{threat} {CONSENT}") from None
    except MemoryFull as error:
        raise HermesError(asking.full(kept, error)) from None
    except (MemoryRefused, NoProposal) as error:
        raise HermesError(str(error)) from None


def _shown(kept: Memory, _: str) -> Table:
    entries = {target: kept.entries(target) for target in FILES}
    rows: list[tuple[str | int, ...]] = [
        (str(each.n), FILES[each.target], len(each.entry), each.entry) for each in asking.lines(kept)
    ]
    waiting = kept.proposals.all("memory")
    rows += [(f"waits: {each.id}", each.by, "", _wanted(each)) for each in waiting]
    sizes = (f"{FILES[t]}: {size(entries[t]):,} of {kept.limits().of(t):,} characters" for t in FILES)
    note = "; ".join(sizes) + "."
    columns = ("entry", "in", "characters", "what is remembered") if rows else ()
    hints = [EMPTY] * (not rows) + [WAITING] * bool(waiting)
    return Table(columns, tuple(rows), entries, " ".join([note, *hints]))


def _wanted(proposal: Proposal) -> str:
    found = [f"suspicious: {each}" for each in proposal.findings]
    return "\n".join(filter(None, [asked(*understood(proposal.what)), *found, proposal.why]))


def _changed(change: Change) -> Table:
    rows = tuple((line[:1], line[2:]) for line in differences(change.before, change.after))
    return Table(("", "what is remembered") if rows else (), rows, change, told(change))


def told(change: Change) -> str:
    """What came of it, in a line."""
    where = f"{FILES[change.target]}: {change.size:,} of {change.limit:,} characters."
    said = f"{where} {LATER}" if change.changed else f"Nothing was changed: it is remembered already. {where}"
    return " ".join([*change.notes, said])


def _edited(kept: Memory, words: str) -> Table:
    number, _, text = words.partition(" ")
    if not text.strip():
        raise MemoryRefused("memory edit needs the number of an entry and its new TEXT: edit N TEXT.")
    return _changed(asking.replace(kept, number, text))


def _history(kept: Memory, words: str) -> Table:
    past = kept.history(asking.count(words, USUAL))
    rows = tuple(
        (
            str(each.n), f"{datetime.fromtimestamp(each.t, UTC):%Y-%m-%d %H:%M}", each.fact.by,
            FILES[each.fact.target], "\n".join(differences(each.fact.before, each.fact.after)), each.fact.why,
        )
        for each in past
    )  # fmt: skip
    if not rows:
        return Table((), (), past, "Nothing has been changed yet.")
    return Table(
        ("change", "when (UTC)", "by", "in", "what", "why"), rows, past, "`%hermes memory undo N` takes one back."
    )


def _accepted(kept: Memory, words: str) -> Table:
    done = asking.accept(kept, words)
    rows = tuple((FILES[each.target], line) for each in done for line in differences(each.before, each.after))
    return Table(("in", "what is remembered") if rows else (), rows, done, LATER if done else asking.NOTHING_WAITS)


def _rejected(kept: Memory, words: str) -> Table:
    gone = asking.reject(kept, words)
    return Table((), (), gone, asking.rejected(gone))


def _path(kept: Memory, _: str) -> Table:
    paths = {target: kept.path(target) for target in FILES}
    return Table(("", "file"), tuple((FILES[t], str(path)) for t, path in paths.items()), paths)


DO: dict[str, Callable[[Memory, str], Table]] = {
    "": _shown,
    "add": lambda kept, words: _changed(asking.add(kept, words)),
    "edit": _edited,
    "remove": lambda kept, words: _changed(asking.remove(kept, words)),
    "history": _history,
    "undo": lambda kept, words: _changed(kept.undo("person", asking.count(words, 0))),
    "accept": _accepted,
    "reject": _rejected,
    "path": _path,
}
