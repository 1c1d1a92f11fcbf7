"""The name of the machine's time zone is what the machine says, and never an error."""

from __future__ import annotations

import os
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hermes_kernel.world.zone import local_name


def linked(etc: Path, target: str) -> Path:
    (etc / "localtime").symlink_to(target)
    return etc


def test_the_variable_is_asked_first(tmp_path: Path):
    linked(tmp_path, "/usr/share/zoneinfo/Asia/Tokyo")
    assert local_name({"TZ": "Europe/Zurich"}, tmp_path) == "Europe/Zurich"
    assert local_name({"TZ": ":Europe/Zurich"}, tmp_path) == "Europe/Zurich"
    assert local_name({"TZ": "/usr/share/zoneinfo/Europe/Zurich"}, tmp_path) == "Europe/Zurich"


def test_then_where_the_link_leads(tmp_path: Path):
    (tmp_path / "timezone").write_text("Europe/Zurich\n")
    assert local_name({}, linked(tmp_path, "../usr/share/zoneinfo/Asia/Tokyo")) == "Asia/Tokyo"


@pytest.mark.parametrize(
    "target", ["/var/db/timezone/zoneinfo/Australia/Lord_Howe", "/usr/share/zoneinfo/posix/Australia/Lord_Howe"]
)
def test_other_systems_keep_their_zones_elsewhere(tmp_path: Path, target: str):
    assert local_name({}, linked(tmp_path, target)) == "Australia/Lord_Howe"


def test_then_what_the_file_says(tmp_path: Path):
    (tmp_path / "localtime").write_bytes(b"TZif2")  # a copy of the rules has no name in it
    (tmp_path / "timezone").write_text("Europe/Zurich\n")
    assert local_name({}, tmp_path) == "Europe/Zurich"


@pytest.mark.parametrize(
    "tz", ["", "CET-1CEST,M3.5.0,M10.5.0/3", "Mars/Olympus", "../../../etc/passwd", "Europe", "\0", "x" * 9999]
)
def test_a_machine_that_says_no_name_is_in_utc(tmp_path: Path, tz: str):
    assert local_name({"TZ": tz}, tmp_path) == "UTC"
    assert local_name({"TZ": tz}, linked(tmp_path, "/usr/share/zoneinfo/Asia/Tokyo")) == "Asia/Tokyo"


def test_a_file_that_is_none_or_too_long_or_no_text_is_passed_over(tmp_path: Path):
    (tmp_path / "timezone").write_bytes(b"\xff" * 99)
    assert local_name({}, tmp_path) == "UTC"
    (tmp_path / "timezone").write_text("Europe/Zurich" + " " * 9999)
    assert local_name({}, tmp_path) == "UTC"
    (tmp_path / "timezone").unlink()
    os.mkfifo(tmp_path / "timezone")
    assert local_name({}, tmp_path) == "UTC"


def test_this_machine_has_a_zone_with_rules():
    assert ZoneInfo(local_name()).key == local_name()
