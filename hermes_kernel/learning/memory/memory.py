"""What is remembered, for whoever reads or changes it: two files under the home, their history, and what waits for a
person's consent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from hermes_kernel.core.learning.finding import Finding
from hermes_kernel.core.learning.memory import (
    FILES,
    Change,
    Limits,
    MemoryRefused,
    MemoryThreat,
    Operation,
    applied,
    checked,
    fits,
)
from hermes_kernel.core.learning.memory_block import block
from hermes_kernel.core.learning.memory_merge import merged, taken_back
from hermes_kernel.core.learning.memory_text import read, tidied
from hermes_kernel.core.learning.memory_words import plain, understood
from hermes_kernel.core.learnt import Remembered
from hermes_kernel.core.redact import redact
from hermes_kernel.core.text import scrub
from hermes_kernel.learning.memory.changing import Changing, Entries, Signed, without_secrets
from hermes_kernel.learning.memory.known import digest
from hermes_kernel.learning.memory.ours import Ours
from hermes_kernel.learning.memory.tool import make_memory
from hermes_kernel.learning.proposals import Proposal, Proposals
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.store.disk import StoreError
from hermes_kernel.world.tools.tool import Tool

FOLDER = "memories"
LONGEST = 100_000  # characters of one change; it is looked through, which takes a second for some of them


@lru_cache(1_000)
def found_in(entry: str) -> tuple[Finding, ...]:
    """What is suspicious in an entry. The same few are looked at again and again."""
    from hermes_kernel.core.learning.threats import threats

    return threats(entry)


@dataclass(frozen=True, slots=True)
class Past:
    """Change number ``n``, counted from 1 in the order of time, made at ``t`` (seconds since 1970-01-01 UTC)."""

    n: int
    t: float
    fact: Remembered


class Memory:
    """What is remembered under `home`. ``redact`` takes secrets out of text. Safe from any thread and process."""

    def __init__(
        self, home: Path, limits: Callable[[], Limits], chronicle: Chronicle, proposals: Proposals,
        *, redact: Callable[[str], str] = redact,
    ) -> None:  # fmt: skip
        self.folder = home / FOLDER
        self.limits = limits
        self.proposals = proposals
        self._chronicle = chronicle
        self._redact = redact
        self._ours = Ours(home)
        self._targets = {name: Changing(self.folder, name, chronicle, self._ours, redact=redact) for name in FILES}

    def path(self, target: str) -> Path:
        """The file of ``memory`` or ``user``."""
        return self.folder / FILES[target]

    def entries(self, target: str) -> Entries:
        """The entries of ``memory`` or ``user``, as they are on disk.

        Raises:
            StoreError: the file cannot be read.
        """
        return self._targets[target].read().entries

    def findings(self, operations: Iterable[Operation]) -> tuple[Finding, ...]:
        """What is suspicious in what they would write."""
        return tuple(finding for each in operations for finding in found_in(each.content))

    def apply(  # noqa: PLR0913 - who changes what, and why
        self, target: str, operations: Sequence[Operation], *, by: str, session: str = "", why: str = "",
        consent: bool = False,
    ) -> Change:  # fmt: skip
        """Do all of it or nothing, on what is in the file at this moment. ``by`` is one of `core.learnt.WHO`;
        ``consent``: a person knows what is suspicious in it and wants it.

        Raises:
            MemoryFull: it would be longer than it may be, and than it was.
            MemoryThreat: an entry is suspicious and there is no consent.
            MemoryRefused: an operation cannot be done.
            StoreError: the disk is full or the home is read-only; nothing is lost.
        """
        tidy, notes = self._tidied(target, operations)
        wanted = tuple(each.content for each in tidy if found_in(each.content))
        if wanted and not consent:
            raise _threat(self.findings(tidy))
        made = self._targets[target].change(
            lambda now: self._made(target, now, applied(target, now, tidy, self._limit(target), self._shown)),
            Signed(by, session, why, wanted),
        )
        return replace(made, notes=notes)

    def tried(self, target: str, operations: Sequence[Operation]) -> Change:
        """What `apply` would do, which raises the same, without doing it."""
        tidy, notes = self._tidied(target, operations)
        if findings := self.findings(tidy):
            raise _threat(findings)
        now = self.entries(target)
        return self._made(target, now, applied(target, now, tidy, self._limit(target), self._shown), notes)

    def propose(  # noqa: PLR0913 - who changes what, and why
        self, target: str, operations: Sequence[Operation], *, by: str, session: str = "", why: str = "",
        findings: Iterable[Finding] = (),
    ) -> Proposal:  # fmt: skip
        """Leave it for the person to decide, with what is suspicious in it and any other ``findings``; what waits
        already is not left twice.

        Raises:
            MemoryRefused: no consent could make it possible.
            StoreError: the disk is full or the home is read-only.
        """
        tidy, _ = self._tidied(target, operations)
        found = dict.fromkeys([*findings, *self.findings(tidy)])
        said = [f"{each.what.rstrip('.')}: {each.excerpt}" if each.excerpt else each.what for each in found]
        what = plain(target, tidy)
        return self.proposals.add("memory", what, by=by, session=session, why=self._redact(why), findings=said)

    def accept(self, proposal: Proposal) -> Change:
        """Do what was proposed, with the person's consent, as the change of whoever proposed it.

        Raises:
            MemoryFull, MemoryRefused, StoreError: as `apply`; it still waits.
        """
        target, operations = understood(proposal.what)
        why = f"accepted by the person; {proposal.why}".rstrip("; ")
        made = self.apply(target, operations, by=proposal.by, session=proposal.session, why=why, consent=True)
        self.proposals.remove(proposal)
        return made

    def edit(self, target: str, text: str, by: str, *, base: Sequence[str] | None = None) -> Change:
        """Have the file hold the entries in `text`, and what others wrote since it held `base` (None: since now). A
        person edits: what is suspicious in it is wanted.

        Raises:
            MemoryFull: it would be longer than it may be, and than it was.
            MemoryRefused: a new entry cannot stand in the file.
            StoreError: the disk is full or the home is read-only.
        """
        begun = tuple(self.entries(target) if base is None else base)
        new, notes = self._edited(text, begun)
        consented = tuple(each for each in new if each not in begun and found_in(each))

        def make(now: Entries) -> Change:
            return self._fitting(target, now, merged(begun, new, now), notes)

        return self._targets[target].change(make, Signed(by, "", "edited", consented))

    def _edited(self, text: str, begun: Entries) -> tuple[Entries, tuple[str, ...]]:
        found = [(each, tidied(each, self._redact)) for each in read(scrub(text).encode()).entries if each not in begun]
        tidy = {each: made.text for each, made in found}
        notes = tuple(dict.fromkeys(note for _, made in found for note in made.notes))
        return tuple(tidy.get(each, each) for each in read(scrub(text).encode()).entries), notes

    def undo(self, by: str, number: int = 0) -> Change:
        """Take back change `number` (0: the latest), entry by entry, and nothing that came since. It is a change
        itself, which can be taken back.

        Raises:
            MemoryRefused: there is no such change, or what it wrote was changed since.
            MemoryFull: it would be longer than it may be, and than it was.
            StoreError: the disk is full or the home is read-only, or the store cannot be read.
        """
        past = self._past(number)
        fact, target = past.fact, past.fact.target

        def make(now: Entries) -> Change:
            return self._fitting(target, now, taken_back(fact.before, fact.after, now))

        return self._targets[target].change(make, Signed(by, "", f"undo of change {past.n}"))

    def history(self, n: int = 0) -> tuple[Past, ...]:
        """The latest `n` changes (0: all) in this home, the oldest first.

        Raises:
            StoreError: the store cannot be read.
        """
        known = [(t, fact) for t, fact in self._ours.of(self._chronicle.read(Remembered)) if fact.target in FILES]
        return tuple(Past(number, t, fact) for number, (t, fact) in enumerate(known, 1))[-n:]

    def block(self) -> str:
        """What a system prompt says of it; ``""`` when nothing is remembered. The same files give the same text."""
        kept: dict[str, Entries] = {}
        unread = []
        for target in FILES:
            try:
                kept[target] = without_secrets(self.entries(target), self._redact)
            except StoreError:
                unread.append(f"({FILES[target]} cannot be read.)")
        return "\n\n".join(filter(None, [block(kept, self.limits(), self._judge()), *unread]))

    def tool(self, session: Callable[[], str], by: str, writes: Callable[[], str]) -> Tool:
        """The tool ``memory`` for whoever is ``by``. `session` gives the conversation's id, `writes` says whether it
        may: ``on``, ``ask`` or ``off``."""
        return make_memory(self, session, by, writes)

    def _tidied(self, target: str, operations: Sequence[Operation]) -> tuple[tuple[Operation, ...], tuple[str, ...]]:
        checked(target, operations)
        self._fits_at_all(target, sum(len(each.content) for each in operations))
        found = [tidied(each.content, self._redact) if each.action != "remove" else None for each in operations]
        tidy = tuple(
            replace(each, content=made.text if made else "") for each, made in zip(operations, found, strict=True)
        )
        return tidy, tuple(dict.fromkeys(note for made in found if made for note in made.notes))

    def _fits_at_all(self, target: str, length: int) -> None:
        """Refuse what is far too long before anybody looks through it."""
        if length > max(LONGEST, 2 * self._limit(target)):
            raise MemoryRefused(
                f"That has {length:,} characters, of which {FILES[target]} holds {self._limit(target):,} at most: "
                "keep what matters of it. Nothing was changed."
            )

    def _made(self, target: str, before: Entries, after: Entries, notes: tuple[str, ...] = ()) -> Change:
        return Change(target, before, after, self._limit(target), notes)

    def _fitting(self, target: str, before: Entries, after: Entries, notes: tuple[str, ...] = ()) -> Change:
        fits(target, before, after, self._limit(target), self._shown)
        return self._made(target, before, after, notes)

    def _limit(self, target: str) -> int:
        return self.limits().of(target)

    def _past(self, number: int) -> Past:
        past = self.history()
        chosen = [each for each in past if each.n == (number or len(past))]
        if not chosen:
            there = f"there are 1 to {len(past)}" if past else "nothing has been changed yet"
            raise MemoryRefused(f"There is no change {number}: {there}." if number else f"There is no change: {there}.")
        return chosen[0]

    def _judge(self) -> Callable[[str], str]:
        wanted = frozenset[str]().union(*(each.consented() for each in self._targets.values()))
        return lambda entry: "" if digest(entry) in wanted else next((each.what for each in found_in(entry)), "")

    def _shown(self, entry: str) -> str:
        why = self._judge()(entry)
        return f"(not shown: {why[0].lower()}{why[1:].rstrip('.')})" if why else self._redact(entry)


def _threat(findings: tuple[Finding, ...]) -> MemoryThreat:
    said = "; ".join(dict.fromkeys(each.what.rstrip(".") for each in findings))
    return MemoryThreat(f"{said}. Nothing was changed.", findings)
