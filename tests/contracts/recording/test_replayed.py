"""Whole agents that are replayed: turns, tools, subagents, maps; and what a replay needs not."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from hermes_kernel import Outcome, tool
from hermes_kernel.core.events import Calling, Leased, Noticed, Observed, Retrying, Started, WindowFound
from hermes_kernel.core.recording.lines import head_lines
from hermes_kernel.testing import FastClock, Server, call, rate_limited, say, used_up
from hermes_kernel.world.recording.calls import NOT_RECORDED
from tests.contracts.recorded import KEY, held, timeless
from tests.contracts.recording.conftest import ASKED, LOOKED_UP, seen, serving
from tests.contracts.stores import ROOT
from tests.contracts.talks import RECORD
from tests.soon import SOON


async def test_a_turn_is_played_again_without_an_endpoint_a_key_or_a_wait(agents, file):
    with serving(agents, file, rate_limited(7), *LOOKED_UP, clock=FastClock()) as agent:
        recorded = await seen(agent)
        assert agent.recording[:4] == (file, 3, 1, "record")
        agent.close()
    again = agents(replay=file)
    began = asyncio.get_running_loop().time()
    replayed = await seen(again)
    assert timeless(replayed) == timeless(recorded)
    assert [event.seconds for event in replayed if isinstance(event, Retrying)] == [7]
    assert asyncio.get_running_loop().time() - began < SOON
    assert ASKED == ["A1", "A1"], "tools run in a replay"
    assert again.recording[:4] == (file, 3, 1, "replay")
    assert again.recording.unused == ()
    calling = next(event for event in replayed if isinstance(event, Calling))
    assert calling.model == again.settings.model == "scripted"


async def test_with_its_pauses_it_waits_on_the_clock_for_as_long_as_it_did(agents, file):
    script = rate_limited(7), call("price", {"sku": "A1"}), say("one two", gap=0.1)
    with serving(agents, file, *script, clock=FastClock()) as agent:
        recorded = await seen(agent)
    clock = FastClock(real=0.0)
    replayed = await seen(agents(replay=file, replay_gaps=True, clock=clock))
    assert timeless(replayed) == timeless(recorded)
    assert 7 < clock.skipped < 60


async def test_it_is_played_again_though_the_person_has_an_endpoint_of_another_kind(agents, file):
    with serving(agents, file, *LOOKED_UP) as agent:
        recorded = await seen(agent)
    other = agents(replay=file, model="gpt-9", api_key="sk-other-0123456789ab", fallback_models=("x", "y"))
    assert timeless(await seen(other)) == timeless(recorded)


def worker(request):
    """What a model says that is asked by several at once, by what it is asked."""
    text = str(request.messages[-1]["content"])
    last = request.messages[-1]["role"]
    if "team" in text:
        return call("delegate", {"tasks": [{"task": f"task {n}"} for n in range(8)]})
    if "task" in text and last == "user":
        return call("price", {"sku": text[-30:].rsplit("task ", maxsplit=1)[-1].split(maxsplit=1)[0]})
    return say(f"Done: {text[-40:]}" if last == "user" else "Done.", gap=0.002)


async def test_subagents_and_rows_of_a_map_that_worked_at_once_are_replayed_each_with_its_own(agents, file):
    rows = [{"city": f"city {n}"} for n in range(12)]
    with serving(agents, file, worker, map_workers=8, delegate_workers=8) as agent:
        await seen(agent, "Ask the team.")
        recorded = agent.turn
        table = await agent.map("Where is $city?", rows)
        agent.close()
    again = agents(replay=file, map_workers=8, delegate_workers=8)
    await seen(again, "Ask the team.")
    replayed = await again.map("Where is $city?", rows)
    assert again.turn.outcome is Outcome.COMPLETED, again.recording.missed
    assert again.turn.text == recorded.text
    assert [row.text for row in replayed.rows] == [row.text for row in table.rows]
    assert all("city" in row.text for row in replayed.rows)
    assert len(held(file).exchanges) == 2 + 16 + 12


async def test_subagents_that_waited_for_a_place_are_replayed_though_others_took_longer_or_less_long(agents, file):
    with serving(agents, file, worker, delegate_workers=1) as agent:
        await seen(agent, "Ask the team.")
        recorded = agent.turn
        agent.close()
    again = agents(replay=file, delegate_workers=8)
    await seen(again, "Ask the team.")
    assert again.turn.text == recorded.text, again.recording.missed


def talker(request):
    """A model whose subagents report more than whoever asked is shown."""
    last = request.messages[-1]
    if last["role"] == "tool":
        return say("All read.")
    if "team" in str(last["content"]):
        return call("delegate", {"tasks": ["one", "two"]})
    return say("word " * 5_000)


async def test_long_reports_of_subagents_lie_where_they_lay(agents, file):
    with serving(agents, file, talker) as agent:
        (recorded,) = [event.text for event in await seen(agent, "Ask the team.") if isinstance(event, Observed)]
        agent.close()
    kept = re.findall(r"all of it is in (\S+);", recorded)
    assert len(set(kept)) == 2
    assert all(Path(path).read_text().startswith("word word") for path in kept)
    again = agents(replay=file)
    await seen(again, "Ask the team.")
    assert again.turn.text == "All read.", again.recording.missed


@pytest.mark.parametrize("how", [{}, {"replay_tools": True}], ids=["run", "not run"])
async def test_a_long_result_is_the_same_in_whichever_home_it_is_kept(agents, file, how):
    @tool
    def write() -> str:
        """Write much."""
        return "word " * 20_000

    script = call("write", {}), say("Much.")
    with serving(agents, file, *script, tools=[write]) as agent:
        recorded = await seen(agent)
        agent.close()
    again = agents(replay=file, tools=[write], **how)
    replayed = await seen(again)
    assert again.turn.text == "Much.", again.recording.missed
    if not how:
        assert [type(event) for event in timeless(replayed)] == [type(event) for event in timeless(recorded)]


async def test_a_folder_that_a_model_wrote_out_is_the_one_in_which_it_is_replayed(agents, file, tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / name / "data").mkdir(parents=True)
        (tmp_path / name / "data" / "sales.csv").write_text("month,sum\n1,2\n")
    path = str(tmp_path / "one" / "data" / "sales.csv")
    pieces = [path[n : n + 5] for n in range(0, len(path), 5)]
    script = call("read_file", {"path": path}), say(["It is in ", *pieces, "."], gap=0.005)
    monkeypatch.chdir(tmp_path / "one")
    with serving(agents, file, *script) as agent:
        await seen(agent, "Which months?")
        assert agent.turn.text == f"It is in {path}."
        agent.close()
    assert str(tmp_path / "one") not in file.read_text()
    monkeypatch.chdir(tmp_path / "two")
    again = agents(replay=file)
    (read,) = [event for event in await seen(again, "Which months?") if isinstance(event, Observed)]
    assert again.turn.text == f"It is in {tmp_path}/two/data/sales.csv.", again.recording.missed
    assert read.ok


async def test_a_model_that_is_named_by_its_file_is_replayed_in_another_home(agents, file, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "one"))
    with Server([say("ok")]) as server:
        await agents(model=f"{tmp_path}/one/x.gguf", base_url=server.url, api_key=KEY, record=file).ask("q")
    assert str(tmp_path) not in file.read_text()
    monkeypatch.setenv("HOME", str(tmp_path / "two"))
    again = agents(replay=file)
    assert (await again.ask("q")).text == "ok"
    assert again.settings.model == f"{tmp_path}/two/x.gguf"


async def test_what_is_asked_beside_a_turn_is_in_the_recording_too(agents, file):
    def script(request):
        asked = str(request.messages[-1]["content"])
        return say("word " * 300 if asked.startswith("Prompt") else RECORD)

    with serving(agents, file, script, context_window=4000, protect_last=2, compress_at=0.85) as agent:
        for n in range(4):
            await seen(agent, f"Prompt {n}")
        recorded = await agent.compress()
        agent.close()
    again = agents(replay=file, protect_last=2, compress_at=0.85)
    for n in range(4):
        await seen(again, f"Prompt {n}")
    replayed = await again.compress()
    assert again.recording.missed is None
    assert again.recording.unused == ()
    assert (replayed.before, replayed.after) == (recorded.before, recorded.after)
    assert replayed.before > replayed.after


async def test_calls_can_be_answered_from_the_recording_and_then_no_tool_is_run(agents, file):
    with serving(agents, file, *LOOKED_UP) as agent:
        await seen(agent)
    again = agents(replay=file, replay_tools=True)
    events = await seen(again)
    assert ASKED == ["A1"]
    assert [event.text for event in events if isinstance(event, Observed)] == ["A1: 3 EUR"]
    assert again.turn.text == "It costs three euros."


def spender(request):
    """A model whose subagents call what it calls itself, and use up its budget."""
    last = request.messages[-1]
    if last["role"] == "user" and "look" in str(last["content"]):
        return call("price", {"sku": "A1"})
    if last["role"] == "user":
        return call("delegate", {"tasks": ["look"]})
    return (
        call("price", {"sku": "A1"})
        if request.messages[-2]["tool_calls"][0]["function"]["name"] == "delegate"
        else say("Done.")
    )


async def test_a_result_from_a_recording_names_the_folder_in_which_it_is_replayed(agents, file, tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "one")
    with serving(agents, file, call("read_file", {"path": "a.txt"}), say("ok")) as agent:
        await seen(agent)
        agent.close()
    monkeypatch.chdir(tmp_path / "two")
    again = agents(replay=file, replay_tools=True)
    (read,) = [event for event in await seen(again) if isinstance(event, Observed)]
    assert again.turn.text == "ok", again.recording.missed
    assert read.text.startswith(f"a.txt: there is no such file. {tmp_path}/two holds: "), read.text


@pytest.mark.parametrize("spec", [True, False])
async def test_a_result_from_a_recording_is_as_long_as_it_was_so_nothing_is_cut_or_summarised_elsewhere(
    agents, file, spec
):
    @tool
    def write() -> str:
        """Write much."""
        return "word " * 20_000

    with serving(agents, file, call("write", {}), say("Much."), tools=[write], spec=spec) as agent:
        recorded = [event.text for event in await seen(agent) if isinstance(event, Observed)]
        home = str(agent.settings.home)
        agent.close()
    again = agents(replay=file, replay_tools=True, tools=[write], spec=spec)
    replayed = [event.text for event in await seen(again) if isinstance(event, Observed)]
    named = [text.replace(home, str(again.settings.home)) for text in recorded]
    assert [len(text) for text in replayed] == [len(text) for text in named]
    assert replayed == named or not spec, "ids are counted in a spec"


async def test_a_call_that_had_subagents_has_them_again_where_calls_are_answered_from_the_recording(agents, file):
    with serving(agents, file, spender, spec=True, max_iterations=4) as agent:
        recorded = await seen(agent, "Ask the team.")
        agent.close()
    assert any(isinstance(event, Leased) for event in recorded)
    again = agents(replay=file, replay_tools=True, max_iterations=4)
    replayed = await seen(again, "Ask the team.")
    assert again.recording.missed is None
    assert again.turn.budget == agent.turn.budget, "what its subagents used is used"
    assert [type(event) for event in timeless(replayed)] == [type(event) for event in timeless(recorded)]
    assert again.recording.unused == ()


async def test_a_call_of_an_agent_and_the_same_one_of_its_subagent_are_each_answered_with_their_own(agents, file):
    counted = count(1)

    @tool
    def price(sku: str) -> str:
        """Look up a price."""
        return f"{sku}: {next(counted)} EUR"

    with serving(agents, file, spender, tools=[price]) as agent:
        await seen(agent, "Ask the team.")
        agent.close()
    text = file.read_text()
    first, second = (line for line in text.splitlines(keepends=True) if line.startswith('{"call": "price"'))
    file.write_text(text.replace(first, "", 1).replace(second, second + first, 1))  # the one was slower
    again = agents(replay=file, replay_tools=True, tools=[price])
    replayed = await seen(again, "Ask the team.")
    assert again.recording.missed is None
    assert [event.text for event in replayed if isinstance(event, Observed)][-1] == "A1: 2 EUR"


async def test_a_recording_that_says_of_another_tool_that_it_had_subagents_does_not_run_it(agents, file):
    with serving(agents, file, *LOOKED_UP) as agent:
        await seen(agent)
    file.write_text(file.read_text().replace('"ok": true', '"lent": true, "ok": true'))
    again = agents(replay=file, replay_tools=True)
    events = await seen(again)
    assert ASKED == ["A1"]
    assert [event.text for event in events if isinstance(event, Observed)] == ["A1: 3 EUR"]


async def test_a_call_that_was_not_recorded_is_not_run_where_calls_are_answered_from_the_recording(agents, file):
    with serving(agents, file, *LOOKED_UP) as agent:
        await seen(agent)
    text = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in text if not line.startswith('{"call"')))
    again = agents(replay=file, replay_tools=True)
    events = await seen(again)
    assert ASKED == ["A1"]
    assert [event.text for event in events if isinstance(event, Observed)] == [NOT_RECORDED]
    assert sum(isinstance(event, Started) for event in events) == 1


async def test_a_changed_word_of_a_prompt_ends_the_turn_and_its_reason_names_the_word(agents, file):
    with serving(agents, file, *LOOKED_UP) as agent:
        await seen(agent)
    again = agents(replay=file)
    await seen(again, "What does B2 cost?")
    assert again.turn.outcome is Outcome.FAILED
    assert "[-A1-]{+B2+}" in again.turn.reason
    assert "x.cassette.jsonl" in again.turn.reason
    assert "127.0.0.1" not in again.turn.reason, "nobody was asked there"
    assert "[-A1-]{+B2+}" in again.recording.missed


async def test_a_recording_that_was_cut_off_is_replayed_as_far_as_it_goes_and_filled_from_there(agents, file):
    with serving(agents, file, *LOOKED_UP) as agent:
        await seen(agent)
        agent.close()
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    agent = agents(replay=file)
    (said,) = [event.text for event in await seen(agent) if isinstance(event, Noticed)]
    assert "cut off" in said
    assert agent.turn.outcome is Outcome.FAILED
    with Server([say("It costs three euros.")]) as server:
        agent = agents(model="m", base_url=server.url, api_key=KEY, record=file, replay=file)
        await seen(agent)
        assert len(server.requests) == 1
        agent.close()
    assert not held(file).torn
    assert len(held(file).exchanges) == 2


async def test_the_local_model_is_not_started_in_a_replay(agents, file):
    with serving(agents, file, say("Hello.")) as agent:
        await seen(agent, "Hello?", tools=[])
        head = held(file).head
        agent.close()
    told = file.read_text().partition("\n")[2]
    file.write_text(head_lines(type(head)({"model": "qwen", "base_url": "local:"})) + told)
    again = agents(replay=file, tools=[])
    events = await seen(again, "Hello?", tools=[])
    assert again.turn.text == "Hello."
    assert [event for event in events if isinstance(event, Noticed)] == []


async def test_a_limit_of_requests_holds_nothing_up_in_a_replay(agents, file):
    with serving(agents, file, call("price", {"sku": "A1"}), used_up(call("price", {"sku": "B2"}), 30), say("x"),
                 clock=FastClock()) as agent:  # fmt: skip
        await seen(agent)
    again = agents(replay=file, requests_per_minute=1)
    began = asyncio.get_running_loop().time()
    await seen(again)
    assert again.turn.text == "x"
    assert asyncio.get_running_loop().time() - began < SOON


async def test_a_window_that_was_found_counts_from_the_same_call_on(agents, file):
    text = '{"cassette": 1, "settings": {"base_url": "http://127.0.0.1:9/v1", "model": "m", "windows": ["m@http://127.0.0.1:9/v1=9000"]}}\n'
    with serving(agents, file, say("Hello.")) as agent:
        await seen(agent, "Hello?")
        agent.close()
    file.write_text(text + file.read_text().partition("\n")[2])
    events = await seen(agents(replay=file), "Hello?")
    assert [event.tokens for event in events if isinstance(event, WindowFound)] == [9000]


ALONE = r"""
import sys
told = []
def hook(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        told.append((event, str(arguments)))
sys.addaudithook(hook)
from hermes_kernel import Agent, tool
@tool
def price(sku: str) -> str:
    "Look up a price."
    return f"{sku}: 3 EUR"
agent = Agent(tools=[price], replay=sys.argv[1], approvals="deny", learning=False)
turn = agent.ask_sync("What does A1 cost?")
agent.close()
assert not told, told
assert "openai" not in sys.modules and "httpx2" not in sys.modules
print(turn.text)
"""


async def test_a_replay_opens_no_socket_and_loads_no_client(agents, file, tmp_path):
    with serving(agents, file, *LOOKED_UP) as agent:
        await seen(agent)
    environment = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", ALONE, str(file)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "It costs three euros.\n", done.stderr[-2000:]
