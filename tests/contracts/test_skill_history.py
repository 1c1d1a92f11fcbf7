"""What skills were is kept: every byte, found again by what it is, and put back in one step."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hermes_kernel.learning.skills.history import History, HistoryError
from hermes_kernel.learning.skills.swapping import mend
from hermes_kernel.learning.skills.trees import Bounds, tree_id
from tests.contracts.skilled import tree


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "skills" / "cleaning"
    (made / "scripts").mkdir(parents=True)
    (made / "empty" / "below").mkdir(parents=True)
    (made / "SKILL.md").write_text("one\n")
    (made / "scripts" / "run.sh").write_bytes(b"#!/bin/sh\n\x00\xff")
    (made / "scripts" / "run.sh").chmod(0o755)
    (made / "also.md").symlink_to("SKILL.md")
    return made


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def test_a_folder_comes_back_with_every_byte(history: History, folder: Path):
    before, kept = tree(folder), history.keep(folder)
    assert kept == tree_id(folder)
    (folder / "SKILL.md").write_text("two\n")
    (folder / "more.md").write_text("more")
    history.restore(kept, folder)
    assert tree(folder) == before
    assert os.access(folder / "scripts/run.sh", os.X_OK)
    assert not os.access(folder / "SKILL.md", os.X_OK)
    assert (folder / "empty/below").is_dir()
    assert (folder / "also.md").readlink() == Path("SKILL.md")
    assert tree_id(folder) == kept
    assert [each.name for each in folder.parent.iterdir()] == ["cleaning"]


def test_what_is_the_same_is_kept_once(history: History, folder: Path, tmp_path: Path):
    first = history.keep(folder)
    objects = sorted((tmp_path / "history").rglob("*"))
    assert history.keep(folder) == first
    assert sorted((tmp_path / "history").rglob("*")) == objects
    assert all(path.stat().st_mode & 0o077 == 0 for path in objects)


def test_nothing_is_a_tree_too(history: History, folder: Path):
    assert history.keep(folder / "none") == ""
    kept = history.keep(folder)
    history.restore("", folder)
    assert not folder.exists()
    history.restore(kept, folder)
    assert (folder / "SKILL.md").read_text() == "one\n"


def test_two_trees_are_compared(history: History, folder: Path):
    before = history.keep(folder)
    after = history.changed(before, {"SKILL.md": b"two", "scripts/run.sh": None, "bin": b"\xff\x00"})
    assert set(history.files(after)) == {"SKILL.md", "bin"}
    assert history.text(after, "SKILL.md") == "two"
    told = history.diff(before, after)
    assert "-one\n+two\n\\ No newline" in told
    assert "--- a/scripts/run.sh\n+++ /dev/null\n(not text, or long)" in told


@pytest.mark.parametrize("target", ["/etc/passwd", "../other", "a/../../x"])
def test_a_link_that_leads_out_is_refused(history: History, folder: Path, target: str):
    (folder / "bad").symlink_to(target)
    with pytest.raises(HistoryError, match="bad is a link that leads out of cleaning"):
        history.keep(folder)


def test_what_is_no_file_or_too_large_is_refused_by_name(history: History, folder: Path):
    with pytest.raises(HistoryError, match="run.sh is larger than 5 bytes"):
        history.keep(folder, Bounds(file_bytes=5))
    with pytest.raises(HistoryError, match="more than 2 files"):
        history.keep(folder, Bounds(files=2))
    os.mkfifo(folder / "pipe")
    with pytest.raises(HistoryError, match="pipe is no ordinary file"):
        history.keep(folder)


def test_what_is_damaged_is_not_given_out(history: History, folder: Path, tmp_path: Path):
    kept = history.keep(folder)
    digest = history.files(kept)["SKILL.md"]
    (tmp_path / "history/objects" / digest[:2] / digest[2:]).write_text("bad\n")
    with pytest.raises(HistoryError, match="damaged"):
        history.restore(kept, folder)
    assert (folder / "SKILL.md").read_text() == "one\n"
    for unknown in ("0" * 64, "../../x"):
        with pytest.raises(HistoryError):
            history.files(unknown)


def test_a_folder_that_changed_meanwhile_is_left_as_it_is(history: History, folder: Path):
    before = history.keep(folder)
    after = history.changed(before, {"SKILL.md": b"mine\n"})
    (folder / "SKILL.md").write_text("theirs\n")
    with pytest.raises(HistoryError, match="somebody else"):
        history.restore(after, folder, before)
    assert (folder / "SKILL.md").read_text() == "theirs\n"
    assert [each.name for each in folder.parent.iterdir()] == ["cleaning"]


def test_what_a_death_left_is_put_in_order(folder: Path):
    aside = folder.parent / ".cleaning.~old-1234"
    folder.rename(aside)
    (folder.parent / ".cleaning.~half").mkdir()
    mend(folder)
    assert (folder / "SKILL.md").read_text() == "one\n"
    assert [each.name for each in folder.parent.iterdir()] == ["cleaning"]
