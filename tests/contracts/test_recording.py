"""What every wire keeps: the real one, one that is recorded and the recording itself are held to the same claims, over
everything that a server does."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, aclosing
from pathlib import Path

import pytest

from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Interrupted, Noticed, Replied, TextDelta
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import User
from hermes_kernel.core.recording.cassette import Block, Exchange
from hermes_kernel.core.recording.normal import Places
from hermes_kernel.core.recording.normal import request as normal
from hermes_kernel.settings import Settings
from hermes_kernel.testing import FAULTS, FastClock, Server, Soon, call, late, queued, raw, say, stall, status
from hermes_kernel.testing.wire import text_event
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.model import OpenAIModel, Route
from hermes_kernel.world.model.pool import Pool
from hermes_kernel.world.recording.form import Form, Surroundings
from hermes_kernel.world.recording.listening import Recording
from hermes_kernel.world.recording.player import Player
from hermes_kernel.world.recording.reel import Reel
from hermes_kernel.world.recording.replaying import Filling, Replaying
from hermes_kernel.world.spec import counted_call_ids
from hermes_kernel.world.stop import Stop
from tests.contracts.recorded import KEY, held, timeless, waits
from tests.contracts.test_model_contract import STEPS, TOOLS, TWO, calls, check_claims, essence
from tests.contracts.test_model_windows import serving

TABLE = STEPS | {
    "no ids": calls(TWO, shape="no_ids"),
    "same id": calls(TWO, shape="same_id"),
    "late": late(say("Hello."), 0.1),
    "silent from the start": late(say("Hello."), 5),
    "queued": queued(say("Hello."), 0.2),
    "queued for ever": queued(say("Hello."), float("inf")),
    "an instant in a header": status(429, headers={"retry-after": Soon(20)}),
    "no text": raw(b"data: \xff\xfe\n\n"),
}
SHORT = {"stale_seconds": 0.3, "first_byte_seconds": 0.3, "queued_seconds": 0.6}


def form(folder):
    return Form(Surroundings(folder, lambda: folder, lambda: frozenset({KEY}), SystemClock()))


class Wires:
    """The keepers of one contract, over a script."""

    def __init__(self, folder: Path, stack: ExitStack):
        self.path = folder / "x.cassette.jsonl"
        self.url = "http://127.0.0.1:9/v1"
        self._stack = stack
        self._form = form(folder)

    def real(self, *steps):
        self.server = self._stack.enter_context(Server(steps[0] if steps and callable(steps[0]) else steps))
        self.url = self.server.url
        return Pool(10)

    def recording(self, *steps):
        reel = Reel(self.path)
        self._stack.callback(reel.let_go)
        return Recording(self.real(*steps), reel, self._form)

    def replaying(self, clock=None):
        return Replaying(Player(self.path), self._form, clock)

    def filling(self, *steps):
        self._stack.close()
        player = Player(self.path)
        reel = Reel(self.path)
        reel.take_up(lambda: player.cassette.head, player.cassette)
        self._stack.callback(reel.let_go)
        return Filling(Replaying(player, self._form, None), Recording(self.real(*steps), reel, self._form))

    def model(self, wire, clock=None, **more):
        settings = Settings(base_url="https://h/v1", model="m", api_key=KEY, **SHORT | more)
        routes = [Route("m", self.url, KEY)]
        return OpenAIModel(settings, clock or SystemClock(), routes=routes, wire=wire, new_id=counted_call_ids())

    async def told(self, wire, command=None, stop=None, clock=None, **more):
        model = self.model(wire, clock, **more)
        events = [event async for event in model.reply(command or ASK, TOOLS, stop or Stop())]
        await model.aclose()
        return events


ASK = CallModel((User("q"),))
QUESTION = normal({"messages": [{"role": "user", "content": "q"}], "tools": [1]}, Places())


@pytest.fixture
def wires(tmp_path):
    with ExitStack() as stack:
        yield Wires(tmp_path, stack)


@pytest.mark.parametrize("name", TABLE)
async def test_what_was_recorded_of_whatever_a_server_does_is_told_again_event_by_event(wires, name):
    recorded = await wires.told(wires.recording(TABLE[name]))
    check_claims(recorded)
    replayed = await wires.told(wires.replaying())
    check_claims(replayed)
    assert timeless(replayed) == timeless(recorded)
    assert waits(replayed) == pytest.approx(waits(recorded), abs=0.1)
    assert KEY not in wires.path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*FAULTS, "text"], ids=str)
async def test_to_be_recorded_changes_nothing(wires, name):
    step = FAULTS.get(name, say("Hello."))
    plain, recorded = await wires.told(wires.real(step)), await wires.told(wires.recording(step))
    assert essence(recorded[-1]) == essence(plain[-1])


@pytest.mark.parametrize("step", [say("one two", gap=0.1), stall("one two", after=1, seconds=0.2)])
async def test_with_its_pauses_it_takes_as_long_as_it_took_on_the_clock(wires, step):
    recorded = await wires.told(wires.recording(step))
    clock = FastClock(real=0.0)
    replayed = await wires.told(wires.replaying(clock))
    assert timeless(replayed) == timeless(recorded)
    assert clock.skipped == pytest.approx(recorded[-1].seconds, abs=0.1)


async def test_without_them_a_silence_that_was_ended_is_told_at_once(wires):
    await wires.told(wires.recording(stall("one two", after=1, seconds=30)), stale_seconds=3)
    began = asyncio.get_running_loop().time()
    failed = (await wires.told(wires.replaying()))[-1]
    assert failed.fault is Fault.STALE_STREAM
    assert "silent for 3 s" in failed.message
    assert asyncio.get_running_loop().time() - began < 3


async def test_a_silence_is_told_by_the_clock_where_its_pauses_are_played(wires):
    reel = Reel(wires.path)
    blocks = tuple(Block(text_event(word), gap) for word, gap in (("one ", 0.5), ("two", 60.0)))
    reel.keep(Exchange(QUESTION, blocks=(*blocks, Block(b"data: [DONE]\n\n"))))
    reel.let_go()
    replied = (await wires.told(wires.replaying(clock := FastClock(real=0.0)), clock=clock))[-1]
    assert isinstance(replied, Replied), "a minute of a clock that is a thousand times as fast hangs nothing up"
    assert replied.silences == ((pytest.approx(0.5, abs=0.2), pytest.approx(60, abs=0.5)),)
    assert replied.seconds == pytest.approx(60.5, abs=0.5)


async def test_the_same_request_is_answered_in_its_order_and_then_from_the_beginning(wires):
    wire = wires.recording(status(500), say("one"), say("two"))
    recorded = [(await wires.told(wire))[-1] for _ in range(3)]
    wire = wires.replaying()
    for _ in range(2):
        assert [essence((await wires.told(wire))[-1]) for _ in range(3)] == [essence(end) for end in recorded]


async def test_a_request_that_nobody_recorded_is_a_fault_of_its_own_that_says_what_differs(wires):
    await wires.told(wires.recording(say("x")), CallModel((User("Which month in sales?"),)))
    wire = wires.replaying()
    failed = (await wires.told(wire, CallModel((User("Which month in revenue?"),))))[-1]
    assert failed.fault is Fault.NOT_RECORDED
    assert "[-sales-]{+revenue+}" in failed.message
    assert "x.cassette.jsonl" in failed.message


async def test_what_a_person_stopped_is_not_recorded(wires):
    stop, wire = Stop(), wires.recording(stall("one two three", after=2, seconds=5), say("Hello."))
    model = wires.model(wire)
    async with aclosing(model.reply(ASK, TOOLS, stop)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                stop.press()
            if isinstance(event, Interrupted):
                break
    async with aclosing(model.reply(ASK, TOOLS, Stop())) as events:
        ends = [event async for event in events]
    await model.aclose()
    assert isinstance(ends[-1], Replied)
    assert len(held(wires.path).exchanges) == 1


async def test_a_replay_can_be_stopped_in_its_pauses(wires):
    await wires.told(wires.recording(say("one two", gap=0.1)))
    stop = Stop()
    loop = asyncio.get_running_loop()
    loop.call_later(0.05, stop.press)
    events = await wires.told(wires.replaying(SystemClock()), stop=stop)
    assert isinstance(events[-1], Interrupted)


async def test_a_block_is_shown_before_the_next_is_taken_and_others_have_their_turn(wires):
    text = [f"{n} " for n in range(200)]
    recorded = await wires.told(wires.recording(say(text, gap=0.001)))
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.ensure_future(other())
    replayed = await wires.told(wires.replaying())
    task.cancel()
    assert timeless(replayed) == timeless(recorded)
    shown = sum(isinstance(event, TextDelta) for event in replayed)
    assert turns >= shown > 10


async def test_gaps_are_filled_what_is_known_is_not_asked_again(wires):
    other = CallModel((User("another"),))
    await wires.told(wires.recording(say("one")))
    wire = wires.filling(say("two"))
    assert (await wires.told(wire))[-1].text == "one"
    assert wires.server.requests == ()
    assert (await wires.told(wire, other))[-1].text == "two"
    assert len(wires.server.requests) == 1
    wire = wires.replaying()
    assert [(await wires.told(wire, command))[-1].text for command in (ASK, other)] == ["one", "two"]


async def test_a_lesson_that_was_learnt_meanwhile_is_none_to_fail_at(wires):
    refused = status(400, "Unrecognized request argument supplied: stream_options")
    ways = {"a": (late(refused, 2), say("x")), "b": (late(refused, 2.1), say("y"))}  # both are asked before
    both = CallModel((User("a"),)), CallModel((User("b"),))

    async def ask(model, command):
        return [event async for event in model.reply(command, TOOLS, Stop())]

    def answer(request):
        return ways[request.messages[-1]["content"]]["stream_options" not in request.body]

    model = wires.model(wires.recording(answer), first_byte_seconds=30)
    model.warm()
    recorded = await asyncio.gather(*(ask(model, command) for command in both))
    await model.aclose()
    model = wires.model(wires.replaying())
    replayed = [await ask(model, command) for command in both]
    assert [events[-1].text for events in recorded + replayed] == ["x", "y", "x", "y"]
    assert [sum(isinstance(event, Noticed) for event in events) for events in replayed] == [1, 1]


@pytest.mark.parametrize("late", [False, True], ids=["before an answer", "after it"])
async def test_a_window_that_was_found_is_found_again(tmp_path, late):
    with serving({"/v1/models": {"data": [{"id": "m", "max_model_len": 16_384}]}}) as server:
        route = Route("m", server.url, KEY)
        ours = form(tmp_path)
        reel = Reel(tmp_path / "x")
        wire = Recording(Pool(10), reel, ours)
        for at in (late, not late):
            if at:
                reel.keep(Exchange(QUESTION))
            else:
                assert wire.window(route).tokens == 16_384
        reel.let_go()
        assert Replaying(Player(tmp_path / "x"), ours, None).window(route).tokens == 16_384


async def test_an_address_that_is_none_is_told_again_as_well(wires):
    wire = wires.recording()
    wires.url = "http://127.0.0.1:x/v1"
    recorded = await wires.told(wire)
    assert recorded[-1].fault is Fault.MODEL_NOT_FOUND
    assert timeless(await wires.told(wires.replaying())) == timeless(recorded)


async def test_a_call_is_told_again_with_the_id_it_had(wires):
    recorded = await wires.told(wires.recording(call("price", {"sku": "A1"})))
    replayed = await wires.told(wires.replaying())
    assert replayed[-1].calls == recorded[-1].calls
