"""Files that are no recording, or one by somebody who means harm: nothing is lost, sent, run or shown by them."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest

from hermes_kernel import Agent, HermesError, Outcome
from hermes_kernel.core.events import Noticed
from hermes_kernel.core.recording.cassette import Block, Exchange, Head, Request
from hermes_kernel.core.recording.lines import Known, exchange_lines, head_lines
from hermes_kernel.testing import FastClock, Server, say
from hermes_kernel.world.recording.reel import Reel
from tests.contracts.recorded import KEY, held
from tests.disks import small_disk

ESCAPE = "\x1b[2J\u202eevil"
ASKED = Request(({"role": "user", "content": "q"},), tools=True)


@pytest.fixture
def agents(tmp_path):
    """Agents that are closed at the end."""
    made = []

    def make(**options):
        made.append(Agent(**({"home": tmp_path / "home", "learning": False, "approvals": "deny"} | options)))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


def a_fifo(path):
    os.mkfifo(path)


def a_device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("making a device takes root")


def a_notebook(path):
    path.write_text('{"cells": [], "cassette": 1}')


@pytest.mark.parametrize("made", [a_fifo, a_device, a_notebook], ids=lambda made: made.__name__)
async def test_what_is_no_recording_is_not_replaced_by_one(agents, tmp_path, made):
    file = tmp_path / "x"
    made(file)
    before = file.lstat()
    with Server([say("one")]) as server:
        agent = agents(model="m", base_url=server.url, api_key=KEY, record=str(file))
        (said,) = [event.text async for event in agent.stream("q") if isinstance(event, Noticed)]
    assert "it holds something else than a recording" in said
    assert agent.turn.text == "one"
    after = file.lstat()
    assert (after.st_ino, after.st_mode, after.st_size) == (before.st_ino, before.st_mode, before.st_size)


@pytest.mark.parametrize("content", ["", '{"cassette": 99}\n', '<<<<<<< ours\n{"cassette": 1, "ver\n=======\n{}\n'])
async def test_what_may_be_a_damaged_recording_is_recorded_anew(agents, tmp_path, content):
    file = tmp_path / "x"
    file.write_text(content)
    with Server([say("one")]) as server:
        agent = agents(model="m", base_url=server.url, api_key=KEY, record=str(file))
        assert not [event async for event in agent.stream("q") if isinstance(event, Noticed)]
    assert agent.recording.exchanges == 1


async def test_a_variable_that_a_file_names_is_sent_nowhere(agents, tmp_path, monkeypatch):
    monkeypatch.setenv("THEIR_TOKEN", "exfiltrated-0123456789")
    file = tmp_path / "x"
    with Server([say("one"), say("two")]) as server:
        there = f"m@{server.url}#THEIR_TOKEN"
        settings = {"model": "m", "base_url": "http://127.0.0.1:9/v1", "fallback_models": (there,), "aux_model": there}
        file.write_text(head_lines(Head(settings)))
        turn = await agents(record=str(file), replay=str(file), clock=FastClock()).ask("q")
        assert turn.text == "one", "gaps are filled by whom the file names"
        assert "exfiltrated" not in str([request.headers for request in server.requests])


async def test_a_key_in_the_address_is_not_recorded_and_is_none_to_fail_at(agents, tmp_path):
    file = tmp_path / "x"
    with Server([say("one")]) as server:
        address = server.url.replace("/v1", f"/{KEY}/v1")
        recorded = await agents(model="m", base_url=address, api_key=KEY, record=str(file)).ask("q")
    assert KEY not in file.read_text()
    replayed = await agents(replay=str(file)).ask("q")
    assert (replayed.outcome, replayed.text) == (recorded.outcome, recorded.text)


HOSTILE = {
    "a role": Exchange(Request(({"role": ESCAPE, "content": "x"},))),
    "a word": Exchange(Request(({"role": "user", "content": ESCAPE},))),
    "an error": Exchange(ASKED, 400, blocks=(Block(ESCAPE.encode()),)),
}


@pytest.mark.parametrize("what", HOSTILE)
async def test_no_line_about_a_failure_moves_a_cursor(agents, tmp_path, what):
    file = tmp_path / "x"
    file.write_text(
        head_lines(Head({"model": "m", "base_url": "http://h/v1"})) + exchange_lines(HOSTILE[what], Known())
    )
    agent = agents(replay=str(file))
    turn = await agent.ask("q")
    assert turn.outcome is Outcome.FAILED
    assert "evil" in turn.reason
    assert not set(turn.reason) & set(ESCAPE[:1] + ESCAPE[4:5])
    assert str(HermesError(f"{ESCAPE}\nsaid")) == "[2Jevil\nsaid"


def test_of_several_that_begin_at_once_one_records_and_the_others_are_told(tmp_path):
    with ThreadPoolExecutor(4) as pool:
        for number in range(25):
            file, together = tmp_path / str(number), Barrier(4)
            reels = [Reel(file) for _ in range(4)]
            list(pool.map(partial(begin, together), reels, range(4)))
            told = [reel.news() for reel in reels]
            assert sum(1 for news in told if not news) == 1, told
            (kept,) = held(file).exchanges
            assert kept.status == told.index(())
            for reel in reels:
                reel.let_go()
    assert len(list(tmp_path.iterdir())) == 25, "nothing is left half made"


def begin(together, reel, number):
    together.wait()
    reel.keep(Exchange(ASKED, number))


def test_where_nothing_can_be_recorded_no_empty_file_is_left(tmp_path):
    with small_disk(tmp_path, "4k") as disk:
        reel = Reel(disk / "x")
        reel.keep(Exchange(ASKED, blocks=(Block(b"x" * 100_000),)))
        assert "No space left" in str(reel.news())
        assert list(disk.iterdir()) == []
