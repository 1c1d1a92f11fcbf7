"""What is refused before anybody is asked, and what stops no turn: a recording that cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from hermes_kernel import HermesError, SettingsError
from hermes_kernel.core.events import Noticed, Observed
from hermes_kernel.testing import ScriptedModel, Server, call, say
from tests.contracts.recorded import KEY, held
from tests.contracts.recording.conftest import LOOKED_UP, seen, serving
from tests.contracts.stores import ROOT
from tests.disks import small_disk


@pytest.mark.parametrize("how", ["record", "replay"])
def test_a_model_of_ones_own_is_neither_recorded_nor_replayed(agents, file, how):
    with pytest.raises(SettingsError, match=f"leave out {how}"):
        agents(model=ScriptedModel([say("x")]), **{how: file})
    agent = agents(model=ScriptedModel([say("x")]))
    with pytest.raises(SettingsError, match=f"leave out {how}"):
        agent.configure(**{how: str(file)})
    assert not getattr(agent.settings, how)


async def test_a_recording_that_is_not_there_is_named_before_the_turn_and_can_be_left_out(agents, file):
    agent = agents(replay=file)
    with pytest.raises(SettingsError, match=r"no recording .*x\.cassette\.jsonl"):
        await seen(agent)
    assert agent.turn.messages == ()
    agent.configure(replay="")
    assert agent.recording is None
    with pytest.raises(SettingsError, match=r"no recording .*x\.cassette\.jsonl"):
        agent.configure(replay=str(file))
    assert agent.settings.replay == ""


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("hello\n", 1),
        ("[]\n", 1),
        ('{"cassette": 99}\n', 1),
        ('{"cassette": 1}\n{"request": 4}\n', 2),
        ('{"cassette": 1}\n' + "[" * 100_000 + "\n", 2),
        ('{"cassette": 1, "settings": {"base_url": "ftp://x"}}\n', 1),
        ('{"cassette": 1, "settings": {"context_window": -4}}\n', 1),
        ('{"cassette": 1, "settings": {"model": 7.5}}\n', 1),
        (b"\xff\xfe\x00", 1),
    ],
)
async def test_what_is_no_recording_is_refused_in_a_line_that_names_file_and_line(agents, file, content, line):
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SettingsError) as error:
        await seen(agents(replay=file))
    said = str(error.value)
    assert "x.cassette.jsonl" in said
    assert f"line {line}" in said
    assert "\n" not in said
    assert len(said) < 400


async def test_what_is_no_file_is_refused_as_well(agents, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(SettingsError, match="cannot be read"):
            await seen(agents(replay=tmp_path / name))


async def test_rows_asked_elsewhere_are_neither_recorded_nor_replayed(agents, file):
    refused = pytest.raises(HermesError, match="leave out the executor")
    with serving(agents, file, say("x")) as agent, ThreadPoolExecutor(1) as pool, refused:
        await agent.map("$a", [{"a": 1}], executor=pool)


async def lost(agents, file, **options):
    """The lines about a recording that cannot be written, of two turns."""
    with serving(agents, file, *LOOKED_UP, say("Bye."), **options) as agent:
        events = await seen(agent) + await seen(agent, "And now?")
        assert agent.turn.text == "Bye."
        agent.close()
    return [event.text for event in events if isinstance(event, Noticed)]


async def test_a_folder_that_is_not_there_stops_nothing_and_is_told_once(agents, tmp_path):
    (said,) = await lost(agents, tmp_path / "nowhere" / "x")
    assert "Not recorded in" in said
    assert "No such file or directory" in said


async def test_a_recording_that_would_take_the_place_of_a_folder_is_told_once(agents, tmp_path):
    (tmp_path / "x").mkdir()
    (said,) = await lost(agents, tmp_path / "x")
    assert "Not recorded in" in said
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


async def test_a_full_disk_stops_nothing_and_what_was_recorded_is_whole(agents, tmp_path):
    with small_disk(tmp_path, "64k") as disk:
        file = disk / "x"
        long = call("price", {"sku": "A1"}, text="word " * 40), say(["much "] * 4000), say("Bye.")
        with serving(agents, file, *long) as agent:
            events = await seen(agent) + await seen(agent, "And now?")
            (said,) = [event.text for event in events if isinstance(event, Noticed)]
            assert "No space left on device" in said
            assert agent.turn.text == "Bye."
            assert agent.recording.exchanges == 1
            agent.close()
        assert len(held(file).exchanges) == 1
        assert not held(file).torn
        again = agents(replay=file)
        assert [e.text for e in await seen(again) if isinstance(e, Observed)] == ["A1: 3 EUR"]


HOLD = r"""
import asyncio, sys
from hermes_kernel import Agent
agent = Agent("m", base_url=sys.argv[1], api_key="sk-0123456789abcdef", record=sys.argv[2], home=sys.argv[3])
print(agent.ask_sync("Hello?").text, flush=True)
sys.stdin.read()
agent.close()
"""


async def test_of_two_kernels_one_records_and_the_other_is_told(agents, tmp_path, file):
    with Server([say("first"), say("second"), say("third")]) as server:
        command = [sys.executable, "-c", HOLD, server.url, str(file), str(tmp_path / "other")]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        ) as process:
            assert process.stdout.readline() == "first\n"
            agent = agents(model="m", base_url=server.url, api_key=KEY, record=file)
            events = await seen(agent)
            (said,) = [event.text for event in events if isinstance(event, Noticed)]
            assert "another process is recording in it" in said
            assert agent.turn.text == "second"
            process.stdin.close()
        assert len(held(file).exchanges) == 1
        agent.configure(record=str(file))
        await seen(agent)
        assert agent.turn.text == "third"
        assert len(held(file).exchanges) == 1, "and then it is begun anew"
        assert "third" in file.read_text()
