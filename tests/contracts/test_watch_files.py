"""What the processes of a home tell each other in files: when to look, that there is something, which home it is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from hermes_kernel.scheduling.agenda import NOW, Agenda
from hermes_kernel.scheduling.bell import OLD, FileBell
from hermes_kernel.scheduling.place import here
from hermes_kernel.world.store.disk import StoreError
from tests.contracts.stores import ROOT
from tests.disks import small_disk

AT_ONCE = """
import sys, time
from pathlib import Path
from hermes_kernel.scheduling.place import here
time.sleep(max(0.0, float(sys.argv[2]) - time.time()))
print(here(Path(sys.argv[1])))
"""


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_an_agenda_nobody_wrote_says_that_there_is_nothing(tmp_path):
    assert Agenda(tmp_path).read() is None
    assert files(tmp_path) == []


@pytest.mark.parametrize("at", [1_796_000_000.0, 0.0, -5.0, 1.25, None])
def test_an_agenda_says_what_was_written_last(tmp_path, at):
    Agenda(tmp_path).write(17.0)
    Agenda(tmp_path).write(at)
    assert Agenda(tmp_path).read() == at
    assert files(tmp_path / "schedule") == ["agenda.json"]
    assert mode(tmp_path / "schedule" / "agenda.json") == 0o600
    assert mode(tmp_path / "schedule") == 0o700


@pytest.mark.parametrize(
    "damage",
    [
        b"", b"{", b"\x00" * 40, b"null", b"17", b"[]", b"{}", b'{"next": "soon"}', b'{"next": NaN}', b'{"next": true}',
        b'{"next": 1e999}', b"[" * 4000, b'{"next": 17.0}' + b" " * 5000, b"\xff\xfe",
    ],
)  # fmt: skip
def test_a_damaged_agenda_says_now_and_can_be_written_again(tmp_path, damage):
    agenda = Agenda(tmp_path)
    agenda.write(17.0)
    (tmp_path / "schedule" / "agenda.json").write_bytes(damage)
    assert agenda.read() == NOW
    agenda.write(None)
    assert agenda.read() is None


def test_an_agenda_that_is_a_pipe_is_waited_for_by_nobody(tmp_path):
    (tmp_path / "schedule").mkdir()
    os.mkfifo(tmp_path / "schedule" / "agenda.json")
    assert Agenda(tmp_path).read() == NOW
    Agenda(tmp_path).write(17.0)
    assert Agenda(tmp_path).read() == 17.0


def test_on_a_full_disk_an_agenda_says_now_rather_than_what_is_no_longer_so(tmp_path):
    with small_disk(tmp_path, "64k") as disk:
        agenda = Agenda(disk)
        agenda.write(2e9)
        with suppress(OSError), (disk / "ballast").open("wb") as file:
            while True:
                file.write(b"x" * 4096)
                file.flush()
        agenda.write(1.8e9)
        assert agenda.read() == NOW
        (disk / "ballast").unlink()
        agenda.write(1.8e9)
        assert agenda.read() == 1.8e9


def test_a_bell_is_rung_until_it_is_quieted(tmp_path):
    bell, other = FileBell(tmp_path), FileBell(tmp_path)
    assert not bell.rung("jobs")
    bell.quiet("jobs")
    bell.ring("jobs")
    bell.ring("jobs")
    assert other.rung("jobs")
    assert not other.rung("0f3a-20261201T080000Z")
    other.quiet("jobs")
    assert not bell.rung("jobs")
    assert mode(tmp_path / "schedule" / "bells") == 0o700


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../place", "/etc/passwd", "a/b", "a\0b", "ä" * 400, "x\n", "\ud800", "~", "CON"]
)
def test_no_name_of_a_bell_is_a_file_elsewhere(tmp_path, name):
    home = tmp_path / "home"
    bell = FileBell(home)
    assert not bell.rung(name)
    bell.ring(name)
    assert bell.rung(name)
    assert len(files(home / "schedule" / "bells")) == 1
    assert files(home / "schedule") == ["bells"]
    assert files(tmp_path) == ["home"]
    bell.quiet(name)
    assert files(home / "schedule" / "bells") == []


def test_bells_of_long_ago_are_tidied_but_never_the_one_for_jobs(tmp_path):
    bell = FileBell(tmp_path)
    for name in ("jobs", "old", "new"):
        bell.ring(name)
    for name in ("jobs", "old"):
        path = tmp_path / "schedule" / "bells" / f"{name}.bell"
        os.utime(path, (time.time() - OLD - 60,) * 2)
    bell.ring("another")
    assert [bell.rung(name) for name in ("jobs", "old", "new", "another")] == [True, False, True, True]


def test_a_bell_on_a_disk_that_refuses_says_nothing(tmp_path):
    (tmp_path / "schedule").write_text("no folder")
    FileBell(tmp_path).ring("jobs")
    assert not FileBell(tmp_path).rung("jobs")


def test_a_home_has_one_id_that_stays_and_moves_with_it(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    place = here(one)
    assert len(place) == 16
    assert here(one) == place
    assert here(two) != place
    one.rename(tmp_path / "moved")
    assert here(tmp_path / "moved") == place
    assert mode(tmp_path / "moved" / "schedule" / "place") == 0o600


def test_processes_that_ask_at_once_get_the_same_id(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", AT_ONCE, str(tmp_path), str(time.time() + 1.0)]
    asking = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(4)]
    said = {process.communicate()[0].strip() for process in asking}
    assert said == {here(tmp_path)}
    assert files(tmp_path / "schedule") == ["place", "place.lock"]


@pytest.mark.parametrize("damage", [b"", b"../../etc", b"\xff" * 16, b"0" * 4000])
def test_an_id_that_is_damaged_is_not_replaced_by_another_with_which_no_job_would_run(tmp_path, damage):
    made = here(tmp_path)
    place = tmp_path / "schedule" / "place"
    place.write_bytes(damage)
    with pytest.raises(StoreError, match="is damaged, and says which jobs run here") as refused:
        here(tmp_path)
    assert "\n" not in str(refused.value)
    place.write_text(made)
    assert here(tmp_path) == made


def test_where_no_id_can_be_made_one_line_says_what_to_do(tmp_path):
    (tmp_path / "schedule").write_text("no folder")
    with pytest.raises(StoreError, match="set HERMES_HOME to another folder") as refused:
        here(tmp_path)
    assert "\n" not in str(refused.value)
