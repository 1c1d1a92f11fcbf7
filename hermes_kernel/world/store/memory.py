"""A log that lasts as long as the process: for tests, and for turns that must leave no trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from datetime import tzinfo
from itertools import chain, count, takewhile
from typing import NamedTuple

from hermes_kernel.core.events import Asked, Kept, Opened
from hermes_kernel.core.learnt import LEARNT, Dated, Lesson
from hermes_kernel.core.planned import RUN
from hermes_kernel.core.search.finding import About, find, root
from hermes_kernel.core.search.found import Found, Passage
from hermes_kernel.core.search.passages import BESIDE, SPOKEN, findable, passages
from hermes_kernel.core.search.query import Query, parse
from hermes_kernel.core.search.rank import Entry, entry
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.ports import Clock
from hermes_kernel.world.store.naming import named
from hermes_kernel.world.store.places import InUse, NoSession
from hermes_kernel.world.store.threads import Head, told
from hermes_kernel.world.zone import LOCAL

CHAT = "chat"


class _Told(NamedTuple):
    """A fact, when it came, in seconds since 1970-01-01 UTC, and the how manieth it is."""

    t: float
    fact: Kept
    number: int


class MemoryLog:
    """`ports.Archive` that holds the facts themselves."""

    def __init__(self, *, clock: Clock | None = None, zone: tzinfo = LOCAL) -> None:
        """``zone`` is where a person's dates are meant."""
        self._facts: defaultdict[str, list[_Told]] = defaultdict(list)
        self._last: dict[str, int] = {}  # of each session, which fact its last append began with
        self._numbers = count()
        self._claimed: set[str] = set()
        self._clock = clock or SystemClock()
        self._zone = zone

    def append(self, session_id: str, *events: Kept) -> None:
        facts = self._facts[session_id]
        last = facts[self._last.get(session_id, 0) :]
        again = sum(1 for _ in takewhile(lambda pair: pair[0].fact is pair[1], zip(last, events, strict=False)))
        self._last[session_id] = len(facts) - len(last) if again else len(facts)
        facts.extend([_Told(self._clock.now(), event, next(self._numbers)) for event in events[again:]])

    def recall(self, session_id: str) -> list[Kept]:
        return [told.fact for told in self._of(session_id)]

    def learnt(self, kinds: Collection[type] = LEARNT, since: float = 0) -> tuple[Dated, ...]:
        wanted = tuple(kinds)
        every = chain.from_iterable(self._facts.values())
        found = (told for told in every if told.t >= since and isinstance(told.fact, wanted))
        in_order = sorted(found, key=lambda told: (told.t, told.number))
        return tuple(Dated(t, fact) for t, fact, _ in in_order if isinstance(fact, Lesson))

    def search(self, query: str | Query, limit: int = 10) -> Found:
        asked = query if isinstance(query, Query) else parse(query, now=self._clock.now(), zone=self._zone)
        heads = self._heads()
        parents = {session: head.parent for session, head in heads.items()}
        about = {
            session: About(root(parents, session), head.title, head.notebook, head.model)
            for session, head in heads.items()
        }
        entries = [each for session in self._facts for each in self._entries(session, about[session])]
        return find(entries, asked, about, limit)

    def passages(self, session_id: str) -> tuple[Passage, ...]:
        return passages(session_id, ((n, t, fact) for n, (t, fact, _) in enumerate(self._of(session_id))))

    def find(self, text: str) -> str:
        titles = {session: head.title for session, head in self._heads().items()}
        return named(text, titles, self.latest, lambda: titles)

    def latest(self, notebook: str | None = None) -> str | None:
        """The id of the conversation last active, in one notebook or in any; where that was a subagent or a row of a
        map, the one it worked for. A run of a job is one only under its own name, and what a slow loop did is no
        activity."""
        heads = self._heads()
        newest_first = sorted(self._facts, key=self._latest, reverse=True)
        told = [name for name in newest_first if self._kind(name) not in BESIDE]
        roots = [self._worked_for(name, heads) for name in told if notebook in {None, heads[name].notebook}]
        roots = [root for root in roots if notebook is not None or self._kind(root) != RUN]
        return next((root for root in roots if self._kind(root) in SPOKEN), next(iter(roots), None))

    def _latest(self, session: str) -> int:
        """Which of all facts was told last in it; -1 in one that an interrupt left empty."""
        return next((told.number for told in self._facts[session][-1:]), -1)

    def _worked_for(self, session: str, heads: Mapping[str, Head]) -> str:
        line = [session]
        while self._kind(line[-1]) not in SPOKEN and heads[line[-1]].parent in heads.keys() - line:
            line.append(heads[line[-1]].parent)
        return line[-1]

    def _kind(self, session: str) -> str:
        return next((told.fact.kind for told in self._facts[session] if isinstance(told.fact, Opened)), CHAT)

    def claim(self, session_id: str) -> ExitStack:
        """The right to act on a session, until closed.

        Raises:
            InUse: somebody has it.
        """
        if session_id in self._claimed:
            raise InUse(f"session {session_id!r} is in use: stop it there, or ask in a new session")
        self._claimed.add(session_id)
        claim = ExitStack()
        claim.callback(self._claimed.discard, session_id)
        return claim

    def check(self, session_id: str) -> None:
        """Nothing gets lost here."""

    @property
    def waiting(self) -> str:
        """There is nothing to wait for."""
        return ""

    def fold_apart(self) -> None:
        """There is nothing to fold."""

    def close(self) -> None:
        """There is nothing to leave."""

    def _of(self, session_id: str) -> list[_Told]:
        if session_id not in self._facts:
            raise NoSession(session_id, self._facts)
        return self._facts[session_id]

    def _heads(self) -> dict[str, Head]:
        """What is known of each session."""
        heads = {session: Head(session) for session in self._facts}
        for session, facts in self._facts.items():
            standing = {passage.n for passage in self.passages(session)}
            for n, (t, fact, _) in enumerate(facts):
                undone = isinstance(fact, Asked) and n not in standing
                heads[session] = told(heads[session], n, t, None if undone else fact)
        return heads

    def _entries(self, session: str, about: About) -> Iterator[Entry]:
        standing = () if self._kind(session) in BESIDE else self.passages(session)
        for passage in filter(findable, standing):
            yield entry(passage, about.notebook, about.model)
