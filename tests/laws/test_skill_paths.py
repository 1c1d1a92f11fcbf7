"""Names of skills and of files in them: the same on every system, or refused."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.learning.skill_paths import (
    colliding,
    wrong_category,
    wrong_file,
    wrong_installed,
    wrong_name,
)

GOOD = ["SKILL.md", "references/forms.md", "scripts/run.py", "assets/Größe.png", "a-b_c.1/日本.txt"]
BAD = [
    "", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "C:\\x", "c:x", "a\\b", "~/x", ".env", "a/.git/config",
    "skill.md", "Skill.MD", "ＳＫＩＬＬ.md", "con", "aux.txt", "a/NUL.md", "a\x00b", "a\nb", "a\u202eb", "a\u200bb",
    "e\u0301.md", "a.", "a ", " a", "a:b", "a*", "x" * 241, "/".join("abcdefghi"), "SKILL.md/x",
]  # fmt: skip


@pytest.mark.parametrize("file", GOOD)
def test_an_ordinary_file_is_taken(file: str):
    assert wrong_file(file) == ""


@pytest.mark.parametrize("file", BAD)
def test_a_hostile_file_is_refused(file: str):
    assert wrong_file(file)


PARTS = st.sampled_from(["..", ".", "", "~", "a", "b.md", "C:", "..a", " "])


@given(st.text(max_size=40) | st.lists(PARTS, max_size=4).map("/".join))
def test_what_is_taken_stays_in_its_folder(file: str):
    if not wrong_file(file):
        path = PurePosixPath(file)
        assert not path.is_absolute()
        assert ".." not in path.parts
        assert str(path) == file


@pytest.mark.parametrize("name", ["cleaning", "a", "a1-b2", "größe", "x" * 64])
def test_a_name_by_the_standard_is_taken(name: str):
    assert wrong_name(name) == wrong_installed(name) == ""


@pytest.mark.parametrize("name", ["", "x" * 65, "A", "a b", "a/b", "-a", "..", "con", "ﬁx"])
def test_another_is_not(name: str):
    assert wrong_name(name)
    assert wrong_installed(name)


def test_names_of_the_original_can_be_installed():
    assert wrong_name("a-")
    assert wrong_name("a--b")
    assert wrong_installed("git_helpers.v2") == ""
    assert wrong_installed("a..b")
    assert wrong_installed("con.x")
    assert wrong_installed("a.")


def test_categories_are_a_few_names():
    assert wrong_category("") == wrong_category("data/plots") == ""
    assert wrong_category("a/b/c/d")
    assert wrong_category("a//b")
    assert wrong_category("../x")


def test_files_that_are_one_elsewhere_are_named():
    assert colliding(["a.md", "b.md", "c/d.md"]) == ""
    assert "one file" in colliding(["a/B.md", "a/b.md"])
    assert "for a folder" in colliding(["a", "a/b.md"])
