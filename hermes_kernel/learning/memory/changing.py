"""One file of what is remembered and the record of its changes, kept in step: a fact first, then the file, and what
the file holds beyond the facts is a change by hand. Nobody's entries are overwritten."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from hermes_kernel.core.learning.memory import FILES, SEPARATOR, Change
from hermes_kernel.core.learning.memory_merge import merged
from hermes_kernel.core.learnt import Remembered
from hermes_kernel.learning.memory.files import Found, NoteFile, digested
from hermes_kernel.learning.memory.known import Known, digest, keep, known
from hermes_kernel.learning.memory.ours import Ours
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.store.disk import StoreError

TRIES = 50  # times a file may be changed by somebody else while it is being changed here

Entries = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Signed:
    """Who makes a change, one of `core.learnt.WHO`, in which conversation, and why. ``consented`` are the suspicious
    entries in it that a person wants all the same."""

    by: str
    session: str = ""
    why: str = ""
    consented: tuple[str, ...] = ()


class Changing:
    """Changes to one target's file in `folder`. ``redact`` takes secrets out of what is recorded."""

    def __init__(
        self, folder: Path, target: str, chronicle: Chronicle, ours: Ours, *, redact: Callable[[str], str]
    ) -> None:  # fmt: skip
        self._target = target
        self._ours = ours
        self._file = NoteFile(folder / FILES[target])
        self._known = folder / f".{FILES[target]}.known"
        self._chronicle = chronicle
        self._redact = redact

    def read(self) -> Found:
        """What is in the file. Raises `StoreError`: it cannot be read."""
        return self._file.read()

    def consented(self) -> frozenset[str]:
        """Digests of the suspicious entries that a person wants."""
        last = known(self._known)
        return last.consented if last else frozenset()

    def change(self, make: Callable[[Entries], Change], signed: Signed) -> Change:
        """Have the file hold what `make` makes of what is in it at that moment. Raises what `make` raises, and then
        nothing was changed.

        Raises:
            StoreError: the disk is full, the home is read-only, or somebody else changes it all the time.
        """
        with self._file.alone():
            for _ in range(TRIES):
                found = self._file.read()
                self._explain(found)
                if late := self._late(found):
                    self._write(found, late, Signed("hand"))
                    continue
                made = make(found.entries)
                if not made.changed or self._write(found, made, signed):
                    return made
        raise StoreError(f"{self._file.path} was changed {TRIES} times by another program meanwhile: try again later")

    def _write(self, found: Found, made: Change, signed: Signed) -> bool:
        """Whether it was done; not when somebody else changed the file in that moment."""
        before, after = self._safe(made.before), self._safe(made.after)
        fact = Remembered(self._target, before, after, signed.by, signed.session, self._redact(signed.why))
        with self._file.prepared(made.after) as fresh:
            self._file.keep_beside(found)
            self._keep(before, after, found, {digest(each) for each in signed.consented})
            if not self._file.still(found):
                return False
            self._record(fact)
            return self._file.swap(found, fresh)

    def _explain(self, found: Found) -> None:
        """Record what the file holds and no fact has brought about."""
        now = self._safe(found.entries)
        last = known(self._known)
        if last and now == last.after:
            return
        base = self._recorded()
        if now != base:
            self._record(Remembered(self._target, base, now, "hand"))
        if last or now:
            self._keep(now, now)

    def _recorded(self) -> Entries:
        """The entries as the facts have them: whatever was to be written last may have been recorded or not."""
        facts = [fact for _, fact in self._ours.of(self._chronicle.read(Remembered)) if fact.target == self._target]
        return facts[-1].after if facts else ()

    def _record(self, fact: Remembered) -> None:
        self._ours.add(fact)
        self._chronicle.record(fact)

    def _late(self, found: Found) -> Change | None:
        """What somebody wrote into the file after another had taken its place, as a change by hand."""
        last = known(self._known)
        late = self._file.late(last.number, last.digest) if last and last.number else None
        if last is None or late is None:
            return None
        made = Change(self._target, found.entries, merged(last.before, self._safe(late), found.entries), 0)
        return made if made.changed else None

    def _keep(self, before: Entries, after: Entries, found: Found | None = None, consented: Iterable[str] = ()) -> None:
        """``found`` is about to be replaced."""
        still = {digest(each) for each in after}
        number, raw = (found.number, digested(found.raw)) if found else (0, "")
        wanted = frozenset((self.consented() | set(consented)) & still)
        keep(self._known, Known(before, after, wanted, number, raw))

    def _safe(self, entries: Entries) -> Entries:
        return without_secrets(entries, self._redact)


def without_secrets(entries: Entries, redact: Callable[[str], str]) -> Entries:
    """`entries` without what `redact` takes out. All are looked at as one text first: it is quicker, and there is
    seldom one."""
    whole = SEPARATOR.join(entries)
    return entries if redact(whole) == whole else tuple(redact(each) for each in entries)
