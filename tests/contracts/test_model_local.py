"""``local:`` as a route: a server of our own is started when it is first asked, told of, and ended."""

from __future__ import annotations

import asyncio

import pytest

from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Failed, Interrupted, Noticed, Replied
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import ToolSpec, User
from hermes_kernel.settings import Settings
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.local import available
from hermes_kernel.world.model import OpenAIModel
from hermes_kernel.world.stop import Stop

ASK = CallModel((User("Say hello."),), max_tokens=8)
TOOLS = (ToolSpec("add", "Add.", '{"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)"}}}'),)


def model_at(home, name="smol", base_url="local:"):
    return OpenAIModel(Settings(base_url=base_url, model=name, home=home), SystemClock())


async def ask(model, stop=None):
    return [event async for event in model.reply(ASK, TOOLS, stop or Stop())]


@pytest.mark.local
@pytest.mark.skipif(not available("smol"), reason="the smallest local model is not installed")
async def test_it_is_started_when_first_asked_and_answers_at_temperature_0(tmp_path):
    model = model_at(tmp_path)
    first, second = await ask(model), await ask(model)
    if isinstance(second[-1], Failed) and second[-1].fault is Fault.DISCONNECT:
        second = await ask(model)  # this server may let a kept connection go unasked; a turn asks again at once, too
    await model.aclose()
    assert isinstance(second[-1], Replied), second[-1]
    assert any(isinstance(event, Noticed) for event in first)
    assert not any(isinstance(event, Noticed) for event in second)
    assert isinstance(first[-1], Replied)
    assert (first[-1].text, first[-1].model, first[-1].endpoint) == (second[-1].text, "smol", "local:")
    assert first[-1].usage.output_tokens > 0


@pytest.mark.local
@pytest.mark.skipif(not available("smol"), reason="the smallest local model is not installed")
async def test_a_stop_while_it_starts_ends_the_call(tmp_path):
    model, stop = model_at(tmp_path), Stop()
    asyncio.get_running_loop().call_later(0.1, stop.press)
    events = await ask(model, stop)
    await model.aclose()
    assert isinstance(events[-1], Interrupted)


async def test_who_asks_again_is_told_what_is_waited_for_again(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    model, told = model_at(tmp_path), []
    (tmp_path / "store").mkdir()
    with (tmp_path / "store" / "local-smol.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for _ in range(2):
            stop = Stop()
            async for event in model.reply(ASK, TOOLS, stop):
                if isinstance(event, Noticed):
                    told.append(event.text)
                    stop.press()
    await model.aclose()
    assert told == ["local model: another notebook starts it"] * 2


async def test_a_local_model_that_is_none_says_which_there_are(tmp_path):
    model = model_at(tmp_path, "llama-900b")
    events = await ask(model)
    await model.aclose()
    assert isinstance(events[-1], Failed)
    assert events[-1].fault is Fault.MODEL_NOT_FOUND
    assert "qwen" in events[-1].message
