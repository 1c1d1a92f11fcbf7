"""A folder for one process goes with it, however it ended; nothing else goes with it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_kernel.world.passing_folder import PassingFolder

MADE = """
import sys
from hermes_kernel.world.passing_folder import PassingFolder
folder = PassingFolder("python")
(folder.path / "written").touch()
print(folder.path, flush=True)
input()
"""


@pytest.fixture
def another() -> Iterator[subprocess.Popen[str]]:
    """A process that has made one and lives."""
    with subprocess.Popen(
        [sys.executable, "-c", MADE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def path_of(process: subprocess.Popen[str]) -> Path:
    assert process.stdout is not None
    return Path(process.stdout.readline().strip())


def test_what_a_killed_process_left_goes_with_the_next_of_its_kind(
    temporary: Path, another: subprocess.Popen[str]
) -> None:
    left = path_of(another)
    assert left.parent == temporary
    PassingFolder("python").close()
    assert (left / "written").exists(), "it lives"
    another.kill()
    another.wait()
    PassingFolder("spec").close()
    assert left.is_dir(), "it is of another kind"
    PassingFolder("python").close()
    assert list(temporary.iterdir()) == []


def test_links_files_and_names_that_only_look_like_it_are_left_alone(temporary: Path, tmp_path: Path) -> None:
    treasure = tmp_path / "treasure"
    treasure.mkdir()
    (treasure / "kept").touch()
    (temporary / "hermes-python-aaaaaaaa").symlink_to(treasure)
    (temporary / "hermes-python-bbbbbbbb").touch()
    held = temporary / "hermes-python-cccccccc"
    held.mkdir()
    (held / ".held").symlink_to(treasure / "kept")
    os.mkfifo(temporary / "hermes-python-dddddddd")
    for name in ("hermes-python-mine", "hermes-python-0123abcd.d", "hermes-python-0123abc\n", "hermes-python-../abcde"):
        (temporary / name.replace("/", "\N{FRACTION SLASH}")).mkdir()
    inside = temporary / "hermes-python-eeeeeeee"
    inside.mkdir()
    (inside / "treasure").symlink_to(treasure)
    before = sorted(path.name for path in temporary.iterdir())
    PassingFolder("python").close()
    assert sorted(path.name for path in temporary.iterdir()) == [name for name in before if name != inside.name]
    assert (treasure / "kept").exists()
