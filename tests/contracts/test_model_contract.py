"""What every `Model` keeps: the scripted one in-process and the real one over loopback HTTP are held to the same claims."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

from hermes_kernel import testing
from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import (
    KEPT,
    Failed,
    Interrupted,
    Replied,
    Retracted,
    TextDelta,
    ThoughtDelta,
    WindowFound,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import ToolSpec, User
from hermes_kernel.settings import Settings
from hermes_kernel.testing import (
    FAULTS,
    HINTS,
    OVERFLOWS,
    FastClock,
    ScriptedModel,
    Server,
    Thoughts,
    Tokens,
    bad_arguments,
    billed,
    call,
    calls,
    cut_call,
    cut_off,
    disconnect,
    disconnect_in_call,
    duplicate_call,
    empty,
    error_in_stream,
    error_with_200,
    filtered,
    garbled,
    hang_up,
    late,
    login_page,
    no_choices,
    out_of_quota,
    overflow,
    queued,
    rate_limited,
    raw,
    say,
    stall,
    status,
    thinking_only,
    torn,
    unfinished,
    unstreamed,
    used_up,
)
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.model import OpenAIModel
from hermes_kernel.world.stop import Stop

TOOLS = tuple(ToolSpec(name, name, '{"type": "object", "properties": {}}') for name in ("price", "python"))
TWO = [("price", {"sku": "A1"}), ("python", {"code": "print('ä 😀')\n"})]
SHAPES = ["openai", "llama", "whole", "ollama", "gemini", "litellm", "dict", "batch"]

STEPS = {
    "text": say("Hello there."),
    "text in one piece": say(["All at once."]),
    "usage": say("Counted.", usage=Tokens(500, 20, 300, 5, 0.01)),
    "cut off": cut_off("Once upon a"),
    "torn emoji": torn("a😀b🎈"),
    "lone surrogate": say(["a\ud83d", "b"]),
    "empty": empty(),
    "thoughts only": thinking_only("hm"),
    "thoughts to the limit": thinking_only("hm", finish="length"),
    "unstreamed": unstreamed("Hello."),
    "null finish, but done": say("Hello.", finish=None),
    **{f"thoughts {form}": say("Yes.", thoughts=Thoughts("well, well", form)) for form in
       ("reasoning_content", "reasoning", "reasoning_details", "content_list", "think_tag")},
    **{f"calls {shape}": calls(TWO, shape=shape) for shape in SHAPES},
    "calls behind stop": calls(TWO, finish="stop"),
    "text and a call": call("price", {"sku": "A1"}, text="Let me look."),
    "cut call": cut_call("price", {"sku": "A123456"}, keep=9),
    "cut call behind tool_calls": cut_call("price", {"sku": "A123456"}, keep=9, form="tool_calls"),
    "cut call, llama-server": cut_call("price", {"sku": "A123456"}, keep=9, form="invalid_diff"),
    "hang up": hang_up(),
    "hang up with a reset": hang_up(reset=True),
    "disconnect": disconnect("one two three four", after=2),
    "disconnect with a reset": disconnect("one two three four", after=2, reset=True),
    "disconnect in a call": disconnect_in_call("price", {"sku": "A1"}, keep=5, text="Let me look."),
    "garbled": garbled("one two three", after=2),
    "unfinished": unfinished("one two three"),
    "no choices": no_choices(),
    "login page": login_page(),
    "error with 200": error_with_200(),
    "out of quota": out_of_quota(),
    "filtered": filtered(),
    **{f"error in stream {form}": error_in_stream(text="one two", form=form)
       for form in ("object", "vllm", "openrouter", "event", "llama_line", "list")},
    **{f"status {code}": status(code) for code in (400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529)},
    **{f"overflow {name}": overflow(name) for name in OVERFLOWS},
    **{f"hint {hint}": rate_limited(30, hint=hint) for hint in HINTS},
    "503 with a hint": rate_limited(7, code=503),
    "late": late(say("Hello."), 0.1),
    "billed": billed(say("Hello."), 700, 30),
    "used up": used_up(say("Hello."), 30),
    "bytes of one's own": raw(b": nothing yet\n\n", 0.05, b"data: {\n\n"),
    **{f"fault {name}": step for name, step in FAULTS.items()},
}  # fmt: skip


class Both:
    """The same script for both models."""

    def __init__(self, stack: ExitStack):
        self._stack = stack

    def fake(self, *steps):
        return ScriptedModel(steps, clock=FastClock())

    def real(self, *steps):
        server = self._stack.enter_context(Server(steps))
        return OpenAIModel(
            Settings(base_url=server.url, model="m", api_key="sk-secret", stale_seconds=0.4), SystemClock()
        )


@pytest.fixture
def models():
    with ExitStack() as stack:
        yield Both(stack)


async def told(model, command=None, stop=None):
    events = [event async for event in model.reply(command or CallModel((User("q"),)), TOOLS, stop or Stop())]
    if isinstance(model, OpenAIModel):
        await model.aclose()
    return events


def screen(shown, events):
    for event in events:
        shown = "" if isinstance(event, Retracted) else shown + (event.text if isinstance(event, TextDelta) else "")
    return shown


def essence(event):
    """What two models must agree on."""
    match event:
        case Replied():
            asked = [
                (one.name, json.loads(one.arguments) if not one.flaw else one.arguments, bool(one.flaw))
                for one in event.calls
            ]
            return ("replied", event.text, asked, event.finish if not event.cut else "cut", event.cut, event.thoughts)
        case Failed():
            return ("failed", event.fault, event.partial, event.wait is not None)
        case Interrupted():
            return ("interrupted", event.by, event.partial)


def check_claims(events, shown=""):
    """The claims of `ports.Model`."""
    *passing, end = events
    assert isinstance(end, Replied | Failed | Interrupted)
    kept = [event for event in passing if isinstance(event, KEPT)]
    assert all(isinstance(event, WindowFound) for event in kept), "exactly one kept event of the call, the last"
    assert len(kept) <= 1
    assert screen(shown, passing) == (end.text if isinstance(end, Replied) else end.partial)
    assert "".join(event.text for event in passing if isinstance(event, ThoughtDelta)) == getattr(
        end, "thoughts", ""
    ) or isinstance(end, Failed)
    repr(events).encode()
    assert "sk-secret" not in repr(events)
    if isinstance(end, Failed):
        assert end.message
        assert "\n" not in end.message
        assert len(end.message) <= 300
    if isinstance(end, Replied):
        assert end.usage.calls == 1
        assert len({one.id for one in end.calls}) == len(end.calls)
        assert all(one.flaw or isinstance(json.loads(one.arguments), dict) for one in end.calls)


@pytest.mark.parametrize("name", STEPS)
async def test_both_models_make_the_same_of_whatever_a_server_does(models, name):
    step = STEPS[name]
    expected, found = await told(models.fake(step)), await told(models.real(step))
    check_claims(found)
    check_claims(expected)
    assert essence(found[-1]) == essence(expected[-1])
    waits = [event.wait for event in (expected[-1], found[-1]) if isinstance(event, Failed)]
    if waits and waits[0] is not None:
        assert waits[1] == pytest.approx(waits[0], abs=1.1)


@pytest.mark.parametrize("name", sorted(set(FAULTS) - {Fault.PROACTIVE_RATE_LIMIT}), ids=str)
async def test_a_fault_of_a_name_is_that_fault(models, name):
    assert (await told(models.fake(FAULTS[name])))[-1].fault is name


async def test_after_an_answer_that_uses_up_the_limit_the_next_request_waits(models):
    model = models.real(FAULTS[Fault.PROACTIVE_RATE_LIMIT])
    told_of = [event for _ in range(2) async for event in model.reply(CallModel((User("q"),)), TOOLS, Stop())]
    await model.aclose()
    assert told_of[-1].fault is Fault.PROACTIVE_RATE_LIMIT


def test_there_is_a_step_for_every_fault_of_a_server_and_every_step_is_held_to_the_claims():
    assert set(Fault) - set(FAULTS) == {Fault.NOT_RECORDED}
    makers = {
        name
        for name in testing.__all__
        if getattr(getattr(testing, name), "__annotations__", {}).get("return") == "Step"
    }
    # what a real client mends before anyone sees it: tests/contracts/test_model_wire.py; and what these claims are not of
    mended = {"failed_generation", "refused_parameter", "refused_tool_choice", "without_tools", "written_call"}
    assert makers - set(globals()) == mended | {"fault", "forever"}


@pytest.mark.parametrize("shape", ["no_ids", "same_id"])
async def test_calls_get_ids_of_their_own_where_a_server_gives_none(models, shape):
    found = await told(models.real(calls(TWO, shape=shape)))
    check_claims(found)
    assert [(one.name, json.loads(one.arguments)) for one in found[-1].calls] == TWO


async def test_the_same_call_twice_is_one_call_or_two_ids(models):
    found = await told(models.real(duplicate_call("price", {"sku": "A1"})))
    check_claims(found)


async def test_arguments_that_cannot_be_read_are_a_flaw(models):
    found = await told(models.real(bad_arguments("price")))
    check_claims(found)
    assert "not valid JSON" in found[-1].calls[0].flaw


@pytest.mark.parametrize("kind", ["fake", "real"])
@pytest.mark.parametrize(
    ("shown", "step"),
    [
        ("Hello there", say("Hello there, you.")),
        ("Hello there", say("Hello world")),
        ("Hello there, you and you", say("Hello there")),
        ("Hello there", disconnect("Hello there you all", after=1)),
        ("Hello there", disconnect("Hello there you all", after=3)),
        ("Hello there", status(500)),
        ("Hello there", hang_up()),
        ("Hello there", disconnect("Hi there", after=1)),
    ],
)
async def test_what_was_shown_before_is_not_told_again(models, kind, shown, step):
    command = CallModel((User("q"),), shown=shown)
    check_claims(await told(getattr(models, kind)(step), command), shown)


@pytest.mark.parametrize("kind", ["fake", "real"])
async def test_a_stop_that_was_pressed_before_sends_nothing(models, kind):
    stop = Stop()
    stop.press("kernel")
    events = await told(getattr(models, kind)(say("Hello.")), CallModel((User("q"),), shown="He"), stop)
    assert essence(events[-1]) == ("interrupted", "kernel", "He")


@pytest.mark.parametrize("kind", ["fake", "real"])
async def test_a_stop_in_silence_interrupts_with_what_is_seen(models, kind):
    stop = Stop()
    model = getattr(models, kind)(stall("one two three", after=2, seconds=0.3))
    events = []
    async for event in model.reply(CallModel((User("q"),)), TOOLS, stop):
        events.append(event)
        if screen("", events) == "one two ":
            stop.press()
    if isinstance(model, OpenAIModel):
        await model.aclose()
    assert essence(events[-1]) == ("interrupted", "person", "one two ")


@pytest.mark.parametrize("kind", ["fake", "real"])
async def test_a_stream_that_falls_silent_fails_and_the_next_call_is_well(models, kind):
    model = getattr(models, kind)(stall("one two three", after=2, seconds=5), queued(say("Hello."), 0.1))
    events = [event async for event in model.reply(CallModel((User("q"),)), TOOLS, Stop())]
    assert essence(events[-1])[:3] == ("failed", "stale_stream", "one two ")
    check_claims(await told(model))
