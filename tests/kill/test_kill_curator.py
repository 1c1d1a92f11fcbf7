"""The curator is killed at every touch of the disk: every skill stays whole, and the next run or rollback ends the work."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_kernel.core.learning.curating import State
from hermes_kernel.core.learning.curating_runs import DONE, RUNNING
from tests.contracts.curated import Tended, held, text
from tests.kill.curating import LATER, NAMES, make, tended
from tests.kill.nursery import ROOT, Nursery, nursery

EVERY = 7  # touches from one death to the next; prime, so that it falls on another step of each skill
EVERYBODY = {*NAMES, "stale", "used", "mine"}


@pytest.fixture(scope="module")
def children() -> Iterator[Nursery]:
    with nursery("tests.kill.curating:child") as children:
        yield children


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A home in which a run is due."""
    home = tmp_path_factory.mktemp("curated") / "home"
    make(home)
    return home


def skills(made: Tended) -> dict[str, bytes]:
    return {name: content for name, content in made.bytes().items() if not name.rpartition("/")[2].startswith(".")}


def check_whole(home: Path) -> None:
    """Each skill is in one place, with what it said."""
    found = [path.parent.name for path in (home / "skills").rglob("SKILL.md") if ".~" not in path.as_posix()]
    assert sorted(found) == sorted(EVERYBODY)
    for path in (home / "skills").rglob("SKILL.md"):
        assert path.read_text() == text(path.parent.name)


def ended(home: Path) -> Tended:
    """The home after another run, which does what was left."""
    made = tended(home, LATER + 3_600)
    asyncio.run(made.curator.run(review=False))
    assert all(run.status != RUNNING for run in made.curator.runs())
    return made


def deaths(children: Nursery, home: Path, what: str) -> Iterator[Path]:
    """Copies of the home in which the work died later and later, until it does not die any more."""
    for at in itertools.count(1, EVERY):
        copy = home.parent / f"{what}-{at}"
        shutil.copytree(home, copy, symlinks=True)
        code = children.run({"home": str(copy), "what": what, "at": at})
        assert code in {0, -signal.SIGKILL}
        yield copy
        shutil.rmtree(copy)
        if code == 0:
            return


@pytest.mark.slow
def test_a_run_that_is_killed_anywhere_leaves_every_skill_whole_and_the_next_one_ends_it(children, home):
    count = 0
    for copy in deaths(children, home, "die"):
        check_whole(copy)
        states = ended(copy).states()
        assert {states[name] for name in NAMES} == {State.ARCHIVED}
        assert (states["stale"], states["used"], states["mine"]) == (State.STALE, State.ACTIVE, State.ACTIVE)
        check_whole(copy)
        count += 1
    assert count > 5


@pytest.mark.slow
def test_a_rollback_that_is_killed_anywhere_is_ended_by_another(children, home, tmp_path):
    before = skills(tended(home, LATER))
    curated = tmp_path / "curated"
    shutil.copytree(home, curated, symlinks=True)
    assert children.run({"home": str(curated), "what": "die", "at": 0}) == 0
    after = skills(tended(curated, LATER))
    assert after != before
    count = 0
    for copy in deaths(children, curated, "back"):
        made = tended(copy, LATER + 3_600)
        if not any(run.action == "rollback" and run.done and run.status == DONE for run in made.curator.runs()):
            first = next(run for run in made.curator.runs() if run.began >= LATER)
            asyncio.run(made.curator.rollback(first.id))
        assert skills(made) == before
        assert all(run.status != RUNNING for run in made.curator.runs())
        count += 1
    assert count > 3


def test_of_many_that_come_at_once_one_runs(home, tmp_path):
    copy = tmp_path / "home"
    shutil.copytree(home, copy, symlinks=True)
    command = [sys.executable, "-m", "tests.kill.curating", str(copy)]
    visitors = [subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE) for _ in range(4)]
    told = [visitor.communicate(timeout=120) for visitor in visitors]
    assert [visitor.returncode for visitor in visitors] == [0] * 4, told
    assert len([out for out, _ in told if out.strip()]) == 1
    assert len(tended(copy, LATER).curator.runs()) == 2, "the one before, and one more"
    assert held(copy / "skills/.archive").keys() == {f"{name}/SKILL.md" for name in NAMES}
