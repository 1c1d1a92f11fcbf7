"""Whole agents that are recorded and replayed: turns, tools, subagents, maps; and what is refused, told and never kept."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from hermes_kernel import Agent, HermesError, Outcome, SettingsError, tool
from hermes_kernel.core.events import Calling, Noticed, Observed, Retrying, Started, WindowFound
from hermes_kernel.core.recording.lines import head_lines
from hermes_kernel.testing import FastClock, ScriptedModel, Server, call, calls, rate_limited, say, used_up
from hermes_kernel.world.recording.calls import NOT_RECORDED
from tests.contracts.recorded import KEY, held, lines, timeless
from tests.contracts.stores import ROOT
from tests.contracts.talks import RECORD
from tests.disks import small_disk

SECRET = "ghp_" + "a1B2" * 9
ASKED: list[str] = []


@tool
def price(sku: str) -> str:
    """Look up a price."""
    ASKED.append(sku)
    return f"{sku}: 3 EUR"


@pytest.fixture
def file(tmp_path):
    ASKED.clear()
    return tmp_path / "x.cassette.jsonl"


@pytest.fixture
def agents(tmp_path):
    """``agents(record=file)``: agents that are closed at the end."""
    made = []

    def make(**options):
        given = {"home": tmp_path / f"home-{len(made)}", "tools": [price], "learning": False, "approvals": "deny"}
        named = {name: str(options[name]) for name in ("record", "replay") if name in options}
        made.append(Agent(**(given | options | named)))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


@contextmanager
def serving(agents, file, *script, **options):
    """An agent that is recorded, and what it asks."""
    with Server(script[0] if len(script) == 1 and callable(script[0]) else script) as server:
        yield agents(model="scripted", base_url=server.url, api_key=KEY, record=file, **options)


async def seen(agent, prompt="What does A1 cost?", **options):
    return [event async for event in agent.stream(prompt, **options)]


LOOKED_UP = (call("price", {"sku": "A1"}, text="Let me look."), say("It costs three euros."))


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
    assert asyncio.get_running_loop().time() - began < 1
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


async def test_calls_of_one_reply_are_written_in_their_order_whichever_was_faster(agents, file):
    @tool
    async def nap(seconds: float) -> str:
        """Wait."""
        await asyncio.sleep(seconds)
        return f"{seconds}"

    both = calls([("nap", {"seconds": 0.05}), ("nap", {"seconds": 0.0})])
    with serving(agents, file, both, say("x"), tools=[nap]) as agent:
        await seen(agent)
    assert [called.text for called in held(file).calls] == ["0.05", "0.0"]


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


# --- what is refused, before anybody is asked


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


# --- what cannot be written


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


# --- what is recorded when


async def test_a_recording_is_begun_anew_and_then_gone_on_with_also_by_other_agents(agents, file):
    file.write_text('{"cassette": 0}\nan older one, and damaged\n')
    with Server([say("one"), say("two"), say("three")]) as server:
        asked = {"model": "m", "base_url": server.url, "api_key": KEY}
        first, second = agents(record=file, **asked), agents(record=file, **asked)
        await seen(first, "1")
        await seen(second, "2")
        first.close()
        second.close()
        third = agents(**asked)
        third.configure(record=str(file))
        await seen(third, "3")
    assert len(held(file).exchanges) == 3
    assert oct(file.stat().st_mode)[-3:] == "600"


async def test_what_is_recorded_anew_from_a_model_that_says_the_same_differs_in_its_pauses_alone(agents, tmp_path):
    files = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    with Server([say("Three euros, as ever.", gap=0.01)] * 2) as server:
        for file in files:
            agent = agents(base_url=server.url, api_key=KEY, model="scripted", record=file)
            assert (await agent.ask("What does A1 cost?")).text == "Three euros, as ever."
    one, other = ([line for line in lines(file) if "end" not in line] for file in files)
    texts = ["".join(line.get("text", "") for line in each) for each in (one, other)]
    assert texts[0] == texts[1], "however much of it came at once"
    assert [line for line in one if "text" not in line] == [line for line in other if "text" not in line]


async def test_one_that_was_removed_is_begun_anew_and_one_that_was_replaced_is_left_alone(agents, file):
    with serving(agents, file, say("one"), say("two"), say("three")) as agent:
        await seen(agent, "1")
        file.unlink()
        await seen(agent, "2")
        assert len(held(file).exchanges) == agent.recording.exchanges == 1
        file.unlink()
        file.write_text("of somebody else\n")
        events = await seen(agent, "3")
        (said,) = [event.text for event in events if isinstance(event, Noticed)]
        assert "replaced by somebody else" in said
    assert file.read_text() == "of somebody else\n"


async def test_a_cell_is_recorded_and_the_next_one_is_not(agents, file):
    with Server([say("one"), say("two"), say("three")]) as server:
        agent = agents(model="m", base_url=server.url, api_key=KEY)
        agent.configure(record=str(file))
        await seen(agent, "1")
        agent.configure(record="")
        await seen(agent, "2")
        agent.configure(record=str(file))
        await seen(agent, "3")
    (first, third) = held(file).exchanges
    assert len(first.request.messages) == 1
    assert len(third.request.messages) == 5


async def test_gaps_of_a_recording_are_filled(agents, file):
    with serving(agents, file, *LOOKED_UP) as agent:
        recorded = await seen(agent)
        agent.close()
    text = file.read_text()
    with Server([say("New.")]) as server:
        agent = agents(model="m", base_url=server.url, api_key=KEY, record=file, replay=file)
        replayed = await seen(agent)
        assert server.requests == ()
        assert file.read_text() == text, "nothing is new"
        assert [repr(e.text) for e in replayed if hasattr(e, "text")] == [
            repr(e.text) for e in recorded if hasattr(e, "text")
        ]
        await seen(agent, "And shipping?")
        assert len(server.requests) == 1
        assert agent.recording[1:4] == (3, 1, "both")
    assert file.read_text().startswith(text)
    again = agents(replay=file)
    await seen(again)
    await seen(again, "And shipping?")
    assert again.turn.text == "New."


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


async def test_what_is_replayed_can_be_recorded_elsewhere(agents, file, tmp_path):
    with serving(agents, file, *LOOKED_UP) as agent:
        recorded = await seen(agent)
    copy = agents(replay=file, record=tmp_path / "copy")
    await seen(copy)
    copy.close()
    assert held(tmp_path / "copy").calls == held(file).calls
    assert timeless(await seen(agents(replay=tmp_path / "copy"))) == timeless(recorded)


# --- what a replay needs not, and what is nowhere in the file


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
    assert asyncio.get_running_loop().time() - began < 1


async def test_a_window_that_was_found_counts_from_the_same_call_on(agents, file):
    text = '{"cassette": 1, "settings": {"base_url": "http://127.0.0.1:9/v1", "model": "m", "windows": ["m@http://127.0.0.1:9/v1=9000"]}}\n'
    with serving(agents, file, say("Hello.")) as agent:
        await seen(agent, "Hello?")
        agent.close()
    file.write_text(text + file.read_text().partition("\n")[2])
    events = await seen(agents(replay=file), "Hello?")
    assert [event.tokens for event in events if isinstance(event, WindowFound)] == [9000]


async def test_secrets_are_nowhere_in_a_recording(agents, file):
    @tool
    def leak() -> str:
        """Say a key."""
        return f"token={SECRET}, {os.environ['THEIR_KEY']}"

    pieces = [KEY[:9], KEY[9:15], KEY[15:], " and ", *(SECRET[n : n + 7] for n in range(0, len(SECRET), 7))]
    os.environ["THEIR_KEY"] = "plain-looking-value-42"
    try:
        fallback = "x@http://user:hunter2hunter2@127.0.0.1:9/v1?key=abc123def456#THEIR_KEY"
        script = call("leak", {}), say(pieces, gap=0.02), say("ok")
        with serving(agents, file, *script, tools=[leak], fallback_models=(fallback,)) as agent:
            await seen(agent, f"My key is {KEY}, take care.")
            await seen(agent, "Thanks.")
            agent.close()
    finally:
        del os.environ["THEIR_KEY"]
    text = file.read_text()
    for secret in (KEY, SECRET, KEY[5:20], "plain-looking-value-42", "hunter2", "abc123"):
        assert secret not in text
    body = b"".join(block.data for block in held(file).exchanges[1].blocks)
    assert all(piece.encode() not in body for piece in (KEY[9:15], SECRET[7:14])), "no piece of one that was streamed"
    again = agents(replay=file, tools=[leak])
    os.environ["THEIR_KEY"] = "plain-looking-value-42"
    try:
        await seen(again, f"My key is {KEY}, take care.")
    finally:
        del os.environ["THEIR_KEY"]
    assert "system" not in {message["role"] for line in lines(file) for message in line.get("messages", ())}


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


async def test_a_relative_name_is_of_the_folder_in_which_it_was_said(agents, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serving(agents, "here.jsonl", say("one"), say("two")) as agent:
        await seen(agent, "1")
        (tmp_path / "sub").mkdir()
        monkeypatch.chdir(tmp_path / "sub")
        await seen(agent, "2")
    assert len(held(tmp_path / "here.jsonl").exchanges) == 2
    assert Path(agent.recording.path) == tmp_path / "here.jsonl"
