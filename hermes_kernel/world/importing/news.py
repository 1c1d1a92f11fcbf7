"""What a story has to say that a store does not know yet, as records with their places.

A log only grows, so whatever the original took back since is taken back here too, by a fact that says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hermes_kernel.core.events import Asked, Compressed, Kept, Observed, Opened, Replied, Titled, Undone
from hermes_kernel.core.plain import dump
from hermes_kernel.world.importing.known import Known, uid
from hermes_kernel.world.importing.shares import left, shared_out
from hermes_kernel.world.importing.told import Story
from hermes_kernel.world.importing.turns import Item, items, unasked
from hermes_kernel.world.store.records import Record, ordered

MESSAGES = ("Asked", "Replied", "Observed")


@dataclass(frozen=True, slots=True)
class News:
    """What is to be written of one story, and how much of it is there: ``messages`` and ``calls`` are new, ``known``
    messages were here before, ``late`` ones stand before others that are here and cannot be put between."""

    records: tuple[Record, ...]
    messages: int = 0
    calls: int = 0
    titles: int = 0
    known: int = 0
    late: int = 0


def news(story: Story, known: Known) -> News:
    """What is new in `story` to a store that has `known` of it."""
    told, start = _told(story, known)
    fresh = told[start:]
    entries = [*_opening(story, known), *_taken_back(story, known, told, fresh)]
    titled = sum(isinstance(item.fact, Titled) for item in entries)
    facts = shared_out([item.fact for item in entries], left(story.spent, known.spent))
    messages = sum(item.told for item in fresh)
    before = sum(item.told and uid(story.session, item.key) in known.uids for item in told[:start])
    return News(
        tuple(_placed(story, known, entries, facts)),
        messages,
        sum(len(item.fact.calls) for item in fresh if isinstance(item.fact, Replied)),
        titled,
        before,
        sum(item.told for item in told) - messages - before,
    )


def copied(records: Sequence[Record], known: Known) -> News | None:
    """What is new in facts of another store of ours; None where both stores went on with the session."""
    there = ordered(records)
    fresh = [record for record in there if record.uid not in known.uids]
    if known.uids and any(record.n < known.next for record in fresh):
        return None
    kinds = [record.fact["fact"] for record in fresh]
    messages = sum(kind in MESSAGES for kind in kinds)
    return News(
        tuple(fresh),
        messages,
        sum(len(record.fact.get("calls", ())) for record in fresh if record.fact["fact"] == "Replied"),
        kinds.count("Titled"),
        sum(record.fact["fact"] in MESSAGES for record in there) - messages,
    )


def _opening(story: Story, known: Known) -> list[Item]:
    """The session's beginning where it is new, and its title where that is."""
    out: list[Item] = []
    if not known.uids:
        times = [t for t in (story.started, *(told.t for told in story.messages[:1])) if t is not None]
        opened = Opened(story.session, story.system, story.model, story.kind, story.parent)
        out.append(Item(origin(story), min(times, default=0.0), opened))
    if story.title and (story.title,) != known.titles[-1:]:
        out.append(Item(f"titled:{len(known.titles)}:{story.title}", None, Titled(story.title)))
    return out


def origin(story: Story) -> str:
    """The key of a session's beginning: another session of this id began at another time."""
    return f"opened:{story.started}"


def _told(story: Story, known: Known) -> tuple[tuple[Item, ...], int]:
    """The facts of `story`, and from which on they are new. A turn that was over here and went on there goes on as
    another turn, at every later import as well."""
    anew = {told.key for told in story.messages if uid(story.session, unasked(told.key)) in known.uids}
    told = items(story, anew)
    start = _first_new(story, known, told)
    if known.over and start < len(told) and isinstance(told[start].fact, Replied | Observed):
        told = items(story, anew | {told[start].key})
        start = _first_new(story, known, told)
    return told, start


def _first_new(story: Story, known: Known, told: Sequence[Item]) -> int:
    """What stands before something that is here is here, or is too late."""
    here = (n for n in range(len(told), 0, -1) if uid(story.session, told[n - 1].key) in known.uids)
    return next(here, 0)


def _taken_back(story: Story, known: Known, told: Sequence[Item], fresh: Iterable[Item]) -> list[Item]:
    """`fresh` with the turns taken back that do not stand in the original, each before the next begins."""
    turns = _Turns(story, known, told)
    out: list[Item] = []
    for item in (*fresh, None):
        if (item is None or isinstance(item.fact, Asked | Compressed)) and (count := turns.fall()):
            last = out[-1] if out else Item(str(known.next), None, Undone())
            out.append(Item(f"undone:{last.key}:{len(turns.standing)}", last.t, Undone(count)))
        if item is not None:
            turns.see(item)
            out.append(item)
    return out


class _Turns:
    """The turns that stand here, and which of them the original no longer has."""

    def __init__(self, story: Story, known: Known, told: Sequence[Item]) -> None:
        self.standing = list(known.standing)
        self._story = story
        self._gone = {uid(story.session, item.key): item.gone for item in told if isinstance(item.fact, Asked)}

    def see(self, item: Item) -> None:
        if isinstance(item.fact, Asked):
            self.standing.append(uid(self._story.session, item.key))

    def fall(self) -> int:
        """How many of the last turns are to be taken back now."""
        count = 0
        while self.standing and self._gone.get(self.standing[-1], self._story.whole):
            self.standing.pop()
            count += 1
        return count


def _placed(story: Story, known: Known, entries: Sequence[Item], facts: Sequence[Kept]) -> Iterable[Record]:
    """Each fact at its place. Time never goes back within a session."""
    t = known.t
    for n, (item, fact) in enumerate(zip(entries, facts, strict=True), known.next):
        t = t if item.t is None else max(t, item.t)
        yield Record(uid(story.session, item.key), story.session, n, t, dump(fact))
