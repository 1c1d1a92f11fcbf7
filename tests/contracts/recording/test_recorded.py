"""What of a whole agent is recorded, when and where; and what is nowhere in the file."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from hermes_kernel import tool
from hermes_kernel.core.events import Noticed
from hermes_kernel.testing import Server, call, calls, say
from tests.contracts.recorded import KEY, held, lines, timeless
from tests.contracts.recording.conftest import LOOKED_UP, seen, serving

SECRET = "ghp_" + "a1B2" * 9


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


async def test_what_is_replayed_can_be_recorded_elsewhere(agents, file, tmp_path):
    with serving(agents, file, *LOOKED_UP) as agent:
        recorded = await seen(agent)
    copy = agents(replay=file, record=tmp_path / "copy")
    await seen(copy)
    copy.close()
    assert held(tmp_path / "copy").calls == held(file).calls
    assert timeless(await seen(agents(replay=tmp_path / "copy"))) == timeless(recorded)


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


async def test_a_relative_name_is_of_the_folder_in_which_it_was_said(agents, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serving(agents, "here.jsonl", say("one"), say("two")) as agent:
        await seen(agent, "1")
        (tmp_path / "sub").mkdir()
        monkeypatch.chdir(tmp_path / "sub")
        await seen(agent, "2")
    assert len(held(tmp_path / "here.jsonl").exchanges) == 2
    assert Path(agent.recording.path) == tmp_path / "here.jsonl"
