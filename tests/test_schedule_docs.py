"""What the page about jobs says is so: its commands, its times, its units and manifests."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import yaml

from hermes_kernel.cli import _parser
from hermes_kernel.core.schedule import coming, job
from hermes_kernel.core.schedule.grammar import parse
from hermes_kernel.core.schedule.instants import upcoming
from hermes_kernel.core.schedule.when import At
from hermes_kernel.ranges import switch
from hermes_kernel.scheduling import staying, watch
from hermes_kernel.settings import RANGES, Settings

PAGE = (Path(__file__).parents[1] / "docs" / "schedule.md").read_text(encoding="utf-8")
ZURICH = ZoneInfo("Europe/Zurich")
NOON = datetime(2026, 12, 1, 12, tzinfo=ZURICH).timestamp()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def commands():
    """Every command line of ours on the page."""
    inline = re.findall(r"`(hermes-kernel [^`.]+)`", PAGE)
    units = re.findall(r"^ExecStart=%h/\.local/bin/(hermes-kernel .*)$", PAGE, re.MULTILINE)
    lines = re.findall(r"/(hermes-kernel \w+)", "".join(blocks("crontab")))
    pods = [shlex.join(words) for text in blocks("yaml") for words in pods_commands(yaml.safe_load(text))]
    return [*inline, *units, *lines, *pods]


def pods_commands(manifest):
    return [container["command"] for container in pod(manifest)["containers"]]


def pod(manifest):
    spec = manifest["spec"]
    return (spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec)["template"]["spec"]


def test_every_command_on_the_page_can_be_given():
    found = commands()
    assert {"scheduler", "tick", "doctor", "schedule"} <= {line.split()[1] for line in found}
    assert len(found) > 12
    for line in found:
        assert callable(_parser().parse_args(shlex.split(line)[1:]).do), line


def test_every_option_and_setting_on_the_page_exists():
    shown = subprocess.run(
        [sys.executable, "-m", "hermes_kernel", "schedule", "add", "--help"], capture_output=True, text=True, check=True
    ).stdout
    for option in set(re.findall(r"`(--[a-z]+)", PAGE)) - {"--wait"}:
        assert option in shown, option
    for name in set(re.findall(r"`(schedule_[a-z]+)", PAGE)):
        assert name in RANGES, name
    assert RANGES["schedule_watch"].allowed == switch("", default=True).metadata["range"].allowed
    assert Settings().schedule_workers == 2


def test_every_way_to_write_a_time_means_what_its_row_says():
    table = re.search(r"\| written \| means \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE)[1]
    for row in table.splitlines():
        written, means = row.strip("| ").split(" | ")
        for text in re.findall(r"`([^`]+)`", written):
            when = parse(text, now=NOON, zone="Europe/Zurich").when
            assert isinstance(when, At) == (means == "once"), text


def test_days_on_which_clocks_change_are_as_the_page_says():
    def times(text, now):
        start = datetime.fromisoformat(now).replace(tzinfo=ZURICH).timestamp()
        next_ = upcoming(parse(text, now=start, zone="Europe/Zurich"), now=start, count=4)
        return [datetime.fromtimestamp(t, ZURICH).strftime("%d %H:%M") for t in next_]

    assert times("30 2 * * *", "2027-03-28T00:00")[:2] == ["28 03:00", "29 02:30"]
    assert times("30 2 * * *", "2027-10-31T00:00")[:2] == ["31 02:30", "01 02:30"]
    assert times("*/30 * * * *", "2027-10-31T01:50") == ["31 02:00", "31 02:30", "31 02:00", "31 02:30"]
    assert times("every 1h", "2027-10-31T01:00") == ["31 02:00", "31 02:00", "31 03:00", "31 04:00"]


def test_the_figures_on_the_page_are_those_of_the_program():
    assert (coming.LEAST_GRACE, coming.MOST_GRACE, job.TIMEOUT) == (120, 7_200, 3_600)
    assert (watch.LOOK, watch.CHUNK, watch.PAUSE) == (1, 5, 60)
    assert (staying.LOOK, staying.PAUSE) == (0.5, 15)


def test_the_line_for_cron_has_five_fields_and_no_sign_that_cron_takes_for_a_new_line():
    [line] = blocks("crontab")
    fields = line.split(maxsplit=5)
    assert all(re.fullmatch(r"[\d*/,-]+", field) for field in fields[:5])
    assert "%" not in line


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze: apt-get install systemd")
def test_systemd_finds_nothing_wrong_with_the_units(tmp_path):
    service, tick, timer = blocks("ini")
    for name, text in (("a.service", service), ("b.service", tick), ("b.timer", timer)):
        unit = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.MULTILINE)
        (tmp_path / name).write_text(unit)
    for name in ("a.service", "b.timer"):
        done = subprocess.run(
            ["systemd-analyze", "verify", "--user", "--man=no", str(tmp_path / name)],
            capture_output=True, text=True, check=False, env={"XDG_RUNTIME_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        complaints = [line for line in done.stderr.splitlines() if str(tmp_path) in line or name in line]
        assert (done.returncode, complaints) == (0, [])


def test_the_manifests_are_of_known_kinds_and_mount_the_home_that_they_name():
    kinds = {"Deployment": "apps/v1", "CronJob": "batch/v1"}
    manifests = [yaml.safe_load(text) for text in blocks("yaml")]
    assert {each["kind"]: each["apiVersion"] for each in manifests} == kinds
    for manifest in manifests:
        spec = pod(manifest)
        [container] = spec["containers"]
        home = {each["name"]: each["value"] for each in container["env"]}["HERMES_HOME"]
        assert home.startswith(container["volumeMounts"][0]["mountPath"] + "/")
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in spec["volumes"]}
    [deployment] = [each["spec"] for each in manifests if each["kind"] == "Deployment"]
    assert deployment["selector"]["matchLabels"] == deployment["template"]["metadata"]["labels"]
    assert deployment["replicas"] == 1
