"""A conversation among its relatives, as a tree. Pure, and total: whatever a damaged or imported store says of parents,
each session stands in it once at most, those nearest to the one that is asked for come first, and rows of a map and
looks of the slow loops are counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from hermes_kernel.core.search.passages import BESIDE

MOST = 200  # sessions in a tree
EACH = 30  # of those right below one, the last active
FAR = 12  # generations from the one that is asked for; a compression begins none
MAP, CHAT, GONE, MORE = "map", "chat", "deleted", "more"
HOW = {CHAT: "branch", MAP: "row of a map"}
GOES_ON = "goes on"
COUNTED = frozenset({MAP, *BESIDE})  # kinds of which a tree has only the number


@dataclass(frozen=True, slots=True)
class Kin:
    """A session as far as a tree needs to know it. ``further`` is the one in which it goes on since it was compressed;
    ``last`` is when something happened in it, in seconds since 1970-01-01 UTC."""

    session: str
    parent: str = ""
    kind: str = CHAT
    title: str = ""
    last: float = float("-inf")
    further: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """A session in the tree: ``how`` it came of the one above it, or of the one before it where it ``goes on``; what is
    ``below``, and how many of each kind are counted there only, a kind's name or ``more`` with each."""

    kin: Kin
    how: str
    below: tuple[Node, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """``known`` are all sessions of the lineage, whatever stands in ``nodes``; ``asked`` is the one asked for and
    ``present`` the one that a person is in; ``line`` leads from it to the first of all."""

    asked: str
    present: str
    known: tuple[Kin, ...]
    nodes: tuple[Node, ...]
    line: tuple[str, ...]

    @property
    def shown(self) -> int:
        """How many of them stand in it."""
        return sum(1 for _ in walk(self.nodes))


def tree(known: Iterable[Kin], asked: str, present: str = "") -> Tree:
    """The relatives of the session `asked`, which all are among `known`, as they stand to one another."""
    there = tuple(known)
    family = _Family({each.session: each for each in (Kin(asked), *there)}, asked)
    return Tree(asked, present, there, family.level([family.top], set()), tuple(family.line))


def walk(nodes: Iterable[Node]) -> Iterator[Node]:
    """Each node, those below it after it."""
    for node in nodes:
        yield node
        yield from walk(node.below)


@dataclass
class _Family:
    """Who is whose, by id. ``line`` leads from the one asked for to the first of all, ``top`` is as far as the tree
    goes up; ``kept`` are those that stand in it."""

    kin: dict[str, Kin]
    asked: str
    below: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    line: dict[str, int] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    top: str = ""

    def __post_init__(self) -> None:
        parents = {each.parent for each in self.kin.values()}
        self.kin |= {gone: Kin(gone, kind=GONE) for gone in parents - self.kin.keys() - {""}}
        for each in sorted(self.kin.values(), key=lambda each: (each.last, each.session)):
            if each.parent not in ("", each.session):
                self.below[each.parent].append(each.session)
        session, steps = self.asked, 0
        while session and session not in self.line:
            self.line[session] = steps
            parent = self.kin[session].parent
            steps += not parent or self._further(parent) != session
            session = parent
        self._keep()

    def level(self, sessions: list[str], seen: set[str]) -> tuple[Node, ...]:
        """These side by side, each followed by those in which it goes on."""
        nodes = []
        for first in sessions:
            session = first
            while session in self.kept and session not in seen:
                seen.add(session)
                nodes.append(self._node(session, seen))
                session = self._further(session)
        return tuple(nodes)

    def _node(self, session: str, seen: set[str]) -> Node:
        kin, further = self.kin[session], self._further(session)
        children = [each for each in self.below[session] if each != further]
        left = Counter(self._counted(each) or MORE for each in self.below[session] if each not in self.kept)
        return Node(kin, self._how(kin), self.level(children, seen), tuple(sorted(left.items(), key=_order)))

    def _how(self, kin: Kin) -> str:
        if not kin.parent:
            return "" if kin.kind == CHAT else kin.kind
        return GOES_ON if self._further(kin.parent) == kin.session else HOW.get(kin.kind, kin.kind)

    def _further(self, session: str) -> str:
        """Where it goes on, if both say so."""
        further = self.kin[session].further
        return further if further != session and further in self.kin and self.kin[further].parent == session else ""

    def _counted(self, session: str) -> str:
        """The kind, where sessions of it are counted; not of one that leads to whom is asked for."""
        kin = self.kin[session]
        return kin.kind if kin.kind in COUNTED and kin.parent and session not in self.line else ""

    def _keep(self) -> None:
        """Those above the one asked for, then whoever is nearest to it."""
        above = [(steps, session) for session, steps in self.line.items() if steps <= FAR][: MOST // 2]
        waiting = deque(above)
        self.top = above[-1][1]
        self.kept = {session for _, session in above}
        while waiting:
            steps, session = waiting.popleft()
            for near, after in self._near(session, steps):
                if len(self.kept) == MOST:
                    return
                self.kept.add(near)
                (waiting.appendleft if after == steps else waiting.append)((after, near))

    def _near(self, session: str, steps: int) -> Iterator[tuple[str, int]]:
        """Those right below it that are not in the tree yet and have a place there, and how far away each is."""
        further = self._further(session)
        if further and further not in self.kept:
            yield further, steps
        if steps < FAR:
            children = (each for each in reversed(self.below[session]) if each not in self.kept and each != further)
            listed = (each for each in children if not self._counted(each))
            yield from ((each, steps + 1) for each in islice(listed, EACH))


def _order(counted: tuple[str, int]) -> tuple[bool, str]:
    return counted[0] == MORE, counted[0]
