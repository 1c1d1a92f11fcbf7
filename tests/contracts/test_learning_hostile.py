"""Whatever is put into a memory or among the skills: no hostile part of it takes effect, and each is named."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import suppress
from functools import cached_property
from itertools import count
from pathlib import Path

import pytest

from hermes_kernel.core.learning.memory import Limits, MemoryRefused, Operation
from hermes_kernel.core.learning.skill import SkillError
from hermes_kernel.core.learning.threats import threats
from hermes_kernel.learning.memory import Memory
from hermes_kernel.learning.proposals import Proposals
from hermes_kernel.learning.skills.history import History
from hermes_kernel.learning.skills.library import Library
from hermes_kernel.learning.skills.reading import violations
from hermes_kernel.learning.skills.workshop import Workshop
from hermes_kernel.testing import FastClock
from hermes_kernel.world.chronicle import Chronicle
from hermes_kernel.world.store.memory import MemoryLog
from tests.contracts.hostile.archives import parcels
from tests.contracts.hostile.folders import PWNED, SECRET, folders, laid, skill
from tests.contracts.hostile.names import ESCAPES, SKILLS
from tests.contracts.hostile.texts import BENIGN, texts

UNSEEN = "\x00\x07\x08\x1b\x85\x9b\u200b\u202e\u2028\u2029\ufeff"
PATIENCE = 10.0
"""Seconds for one hostile skill on a busy machine; what hangs, hangs for ever."""


class Home:
    """A home, and a folder beside it in which nothing may change."""

    def __init__(self, place: Path) -> None:
        self.path, self.outside = place / "home", place / "outside"
        self.skills = self.path / "skills"
        self.skills.mkdir(parents=True)
        self.outside.mkdir()
        (self.outside / "secret.md").write_text(SECRET)
        numbers = count()
        new_id = lambda: f"id-{next(numbers)}"  # noqa: E731
        self.chronicle = Chronicle(MemoryLog(), new_id)
        self.proposals = Proposals(self.path, FastClock(), new_id)
        self.memory = Memory(self.path, lambda: Limits(400_000, 400_000), self.chronicle, self.proposals)
        self.library = Library(self.path, place / "none", self.chronicle)
        self.before = self.tree()

    @cached_property
    def workshop(self) -> Workshop:
        """Where skills are made and changed."""
        return Workshop(self.library, History(self.path / "history"), self.chronicle, self.proposals, self.path)

    def tree(self) -> dict[str, bytes]:
        """Everything outside of the home, but for what the case itself laid there."""
        return {str(each): each.read_bytes() for each in self.outside.rglob("*") if each.is_file()}

    def is_clean(self) -> bool:
        """Nothing was run, and nothing written elsewhere."""
        return self.tree() == self.before and not list(self.path.parent.rglob(PWNED)) and not Path(PWNED).exists()


@pytest.fixture
def homes(tmp_path):
    """A new home each time it is called."""
    numbers = count()

    def make() -> Home:
        place = tmp_path / str(next(numbers))
        place.mkdir()
        return Home(place)

    return make


def families(cases):
    """The cases by the part of their name before the number."""
    found = defaultdict(list)
    for case in cases:
        found[case.name.rpartition("-")[0]].append(case)
    return [pytest.param(cases, id=family) for family, cases in found.items()]


def shown(text: str) -> str:
    """A text as it is compared: the white space in it may be set otherwise."""
    return " ".join(text.split())


def test_there_are_five_hundred_at_least_and_no_two_by_one_name():
    names = [each.name for cases in (texts(), folders(), parcels()) for each in cases]
    assert len(names) == len(set(names))
    assert len(names) >= 500
    assert len(list(texts())) + len([each for each in folders() if not each.offered]) >= 400


# --- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cases", families(each for each in texts() if "separators" not in each.name))
def test_a_hostile_text_is_named(cases):
    missed = {each.name: each.text[-200:] for each in cases if not each.fault & {f.kind for f in threats(each.text)}}
    assert not missed


def test_ordinary_notes_are_left_in_peace():
    assert not {text: threats(text) for text in BENIGN if threats(text)}


def test_a_finding_shows_no_character_that_is_not_seen():
    for each in texts():
        for finding in threats(each.text):
            assert not set(finding.excerpt + finding.what) & {*UNSEEN, "\n", "\r"}, each.name


@pytest.mark.parametrize("cases", families(texts()))
def test_a_model_cannot_have_it_remembered(cases, homes):
    home, missed = homes(), []
    for each in cases:
        named = ""
        try:
            change = home.memory.apply("memory", [Operation("add", each.text)], by="model")
            named = " ".join(change.notes)
            assert len(change.after) == 1, each.name
        except MemoryRefused as error:
            named = str(error)
        block = home.memory.block()
        if not named or each.canary in block or set(block) & set(UNSEEN):
            missed.append((each.name, named, each.canary))
        for entry in home.memory.entries("memory"):
            home.memory.apply("memory", [Operation("remove", old=entry)], by="person", consent=True)
    assert not missed


@pytest.mark.parametrize("cases", families(texts()))
def test_written_into_the_file_by_hand_it_is_in_no_prompt_and_costs_no_other_entry(cases, homes):
    home, missed = homes(), []
    path = home.path / "memories" / "MEMORY.md"
    path.parent.mkdir(exist_ok=True)
    for each in cases:
        path.write_text(f"Ann likes tea.\n§\n{each.text}\n§\nBuilds run at noon.", encoding="utf-8")
        block = home.memory.block()
        if each.canary in block or set(block) & set(UNSEEN):
            missed.append((each.name, each.canary))
        assert "Ann likes tea." in block, each.name
        assert "Builds run at noon." in block, each.name
    assert not missed


# --- skills that lie there --------------------------------------------------------------------------------------------


def _look(home: Home, folder: Path) -> tuple[str, str, str]:
    """What a model is shown of the skills, what it reads of this one, and what is said against it."""
    index = home.library.index()
    told = [home.library.search("tidies"), home.library.news("")]
    read, named = "", ""
    with suppress(SkillError):
        skill = home.library.get(folder.name)
        named = " ".join([skill.why, *(each.what for each in skill.findings), *violations(folder)])
    for file in ("", "SKILL.md", "references/more.md", "references/home/secret.md", "references/up/SKILL.md"):
        try:
            read += home.library.read(folder.name, file)
        except SkillError as error:
            told.append(str(error))
            if file == "" or (folder / file).is_symlink() or (folder / file).exists():
                named += str(error)
    assert not set(str(told)) & set(UNSEEN)
    return index, read, named


@pytest.mark.parametrize("cases", families(folders()))
def test_a_hostile_skill_on_disk_is_named_and_has_no_effect(cases, homes):
    missed = []
    for each in cases:
        home = homes()
        try:
            folder = each.make(home.skills, home.outside)
        except OSError:
            continue  # this disk has no such thing
        home.before = home.tree()
        laid(home.skills, "ordinary", skill("ordinary", "Is left in peace."))
        began = time.monotonic()
        index, read, named = _look(home, folder)
        wrong = {
            "in the index": each.canary in index or (not each.offered and f"{folder.name}:" in index),
            "read": not each.offered and each.canary in read,
            "the outside read": SECRET in read,
            "unseen characters": bool(set(index) & set(UNSEEN)),
            "lines forged": len([line for line in index.splitlines() if "root-shell" in line]) > 1
            or "\n- root-shell" in index,
            "not named": not named and not each.offered,
            "the others gone": "Is left in peace." not in index,
            "not clean": not home.is_clean(),
            "slow": time.monotonic() - began > PATIENCE,
        }
        if any(wrong.values()):
            missed.append((each.name, [what for what, is_so in wrong.items() if is_so], named[:200]))
    assert not missed


@pytest.mark.parametrize("name", SKILLS)
def test_a_name_that_is_none_finds_nothing(name, homes):
    home = homes()
    laid(home.skills, "tidy", skill())
    for act in (home.library.get, home.library.read):
        with pytest.raises(SkillError) as refused:
            act(name)
        assert not set(str(refused.value)) & {*UNSEEN, "\n", "\r"}
    assert home.is_clean()


@pytest.mark.parametrize("file", [each for each in ESCAPES if each != "SKILL.md/"])
def test_no_name_of_a_file_leads_out_of_the_skill(file, homes):
    home = homes()
    laid(home.skills, "tidy", skill())
    (home.skills / "outside.md").write_text(SECRET)
    (home.path / "outside.md").write_text(SECRET)
    with pytest.raises(SkillError) as refused:
        home.library.read("tidy", file)
    assert not set(str(refused.value)) & set(UNSEEN)


# --- skills that are made or installed --------------------------------------------------------------------------------


@pytest.mark.parametrize("cases", families(each for each in texts() if "separators" not in each.name))
def test_a_model_cannot_make_a_skill_of_it_without_the_person(cases, homes):
    home, missed = homes(), []
    for n, each in enumerate(cases):
        name, named = f"made-{n}", ""
        try:
            done = home.workshop.create(name, skill(name, body=each.text), by="model")
            named = done.text if done.proposal or done.findings else ""
        except SkillError as error:
            named = str(error)
        if not named or each.canary in home.library.index() or name in home.library.all():
            missed.append((each.name, named))
    assert not missed


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_of_such_a_name_is_made_nowhere_or_whole_in_its_place(name, homes):
    home = homes()
    with suppress(SkillError):
        home.workshop.create(name, skill(name.encode("utf-8", "replace").decode()), by="model")
    made = [each for each in home.path.rglob("SKILL.md") if "history" not in each.parts]
    assert all(each.parent.parent == home.skills for each in made)
    assert home.is_clean()


@pytest.mark.parametrize("parcel", list(parcels()), ids=lambda parcel: parcel.name)
def test_a_hostile_parcel_writes_nothing_elsewhere_and_is_named(parcel, homes):
    home = homes()
    place = home.path.parent / "place"
    place.mkdir()
    path = parcel.make(place, home.outside)
    home.before = home.tree()
    around = {each.name for each in home.path.parent.iterdir()}
    named = ""
    try:
        named = " ".join(each.what for each in home.workshop.install(path, anyway=True).findings)
    except SkillError as error:
        named = str(error)
        assert not home.library.all()
    assert not set(named) & set(UNSEEN)
    for name in home.library.all():
        for file in home.skills.joinpath(name).rglob("*"):
            assert not file.is_symlink()
            assert SECRET not in (file.read_text(errors="replace") if file.is_file() else "") or parcel.whole
    assert home.is_clean()
    assert {each.name for each in home.path.parent.iterdir()} == around
    assert named or parcel.whole
