"""The real model against a real server: limits of silence, stops, lessons, routes, limits of rate, and recorded streams."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import socket
import threading
import time
from pathlib import Path

import pytest

from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.events import Calling, Failed, Interrupted, Noticed, Replied, Silence, TextDelta
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import Assistant, Image, Observation, ToolCall, ToolSpec, User
from hermes_kernel.settings import Settings
from hermes_kernel.testing import (
    FastClock,
    Server,
    Step,
    call,
    error_in_stream,
    failed_generation,
    forever,
    hang_up,
    late,
    out_of_quota,
    queued,
    rate_limited,
    raw,
    refused_parameter,
    say,
    stall,
    status,
    unstreamed,
    without_tools,
    written_call,
)
from hermes_kernel.testing.step import Pause
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.model import OpenAIModel
from hermes_kernel.world.stop import Stop
from tests.ports import own_port
from tests.soon import SOON

STREAMS = Path(__file__).parent / "streams"
SCHEMA = '{"type": "object", "properties": {"sku": {"type": "string", "pattern": "^(?=A)", "format": "x"}}}'
TOOLS = (ToolSpec("price", "Look up a price.", SCHEMA),)
FOREVER = float("inf")
ASK = CallModel((User("q"),))


def model_for(server, *, clock=None, **settings):
    url = server if isinstance(server, str) else server.url
    return OpenAIModel(
        Settings(**{"base_url": url, "model": "m", "api_key": "sk-secret", "stale_seconds": 0.5, **settings}),
        clock or SystemClock(),
    )


async def ask(model, command=ASK, tools=(), stop=None):
    return [event async for event in model.reply(command, tools, stop or Stop())]


async def once(step, command=ASK, tools=(), **settings):
    """The final event and the request of one call."""
    with Server(forever(step)) as server:
        model = model_for(server, **settings)
        events = await ask(model, command, tools)
        await model.aclose()
        return events[-1], server.requests[-1]


# --- silence ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "settings", "fault", "kind"),
    [
        (stall("one two three", after=2, seconds=FOREVER), {"stale_seconds": 1.5}, Fault.STALE_STREAM, "stream"),
        (late(say("x"), FOREVER), {"first_byte_seconds": 1.5}, Fault.TIMEOUT, "first_byte"),
        (queued(say("x"), FOREVER), {"queued_seconds": 1.5}, Fault.TIMEOUT, "queued"),
        (queued(say("x"), FOREVER, line=b"\n"), {"queued_seconds": 1.5}, Fault.TIMEOUT, "queued"),
        (
            queued(say("x"), FOREVER, line=b'data: {"choices": []}\n\n'),
            {"queued_seconds": 1.5},
            Fault.TIMEOUT,
            "queued",
        ),
        (queued(say("x"), FOREVER, line=b"data: "), {"queued_seconds": 1.5}, Fault.TIMEOUT, "queued"),
    ],
)
async def test_no_silence_is_endless_and_the_connection_is_closed(step, settings, fault, kind):
    with Server([step, say("Hello.")]) as server:
        model = model_for(server, **settings)
        began = time.monotonic()
        events = await ask(model)
        took = time.monotonic() - began
        assert isinstance(events[-1], Failed)
        assert events[-1].fault is fault
        assert [event.kind for event in events if isinstance(event, Silence)] == [kind]
        assert 1.3 < took < 6, "0.1 s over the limit on a quiet machine"
        assert await asyncio.to_thread(server.await_idle, 2)
        assert server.requests[0].closed_by_client is not None
        again = await ask(model)
        await model.aclose()
        assert again[-1].text == "Hello."
        assert len({request.connection for request in server.requests}) == 2


async def test_keep_alives_are_no_silence_and_the_answer_still_comes():
    final, _ = await once(queued(say("Hello."), 1.2), stale_seconds=0.3)
    assert final.text == "Hello."


async def test_a_reply_that_ends_while_its_beginning_is_shown_is_read_to_its_end():
    with Server(say("one two three four five six seven eight nine ten " * 20)) as server:
        model, told = model_for(server), []
        async for event in model.reply(ASK, (), Stop()):
            told.append(event)
            await asyncio.sleep(0.05 if isinstance(event, TextDelta) else 0)  # as whoever paints it may
        await model.aclose()
    assert isinstance(told[-1], Replied), told[-1]
    assert told[-1].usage.calls == 1
    assert not told[-1].usage.estimated, "the last chunk counts the tokens"


async def test_a_loop_that_was_blocked_is_not_taken_for_a_dead_server():
    with Server(stall("one two three", after=2, seconds=0.3)) as server:
        model = model_for(server, stale_seconds=0.8)
        seen = []
        async for event in model.reply(ASK, (), Stop()):
            if isinstance(event, TextDelta) and not seen:
                time.sleep(1.5)
            seen.append(event)
        await model.aclose()
    assert isinstance(seen[-1], Replied)
    assert seen[-1].text == "one two three"


async def test_an_event_that_cannot_be_read_ends_the_call_at_once():
    final, _ = await once(Step("torn", (b"data: {\n\n", Pause(FOREVER)), chunked=False), stale_seconds=60)
    assert (final.fault, final.message) == (Fault.DISCONNECT, "the stream broke in the middle of an event")


async def test_a_reply_that_is_done_does_not_wait_for_a_server_that_never_hangs_up():
    step = say("Hello.")
    endless = Step("endless", (*step.beats, Pause(FOREVER)))
    final, _ = await once(endless)
    assert final.text == "Hello."


# --- stops ------------------------------------------------------------------------------------------------------------


async def stopped(model, when):
    """How long from the press to the end, and the end."""
    stop = Stop()
    pressed = 0.0
    loop = asyncio.get_running_loop()

    def press():
        nonlocal pressed
        pressed = time.monotonic()
        stop.press()

    if when == "timer":
        loop.call_later(0.2, press)
    final = None
    async for event in model.reply(ASK, (), stop):
        if when == "text" and isinstance(event, TextDelta) and not pressed:
            loop.call_later(0.05, press)
        final = event
    return time.monotonic() - pressed, final


@pytest.mark.parametrize(
    ("step", "when", "partial"),
    [
        (late(say("x"), FOREVER), "timer", ""),
        (stall("one two", after=1, seconds=FOREVER), "text", "one "),
        (queued(say("x"), FOREVER), "timer", ""),
        (say(["a"] * 2000, gap=0.01), "text", None),
    ],
)
async def test_a_stop_ends_a_call_at_once_and_hangs_up(step, when, partial):
    with Server(step) as server:
        model = model_for(server, stale_seconds=60)
        took, final = await stopped(model, when)
        assert isinstance(final, Interrupted)
        assert took < SOON
        if partial is not None:
            assert final.partial == partial
        assert await asyncio.to_thread(server.await_idle, 2)
        assert server.requests[0].closed_by_client is not None
        await model.aclose()


async def test_a_stop_while_connecting_ends_it_at_once():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:  # a full backlog: the handshake of the next one is never answered
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        model = model_for(f"http://127.0.0.1:{port}/v1")
        took, final = await stopped(model, "timer")
        await model.aclose()
        for filler in fillers:
            filler.close()
    assert isinstance(final, Interrupted)
    assert took < SOON


async def test_leaving_the_iteration_early_hangs_up():
    with Server(stall("one two", after=1, seconds=FOREVER)) as server:
        model = model_for(server, stale_seconds=60)
        events = model.reply(ASK, (), Stop())
        async for event in events:
            if isinstance(event, TextDelta):
                break
        await events.aclose()
        assert await asyncio.to_thread(server.await_idle, 2)
        await model.aclose()


# --- requests ---------------------------------------------------------------------------------------------------------


async def test_a_request_has_few_fields_and_the_whole_conversation():
    transcript = (
        User("first"),
        User("second"),
        Assistant(
            "",
            (
                ToolCall("c1", "price", '{"sku": "A"}', extra='{"extra_content": {"s": 1}}'),
                ToolCall("c2", "price", "{'", flaw="bad"),
            ),
            extra='{"reasoning": "r"}',
        ),
        Observation("c1", "price", "3 EUR"),
        Observation("c2", "price", "not JSON"),
    )
    _, request = await once(
        say("x"), CallModel(transcript, system="Be brief.", suffix=User("go on"), max_tokens=64), TOOLS
    )
    body = request.body
    assert set(body) == {"model", "stream", "stream_options", "max_tokens", "tools", "messages"}
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "first\n\nsecond"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "price", "arguments": '{"sku": "A"}'}, "extra_content": {"s": 1}},
            {"id": "c2", "type": "function", "function": {"name": "price", "arguments": "{}"}},
        ]},
        {"role": "tool", "tool_call_id": "c1", "name": "price", "content": "3 EUR"},
        {"role": "tool", "tool_call_id": "c2", "name": "price", "content": "not JSON"},
        {"role": "user", "content": "go on"},
    ]  # fmt: skip
    assert body["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {"sku": {"type": "string"}}}
    assert request.headers["authorization"] == "Bearer sk-secret"


async def test_a_prompt_said_after_a_prompt_is_one_message_and_no_tools_means_none():
    _, request = await once(say("x"), CallModel((User("one"),), suffix=User("two"), tools=False), TOOLS)
    assert request.messages == [{"role": "user", "content": "one\n\ntwo"}]
    assert "tools" not in request.body


async def test_a_growing_conversation_is_sent_whole_each_time():
    with Server(forever(say("x"))) as server:
        model = model_for(server)
        transcript = (User("one"),)
        for number in range(4):
            await ask(model, CallModel(transcript))
            transcript = (*transcript, Assistant(f"a{number}"), User(f"q{number}"), User("and"))
        await ask(model, CallModel((*transcript[:2], User("another end"))))
        await model.aclose()
        texts = [[message["content"] for message in request.messages] for request in server.requests]
    assert texts[2] == ["one", "a0", "q0\n\nand", "a1", "q1\n\nand"]
    assert texts[4] == ["one", "a0", "another end"]


@pytest.mark.parametrize(
    ("caution", "sent"),
    [(0, "ä 😀 \ufffd".encode()), (1, b"\\u00e4 \\ud83d\\ude00 \\ufffd"), (2, b"\\u00e4 \\ufffd \\ufffd")],
)
async def test_caution_writes_less_and_less_daringly(caution, sent):
    from hermes_kernel.world.model.encode import Encoder
    from hermes_kernel.world.model.quirks import Quirks

    body, _ = Encoder("m").body(CallModel((User("ä 😀 \ud83d"),), caution=caution), (), Quirks(), 0)
    assert sent in body
    assert json.loads(body)


IMAGES = (
    User("look", (Image("image/png", "QUJD"),)),
    Assistant("", (ToolCall("c1", "price", "{}"),)),
    Observation("c1", "price", "plot", images=(Image("image/png", "REVG"),)),
)


async def test_images_go_as_parts_and_those_of_tools_after_the_results():
    _, request = await once(say("x"), CallModel(IMAGES))
    first, _, tool, last = request.messages
    assert first["content"][1]["image_url"]["url"] == "data:image/png;base64,QUJD"
    assert tool["content"] == "plot"
    assert last["role"] == "user"
    assert last["content"][1]["image_url"]["url"] == "data:image/png;base64,REVG"


async def test_a_model_that_cannot_see_is_told_once_and_remembered():
    refused = status(500, "image input is not supported - hint: provide the mmproj")
    with Server([refused, say("x"), say("y")]) as server:
        model = model_for(server)
        events = await ask(model, CallModel(IMAGES))
        await ask(model, CallModel(IMAGES))
        await model.aclose()
        assert [event.text for event in events if isinstance(event, Noticed)] == [
            "This model takes no images: they are left out."
        ]
        assert [isinstance(request.messages[0]["content"], str) for request in server.requests] == [False, True, True]
    off, request = await once(say("x"), CallModel(IMAGES), vision="off")
    assert off.text == "x"
    assert "taken" not in str(request.messages)
    assert "QUJD" not in str(request.messages)


# --- lessons ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("complaint", "absent", "present"),
    [
        (refused_parameter("stream_options"), "stream_options", "model"),
        (refused_parameter("stream_options", code=422), "stream_options", "model"),
        (refused_parameter("max_tokens", use="max_completion_tokens"), "max_tokens", "max_completion_tokens"),
        (without_tools(), "tools", "model"),
        (status(404, "No endpoints found that support tool use."), "tools", "model"),
    ],
)
async def test_a_complaint_about_a_field_is_heard_once(complaint, absent, present):
    with Server([complaint, say("x"), say("y")]) as server:
        model = model_for(server)
        command = CallModel((User("q"),), max_tokens=50)
        first = await ask(model, command, TOOLS)
        second = await ask(model, command, TOOLS)
        await model.aclose()
        assert (first[-1].text, second[-1].text) == ("x", "y")
        assert sum(isinstance(event, Noticed) for event in first) == 1
        assert absent in server.requests[0].body
        for request in server.requests[1:]:
            assert absent not in request.body
            assert present in request.body


async def test_a_complaint_that_does_not_end_ends():
    with Server(forever(refused_parameter("stream_options"))) as server:
        model = model_for(server)
        events = await ask(model)
        await model.aclose()
        assert events[-1].fault is Fault.FORMAT_ERROR
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("words", "check"),
    [
        (
            "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
            lambda m: len(m[1]["tool_calls"][0]["id"]) == 9 and m[2]["tool_call_id"] == m[1]["tool_calls"][0]["id"],
        ),
        (
            "Unexpected role 'user' after role 'tool'",
            lambda m: [one["role"] for one in m[2:]] == ["tool", "assistant", "user"],
        ),
        (
            "Missing reasoning_content field in the assistant message at message index 1",
            lambda m: m[1].get("reasoning_content") == "r",
        ),
        ("Invalid value for 'content': expected a string, got null.", lambda m: m[1]["content"] == ""),
        (
            "messages.1.tool_calls.0.extra_content: Extra inputs are not permitted",
            lambda m: "extra_content" not in m[1]["tool_calls"][0],
        ),
    ],
)
async def test_a_complaint_about_messages_changes_how_they_are_written(words, check):
    transcript = (
        User("q"),
        Assistant(
            "", (ToolCall("call_1", "price", "{}", extra='{"extra_content": 1}'),), extra='{"reasoning_content": "r"}'
        ),
        Observation("call_1", "price", "3"),
        User("and"),
    )
    with Server([status(400, words), say("x")]) as server:
        model = model_for(server)
        events = await ask(model, CallModel(transcript))
        await model.aclose()
        assert events[-1].text == "x"
        assert not check(server.requests[0].messages)
        assert check(server.requests[1].messages)


async def test_an_output_limit_that_is_too_high_is_lowered_to_what_is_allowed():
    complaint = status(400, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.")
    with Server([complaint, say("x")]) as server:
        model = model_for(server)
        events = await ask(model, CallModel((User("q"),), max_tokens=100_000))
        await model.aclose()
        assert events[-1].text == "x"
        assert server.requests[1].body["max_tokens"] == 16384


async def test_a_call_that_the_provider_could_not_read_is_read():
    final, _ = await once(failed_generation('<function=price={"sku": "A1"}</function>'), tools=TOOLS)
    assert [(one.name, one.arguments) for one in final.calls] == [("price", '{"sku": "A1"}')]


async def test_a_call_written_as_text_is_a_call_and_never_shown():
    with Server(written_call("price", {"sku": "A1"})) as server:
        model = model_for(server)
        events = await ask(model, tools=TOOLS)
        await model.aclose()
    assert not any(isinstance(event, TextDelta) for event in events)
    assert json.loads(events[-1].calls[0].arguments) == {"sku": "A1"}
    assert len(events[-1].calls[0].id) == 9


# --- keys, routes, limits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"base_url": "https://api.example.com/v1", "model": "m"},
            "There is no API key for https://api.example.com/v1",
        ),
        (
            {"base_url": "https://api.example.com/v1", "model": "m", "api_key": "sk-schlüssel"},
            "characters that no key has",
        ),
        ({"model": "m"}, "No model is configured"),
    ],
)
async def test_what_cannot_work_is_said_in_one_line_without_asking(settings, words):
    events = await ask(OpenAIModel(Settings(**settings), SystemClock()))
    assert len(events) == 1
    assert events[0].fault is Fault.AUTH
    assert words in events[0].message
    assert "schlüssel" not in repr(events)


async def test_an_endpoint_on_this_machine_needs_no_key():
    final, request = await once(say("x"), api_key="")
    assert final.text == "x"
    assert request.headers["authorization"] == "Bearer none"


async def test_what_the_environment_says_for_openai_goes_to_openai_alone(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    _, request = await once(say("x"))
    assert not [name for name, value in request.headers.items() if "mine" in value]


async def test_a_proxy_has_no_business_on_this_machine(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    final, _ = await once(say("x"))
    assert final.text == "x"


async def test_an_address_without_its_path_is_suspected():
    with Server(forever(status(404, body="404 page not found"))) as server:
        model = model_for(server.url.removesuffix("/v1"))
        events = await ask(model)
        await model.aclose()
    assert events[-1].message.endswith("The address may lack /v1 at its end.")


async def test_the_key_is_never_in_an_error():
    final, _ = await once(status(401, "Incorrect API key provided: sk-secret."))
    assert (final.fault, final.message) == (Fault.AUTH, "Incorrect API key provided: ***.")


async def test_nobody_there_is_a_disconnect_that_names_the_reason():
    with own_port() as port:
        model = model_for(f"http://127.0.0.1:{port}/v1")
        events = await ask(model)
        await model.aclose()
    assert events[-1].fault is Fault.DISCONNECT
    assert "nobody answers there" in events[-1].message


async def test_https_to_a_plain_server_is_an_ssl_fault():
    async def answer(reader, writer):
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        model = model_for(f"https://127.0.0.1:{port}/v1")
        events = await ask(model)
        await model.aclose()
    assert events[-1].fault is Fault.SSL
    assert "no trusted connection" in events[-1].message


async def test_fallbacks_are_asked_by_number_and_failures_belong_to_who_made_them(monkeypatch):
    monkeypatch.setenv("OTHER_KEY", "sk-other")
    with Server(forever(out_of_quota())) as first, Server(forever(say("x"))) as second:
        model = model_for(first, fallback_models=f"small,big@{second.url}#OTHER_KEY,big@{second.url}")
        assert [route.model for route in model.routes] == ["m", "small", "big", "big"]
        failed = (await ask(model))[-1]
        assert (failed.fault, failed.model, failed.endpoint) == (Fault.BILLING, "m", first.url)
        assert model.cooling(0)
        assert model.first_route() == 1
        replied = (await ask(model, CallModel((User("q"),), route=2)))[-1]
        assert (replied.model, replied.endpoint) == ("big", second.url)
        await ask(model, CallModel((User("q"),), route=3))
        await ask(model, CallModel((User("q"),), route=1))
        await model.aclose()
        keys = [request.headers["authorization"] for request in (*second.requests, first.requests[-1])]
    assert keys == ["Bearer sk-other", "Bearer none", "Bearer sk-secret"], "a key goes to no other address than its own"
    assert "sk-other" not in repr(model.routes)


async def test_a_route_cools_down_for_as_long_as_its_server_says():
    clock = FastClock()
    with Server([rate_limited(30), say("x")]) as server:
        model = model_for(server, clock=clock, fallback_models="b")
        await ask(model)
        assert (model.cooling(0), model.first_route()) == (True, 1)
        await clock.sleep(31)
        assert (model.cooling(0), model.first_route()) == (False, 0)
        await ask(model)
        await model.aclose()


async def test_a_limit_of_requests_is_waited_for_before_the_call():
    clock = FastClock()
    with Server(forever(say("x"))) as server:
        model = model_for(server, clock=clock, requests_per_minute=2)
        finals = [(await ask(model))[-1] for _ in range(3)]
        assert finals[2].fault is Fault.PROACTIVE_RATE_LIMIT
        assert 50 < finals[2].wait <= 60
        assert len(server.requests) == 2
        await clock.sleep(finals[2].wait)
        assert isinstance((await ask(model))[-1], Replied)
        await model.aclose()


async def test_a_limit_that_an_answer_says_is_used_up_is_waited_for():
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "12s",
        "x-ratelimit-remaining-tokens": "-1",
    }
    step = say("x")
    told = Step(step.name, step.beats, step.tells, headers=(*step.headers, *headers.items()))
    with Server(told) as server:
        model = model_for(server)
        await ask(model)
        events = await ask(model)
        await model.aclose()
        assert [type(event) for event in events] == [Failed]
        assert 10 < events[0].wait <= 12
        assert len(server.requests) == 1


# --- numbers ----------------------------------------------------------------------------------------------------------


async def test_usage_is_estimated_and_marked_where_nothing_is_told():
    final, _ = await once(say("Hello there.", usage=None))
    assert final.usage.estimated
    assert final.usage.input_tokens > 0
    assert final.usage.output_tokens > 0
    failed, _ = await once(stall("one two", after=1, seconds=FOREVER))
    assert (failed.usage.calls, failed.usage.estimated) == (1, True)
    refused, _ = await once(status(500))
    assert refused.usage.calls == 0


async def test_a_server_that_cuts_long_prompts_is_told_of_once():
    from hermes_kernel.testing import Tokens

    step = say("x", usage=Tokens(4096, 1))
    with Server(forever(step)) as server:
        model = model_for(server)
        command = CallModel((User("word " * 20_000),))
        told = [event for _ in range(2) for event in await ask(model, command) if isinstance(event, Noticed)]
        await model.aclose()
    assert len(told) == 1
    assert "4,096" in told[0].text


async def test_a_closed_connection_on_a_huge_request_means_too_long():
    final, _ = await once(hang_up(), CallModel((User("word " * 2000),)), context_window=1000)
    assert final.fault is Fault.CONTEXT_OVERFLOW
    final, _ = await once(hang_up(), CallModel((User("word"),)), context_window=1000)
    assert final.fault is Fault.DISCONNECT


async def test_times_are_told():
    final, _ = await once(late(say("x"), 0.2))
    assert final.seconds >= final.first_byte_seconds >= 0.1


async def test_each_attempt_is_announced():
    with Server([refused_parameter("stream_options"), unstreamed("x")]) as server:
        model = model_for(server)
        events = await ask(model)
        await model.aclose()
        assert events.count(Calling("m", server.url)) == 2


# --- recorded streams -------------------------------------------------------------------------------------------------


def recorded(name):
    raw = (STREAMS / f"{name}.txt").read_bytes()
    return Step(name, (raw,), chunked=False)


OFFERED = tuple(ToolSpec(name, name, "{}") for name in ("add", "get_weather", "run_python", "read_file"))


@pytest.mark.parametrize(
    ("name", "text", "calls", "cut"),
    [
        ("plain", "Hello!", [], False),
        ("length", "1, 2, 3, 4, ", [], False),
        ("one_call", "", ["add"], False),
        ("two_calls_and_leaked_text", "", ["get_weather", "get_weather"], False),
        ("cut_call_then_error", "", ["run_python"], True),
        ("cut_call_length", "", ["add"], True),
        ("call_as_bare_json", "", ["add"], False),
        ("calls_in_a_fence", "", ["get_weather", "get_weather"], False),
        ("cut_call_in_a_fence", "", ["run_python"], True),
        ("code_in_a_call", "", ["run_python"], False),
        ("whole_call_then_error", None, ["read_file"], False),
    ],
)
async def test_what_real_servers_sent(name, text, calls, cut):
    final, _ = await once(recorded(name), tools=OFFERED)
    assert isinstance(final, Replied)
    assert [one.name for one in final.calls] == calls
    assert final.cut is cut
    assert bool(final.calls and final.calls[-1].flaw) is cut
    if text is not None:
        assert final.text == text
    if name == "length":
        assert final.finish is Finish.LENGTH


async def test_text_that_the_limit_cut_is_kept_though_llama_server_calls_it_an_error():
    final, _ = await once(
        error_in_stream("Invalid diff: 'Hello, I' not found at start of 'Hello'", text="Hello, I", code=500)
    )
    assert (final.text, final.finish, final.cut) == ("Hello, I", Finish.LENGTH, False)


async def test_a_recorded_overflow_has_both_numbers_in_its_words():
    raw = (STREAMS / "overflow.txt").read_text()
    final, _ = await once(status(400, body=raw))
    assert final.fault is Fault.CONTEXT_OVERFLOW
    assert "40020" in final.message


HOLIDAY = b"The model is on holiday." + b"x" * 2_000_000
PACKED = gzip.compress(HOLIDAY + bytes(50_000_000))


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (HOLIDAY, ()),
        (PACKED, (("content-encoding", "gzip"),)),
        (gzip.compress(PACKED), (("content-encoding", "gzip, gzip"),)),
    ],
)
async def test_of_a_refusal_without_end_the_beginning_is_read_and_told(body, headers):
    refused = raw(body, FOREVER, status=500, headers=(("content-type", "text/plain"), *headers))
    final, request = await once(refused, first_byte_seconds=10)
    assert (final.fault, final.message[:24]) == (Fault.SERVER_ERROR, "The model is on holiday.")
    assert request.closed_by_client is not None


async def test_a_way_to_elsewhere_is_gone_without_reading_all_that_is_said_of_it():
    moved = raw(HOLIDAY, FOREVER, status=307, headers=(("location", "/v1/chat/completions"),))
    with Server([moved, say("Hello.")]) as server:
        model = model_for(server, first_byte_seconds=10)
        events = await ask(model)
        await model.aclose()
    assert events[-1].text == "Hello."


async def test_one_connection_serves_many_calls():
    with Server(forever(call("price", {"sku": "A"}))) as server:
        model = model_for(server)
        for _ in range(5):
            await ask(model, tools=TOOLS)
        await model.aclose()
        assert len({request.connection for request in server.requests}) == 1


@pytest.mark.parametrize("inside", [True, False])
def test_connections_end_with_their_loop_even_if_nobody_says_so(inside):
    with Server(forever(say("x"))) as server:
        model = model_for(server)

        async def one(model):
            final = (await ask(model))[-1]
            if inside:
                model.close()
            return final

        assert asyncio.run(one(model)).text == "x"
        model.close()
        del model
        gc.collect()  # a socket that was left open would warn here, and warnings are errors


def test_closing_ends_the_connections_of_a_loop_that_waits_and_of_one_that_runs_elsewhere():
    with Server(forever(say("x"))) as server:
        model = model_for(server)
        waiting, running = asyncio.new_event_loop(), asyncio.new_event_loop()
        thread = threading.Thread(target=running.run_forever)
        thread.start()
        assert waiting.run_until_complete(ask(model))[-1].text == "x"
        assert asyncio.run_coroutine_threadsafe(ask(model), running).result(10)[-1].text == "x"
        model.close()
        running.call_soon_threadsafe(running.stop)
        thread.join()
        waiting.close()
        running.close()
        gc.collect()


def test_the_model_works_on_one_loop_after_another():
    with Server(forever(say("x"))) as server:
        model = model_for(server)

        async def one():
            final = (await ask(model))[-1]
            await model.aclose()
            return final

        assert [asyncio.run(one()).text for _ in range(2)] == ["x", "x"]
