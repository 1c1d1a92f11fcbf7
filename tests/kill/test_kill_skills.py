"""Whatever moment a process dies at, a skill is what it was or what it was to become, whole; and work goes on."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_kernel.core.learning.skill import State
from tests.contracts.skilled import tree
from tests.kill.dying import die_at
from tests.kill.skills import NAME, TEXT, do, workshop

VERBS = ("create", "patch", "write_file", "archive", "uninstall", "install")
MOST = 400  # steps of a verb


def made_home(home: Path) -> None:
    made, _ = workshop(home)
    made.create(NAME, TEXT, by="person")
    source = home / "source" / NAME
    source.mkdir(parents=True)
    (source / "SKILL.md").write_text(TEXT.replace("line 9", "line nine"))
    (source / "more.md").write_text("more")


def in_a_child(work: Callable[[], None]) -> bool:
    """Whether a process that does it lives to the end."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0
        return True
    assert os.WTERMSIG(status) == signal.SIGKILL
    return False


def seen(home: Path) -> dict[str, dict[str, bytes]]:
    """The skills that a reader finds, each with its files."""
    _, library = workshop(home)
    return {
        name: tree(Path(skill.folder)) if skill.state is not State.ARCHIVED else {}
        for name, skill in library.all().items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_a_death_at_any_step_leaves_the_old_skill_or_the_new_one(tmp_path: Path, verb: str):
    made_home(tmp_path / "made")
    shutil.copytree(tmp_path / "made", tmp_path / "whole")
    before = seen(tmp_path / "whole")
    do(workshop(tmp_path / "whole")[0], verb)
    after = seen(tmp_path / "whole")
    assert before != after
    for step in range(1, MOST):
        home = tmp_path / f"home{step}"
        shutil.copytree(tmp_path / "made", home)

        def work(home: Path = home, step: int = step) -> None:
            made, _ = workshop(home)
            die_at(step)
            do(made, verb)

        lived = in_a_child(work)
        assert seen(home) in (before, after), f"at step {step}"
        made, _ = workshop(home)
        made.create("next", TEXT.replace(NAME, "next"), by="person")
        assert {name: files for name, files in seen(home).items() if name != "next"} in (before, after)
        assert not [each for each in (home / "skills").iterdir() if ".~" in each.name]
        if lived:
            assert step > 3
            return
    pytest.fail("it never ends")
