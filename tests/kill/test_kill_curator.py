"""The curator is killed at every touch of the disk: every skill stays whole, and the next run or rollback ends the work."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_kernel.core.learning.curating import State
from hermes_kernel.core.learning.curating_runs import DONE, RUNNING
from tests.contracts.curated import Tended, held, text
from tests.kill.curating import LATER, NAMES, tended

ROOT = Path(__file__).parents[2]
EVERYBODY = {*NAMES, "stale", "used", "mine"}


def started(home: Path, *what: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.kill.curating", str(home), *what]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def done(home: Path, *what: str) -> int:
    process = started(home, *what)
    _, error = process.communicate(timeout=120)
    assert process.returncode in {0, -signal.SIGKILL}, error
    return process.returncode


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A home in which a run is due."""
    made = tmp_path_factory.mktemp("curated") / "home"
    assert done(made) == 0
    return made


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


def deaths(home: Path, tmp_path: Path, what: str, every: int):
    """Copies of the home in which the work died later and later, until it does not die any more."""
    at = 1
    while True:
        copy = tmp_path / f"{what}-{at}"
        shutil.copytree(home, copy, symlinks=True)
        code = done(copy, what, str(at))
        yield copy
        shutil.rmtree(copy)
        if code == 0:
            return
        at += every


@pytest.mark.slow
def test_a_run_that_is_killed_anywhere_leaves_every_skill_whole_and_the_next_one_ends_it(home, tmp_path):
    count = 0
    for copy in deaths(home, tmp_path, "die", 7):
        check_whole(copy)
        states = ended(copy).states()
        assert {states[name] for name in NAMES} == {State.ARCHIVED}
        assert (states["stale"], states["used"], states["mine"]) == (State.STALE, State.ACTIVE, State.ACTIVE)
        check_whole(copy)
        count += 1
    assert count > 5


@pytest.mark.slow
def test_a_rollback_that_is_killed_anywhere_is_ended_by_another(home, tmp_path):
    before = skills(tended(home, LATER))
    curated = tmp_path / "curated"
    shutil.copytree(home, curated, symlinks=True)
    assert done(curated, "die", "0") == 0
    after = skills(tended(curated, LATER))
    assert after != before
    count = 0
    for copy in deaths(curated, tmp_path, "back", 7):
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
    visitors = [started(copy, "visit") for _ in range(4)]
    told = [visitor.communicate(timeout=120) for visitor in visitors]
    assert [visitor.returncode for visitor in visitors] == [0] * 4, told
    assert len([out for out, _ in told if out.strip()]) == 1
    assert len(tended(copy, LATER).curator.runs()) == 2, "the one before, and one more"
    assert held(copy / "skills/.archive").keys() == {f"{name}/SKILL.md" for name in NAMES}
