"""The skills of a home as they are at this moment: listed, found, read and marked. Changes no file of a skill.

Folders ``skills/[category/]NAME`` of the home, and those that come with the package; of one name, the home's is taken.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import neg
from pathlib import Path

from hermes_kernel.core.learning.skill import NoSkill, Skill, SkillError, State, Withheld
from hermes_kernel.core.learning.skill_index import ROOM, harmless_line, index, listed, nameable
from hermes_kernel.core.learning.skill_news import Now, news
from hermes_kernel.core.learning.skill_paths import MAIN
from hermes_kernel.core.learning.skill_search import Text, found, stems
from hermes_kernel.core.learnt import SkillMarked, SkillUsed
from hermes_kernel.learning.skills.disk import content, files, inside, main
from hermes_kernel.learning.skills.marks import Marks
from hermes_kernel.learning.skills.opened import Opened, Readers
from hermes_kernel.learning.skills.reading import understood
from hermes_kernel.learning.skills.shelf import Shelf, Spot
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.store.disk import StoreError
from hermes_kernel.world.tools import Tool

INDEXES = 16  # of sessions that may still ask for news
CHANGES: Mapping[str, Mapping[str, bool]] = {
    "pinned": {"pinned": True}, "unpinned": {"pinned": False}, "disabled": {"disabled": True},
    "enabled": {"disabled": False}, "stale": {"stale": True}, "active": {"stale": False},
}  # fmt: skip


class Library:
    """The skills under ``home/skills`` and in the folder `bundled`. Safe from any thread."""

    def __init__(self, home: Path, bundled: Path, chronicle: Chronicle) -> None:
        self.home = home
        self.bundled = bundled
        self.chronicle = chronicle
        self.marks = Marks(home / "skills")
        self._shelf = Shelf(home / "skills", bundled, self.marks)
        self._readers = Readers()
        self._indexes: dict[str, Mapping[str, Spot]] = {}

    def all(self) -> Mapping[str, Skill]:
        """Every skill there is by name, in the order of names: offered, disabled, held, broken and archived ones."""
        return {name: self._shelf.skill(spot) for name, spot in sorted(self._shelf.spots().items())}

    def get(self, name: str) -> Skill:
        """The skill `name` (or ``category/name``), as it is on disk now, whatever its state.

        Raises:
            NoSkill: there is none of that name; the text names those that come close.
        """
        spots = self._shelf.spots()
        spot = spots.get(name) or next((each for each in spots.values() if each.path == name), None)
        if spot is None:
            raise NoSkill(_none(name, spots))
        return self._shelf.skill(spot)

    def names(self) -> tuple[str, ...]:
        """Those of the skills that are not archived, in order, without a look into any."""
        return tuple(sorted(name for name, spot in self._shelf.spots().items() if not spot.archived))

    def open(self, name: str, file: str = "") -> Opened:
        """The skill's SKILL.md, or a file in its folder, as it is on disk now.

        Raises:
            NoSkill: there is no such skill, or no such file in it.
            Withheld: it is held, broken, archived or disabled; the text says why and what to do.
            SkillError: the file cannot be read.
        """
        return self._open(self.get(name), file)

    def read(self, name: str, file: str = "") -> str:
        """The text of what `open` opens, and raises as that; "" where it is no text."""
        return self.open(name, file).text or ""

    def _open(self, skill: Skill, file: str) -> Opened:
        if not skill.offered:
            raise Withheld(withheld(skill))
        path = inside(skill.folder, file)
        opened = Opened(skill, file or MAIN, content(path))
        findings = () if opened.text is None else self._shelf.suspicious(skill, opened.digest, opened.text)
        if findings:
            raise Withheld(
                f"{opened.file} of the skill {skill.name!r} is held: {findings[0].what}. The person can look at it and "
                f"consent: %hermes skill {skill.name} trust"
            )
        return opened

    def use(self, name: str, *, by: str = "person", session: str = "") -> str:
        """The text of a skill that somebody asked for by its name, which is recorded; raises as `open`."""
        opened = self.open(name)
        if session:
            self.saw(opened.skill.name, MAIN, opened.digest, session)
        self.used(SkillUsed(opened.skill.name, "use", by=by, session=session))
        return opened.text or ""

    def used(self, fact: SkillUsed) -> None:
        """Record that a skill was read. That it cannot be recorded keeps nobody from reading."""
        with suppress(StoreError):
            self.chronicle.record(fact)

    def uses(self) -> Mapping[str, tuple[int, float]]:
        """How often each skill was read, and when it last was, in seconds since 1970-01-01 UTC; none where the store
        cannot be read."""
        counted: dict[str, tuple[int, float]] = {}
        with suppress(StoreError):
            for dated in self.chronicle.read(SkillUsed):
                if isinstance(dated.fact, SkillUsed):
                    before, last = counted.get(dated.fact.name, (0, 0.0))
                    counted[dated.fact.name] = before + 1, max(last, dated.t)
        return counted

    # --- for prompts

    def index(self, room: int = ROOM) -> str:
        """What a system prompt says of the skills, in at most `room` characters however many there are; "" for none."""
        spots = self._shelf.offerable()
        by_name = sorted(spots, key=lambda name: (not spots[name].mark.pinned, name))
        whole = nameable(by_name, room)
        text = self._indexed(spots, by_name, room) if whole else ""
        if not whole or not all(listed(text).said.values()):
            uses, never = self.uses(), (0, 0.0)
            by_use = sorted(by_name, key=lambda name: (not spots[name].mark.pinned, *map(neg, uses.get(name, never))))
            text = self._indexed(spots, by_use, room, whole=whole)
        self._shelf.keep()
        self._indexes.pop(text, None)
        self._indexes[text] = spots
        for old in list(self._indexes)[:-INDEXES]:
            self._indexes.pop(old, None)
        return text

    def _indexed(self, spots: Mapping[str, Spot], order: Sequence[str], room: int, *, whole: bool = True) -> str:
        looked = (self._shelf.skill(spots[name]) for name in order)
        told = ((skill.name, skill.description if skill.offered else None) for skill in looked)
        return index(told, len(order), room, whole=whole)

    def news(self, since: str, reader: str = "") -> str:
        """What has come, gone and is described otherwise since `since`, an `index` of before, and which of the skills
        that the session `reader` has read are others by now; "" where nothing is. It is the same text until something
        changes again. An index of another process is compared by what it tells."""
        spots, before = self._shelf.offerable(), self._indexes.get(since)
        if spots == before:
            return ""
        then = listed(since)
        if before is None:
            names = {*then.said, *(() if then.more else spots)}
        else:
            names = {name for name in {*spots, *before} if spots.get(name) != before.get(name)}
        return news(then, (self._now(name, spots, before, reader, whole=not then.more) for name in names))

    def _now(
        self, name: str, spots: Mapping[str, Spot], before: Mapping[str, Spot] | None, reader: str, *, whole: bool
    ) -> Now:
        if name not in spots:
            return Now(name, None)
        skill = self._shelf.skill(spots[name])
        if not skill.offered:
            return Now(name, None)
        earlier = (before or {}).get(name)
        consented = earlier is not None and earlier.mark.trusted != spots[name].mark.trusted
        read = self.seen(name, MAIN, reader)
        fresh = whole or (before is not None and (earlier is None or consented))
        return Now(name, skill.description, fresh, reread=bool(read) and read != skill.digest)

    def search(self, query: str, limit: int = 10) -> tuple[Skill, ...]:
        """The offered skills that the words of `query` are found in, as they are on disk now, the best first; without a
        word, the first by name."""
        spots = self._shelf.offerable()
        order = found(query, _texts(spots.values(), query)) if query.strip() else sorted(spots)
        best: list[Skill] = []
        for name in order:
            skill = self._shelf.skill(spots[name])
            if skill.offered:
                best.append(skill)
            if len(best) >= limit:
                break
        return tuple(best)

    # --- what is said of them

    def mark(self, name: str, mark: str, by: str, session: str = "", why: str = "") -> Skill:
        """Have the skill `name` be `mark` (one of `core.learning.skill.MARKS`), and record it. ``trusted`` is of every
        file in its folder with the content it has now.

        Raises:
            NoSkill: there is none of that name.
            SkillError: it is no mark, or cannot be written.
        """
        skill = self.get(name)
        if mark == "trusted":
            self.marks.change(skill.name, trusted=_digests(skill.folder))
        elif mark in CHANGES:
            self.marks.change(skill.name, **CHANGES[mark])
        else:
            raise SkillError(f"{harmless_line(mark, 40)!r} is no mark; there are: trusted, {', '.join(CHANGES)}.")
        self.chronicle.record(SkillMarked(skill.name, mark, by, session, why))
        return self.get(name)

    def saw(self, name: str, file: str, digest: str, reader: str) -> None:
        """`reader`, a session's id, knows all of `file` ("" or ``SKILL.md``: that) as its SHA-256 `digest` has it: it
        read or wrote it."""
        self._readers.saw((reader, name, file or MAIN), digest)

    def saw_part(self, opened: Opened, reader: str, start: int, end: int) -> None:
        """`reader` was shown the characters of an opened file from `start` up to `end`."""
        self._readers.saw_part((reader, opened.skill.name, opened.file), opened, start, end)

    def seen(self, name: str, file: str = "", reader: str = "") -> str:
        """The SHA-256, in hex digits, of the content of `file` that `reader` has read from its beginning to its end; ""
        where it never has. It may be another by now: compare it with what is there."""
        return self._readers.seen((reader, name, file or MAIN))

    def tools(self, session: Callable[[], str], by: str = "model", chars: int = 50_000) -> tuple[Tool, ...]:
        """``skill_view`` and ``skills_search`` for a model that acts as `by` in `session`; an answer holds at most
        `chars` characters."""
        from hermes_kernel.learning.skills.viewing import make_skill_view, make_skills_search

        return make_skill_view(self, session, by, chars), make_skills_search(self)


def withheld(skill: Skill) -> str:
    """Why a skill is not offered, and what a person can do."""
    name = harmless_line(skill.name, 128)
    mend = {
        State.HELD: f"The person can look at it (%hermes skill {name}) and consent: %hermes skill {name} trust",
        State.BROKEN: "The person can mend its SKILL.md.",
        State.DISABLED: f"The person can change that: %hermes skill {name} enable",
        State.ARCHIVED: f"The person can bring it back: %hermes skill {name} restore",
    }[skill.state]
    why = f": {skill.why.rstrip('.')}" if skill.why else ""
    return f"The skill {name!r} is {skill.state}{why}. {mend}"


def _none(name: str, spots: Mapping[str, Spot]) -> str:
    known = sorted(each for each, spot in spots.items() if not spot.archived)
    close = difflib.get_close_matches(name, known, 5) or [each for each in known if name.lower() in each.lower()][:5]
    some = close or known[:8]
    hint = f"{'Close to it' if close else 'There are'}: {', '.join(some)}." if some else "There are none yet."
    more = " `%hermes skills` and `skills_search` find others." if len(known) > len(some) else ""
    return f"There is no skill {harmless_line(name, 80)!r}. {hint}{more}"


def _texts(spots: Iterable[Spot], query: str) -> Iterator[Text]:
    """What is looked through; what plainly has no word of `query` is not even read as a skill."""
    wanted = [stem.encode() for stem in stems(query)]
    for spot in spots:
        with suppress(SkillError):
            raw = main(spot.place.folder)
            there = (spot.name.encode("utf-8", "replace") + raw).lower()
            if not raw.isascii() or any(stem in there for stem in wanted):
                read = understood(raw).front
                yield Text(spot.name, read.description, read.tags, read.body)


def _digests(folder: str) -> frozenset[str]:
    held: set[str] = set()
    for name in (MAIN, *files(folder)):
        with suppress(SkillError):
            held.add(hashlib.sha256(content(inside(folder, name))).hexdigest())
    return frozenset(held)
