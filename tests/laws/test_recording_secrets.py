"""A secret is in no recording, however a server cut it; what is no secret stays, byte for byte."""

from __future__ import annotations

import itertools
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.recording.cassette import Block, Called, Exchange, Head, Request, in_each
from hermes_kernel.core.recording.folders import Marked
from hermes_kernel.core.recording.lines import Known, called_lines, exchange_lines, head_lines
from hermes_kernel.core.recording.secrets import hidden, hidden_address, hidden_call, hidden_head, hidden_request
from hermes_kernel.core.stream import Stream
from hermes_kernel.core.trouble import Cause

KEY = "sk-proj-" + "a1B2c3D4" * 5
KNOWN = "correct horse «battery» staple"
KNOW = frozenset({KNOWN})
MARKS = {KEY: "[redacted: API key]", KNOWN: "[redacted: secret]"}
secrets = st.sampled_from([KEY, KNOWN])
plain = st.text(st.characters(codec="utf-8") | st.sampled_from('😀"\\{}\n'), max_size=20)


def event(delta, finish=None, **more):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "id": "chatcmpl-1", **more}


def stream(events, end="\n", space=" "):
    lines = [f"data:{space}{json.dumps(one)}{end}{end}" for one in events]
    return "".join([*lines, f"data:{space}[DONE]{end}{end}"]).encode()


def cut(body, places):
    ends = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return tuple(Block(body[a:b], n / 1000) for n, (a, b) in enumerate(itertools.pairwise(ends)))


def pieces(text, places):
    """`text` in pieces as servers cut it, perhaps within a surrogate pair."""
    units = text.encode("utf-16-le")
    ends = [0, *sorted(2 * (place % (len(units) // 2 + 1)) for place in places), len(units)]
    return [units[a:b].decode("utf-16-le", "surrogatepass") for a, b in itertools.pairwise(ends)]


def body(exchange):
    return b"".join(block.data for block in exchange.blocks)


def events_of(data):
    lines = [line[5:].strip() for line in data.decode().split("\n") if line.startswith("data:")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def heard(data):
    folded, numbers = Stream(), itertools.count()
    for one in events_of(data):
        folded.feed(one)
    folded.close()
    return folded.reply(lambda: f"made{next(numbers)}")


def deltas(where, parts):
    """A reply of which one text comes in `parts`."""
    match where:
        case "content" | "reasoning_content" | "refusal":
            return [{where: part} for part in parts]
        case "reasoning_details":
            return [{where: [{"type": "text", "index": 0, "text": part}]} for part in parts]
        case "parts":
            return [{"content": [{"type": "text", "text": part}]} for part in parts]
    first = {"index": 1, "id": "c1", "function": {"name": "python", "arguments": ""}}
    other = {"index": 0, "id": "c0", "function": {"name": "read", "arguments": "{}"}}
    calls = [{"index": 1, "function": {"arguments": part}} for part in parts]
    if where == "ids":
        calls = [call | {"id": "c1", "index": 0} for call in calls]
        first = first | {"index": 0}
    return [{"tool_calls": [other]}, {"tool_calls": [first]}, *({"tool_calls": [call]} for call in calls)]


WHERE = ["content", "reasoning_content", "refusal", "reasoning_details", "parts", "arguments", "ids"]
places = st.lists(st.integers(0, 10**6), max_size=6)


@given(st.sampled_from(WHERE), secrets, plain, plain, places, places, st.sampled_from(["\n", "\r\n"]))
def test_a_secret_cut_anywhere_is_not_in_the_file(where, secret, before, behind, cuts, again, end):
    text = f"{before} {secret} {behind}"
    if where in ("arguments", "ids"):
        text = json.dumps({"code": text})
    sent = stream([event(delta) for delta in deltas(where, pieces(text, cuts))] + [event({}, "stop")], end)
    exchange = Exchange(Request(()), blocks=cut(sent, again))
    safe = hidden(exchange, KNOW)
    lines = exchange_lines(safe, Known())
    assert secret not in lines
    assert secret not in body(safe).decode()
    assert json.dumps(secret)[1:-1] not in lines
    reply, was = heard(body(safe)), heard(sent)
    said = repr(reply)
    assert secret not in said
    assert MARKS[secret] in said
    assert len(reply.calls) == len(was.calls)
    assert (reply.finish, reply.cut) == (was.finish, was.cut)
    if where in ("content", "reasoning_content", "parts"):
        told, old = (reply.thoughts, was.thoughts) if where == "reasoning_content" else (reply.text, was.text)
        assert told == old.replace(secret, MARKS[secret])
    if where in ("arguments", "ids"):
        assert json.loads(reply.calls[-1].arguments) == {"code": f"{before} {MARKS[secret]} {behind}"}
        assert [(call.id, call.name, call.flaw) for call in reply.calls] == [("c0", "read", ""), ("c1", "python", "")]
    assert [block.gap for block in safe.blocks] == [block.gap for block in exchange.blocks]
    assert hidden(safe, KNOW) == safe


@given(st.sampled_from(WHERE), plain, places, places, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", " "]))
def test_a_stream_without_secrets_stays_as_it_is(where, text, cuts, again, end, space):
    sent = stream([event(delta, usage={"n": 1}) for delta in deltas(where, pieces(text, cuts))], end, space)
    blocks = cut(b": keep-alive\n\n" + sent + b"\xff rest", again)
    assert hidden(Exchange(Request(()), blocks=blocks), KNOW).blocks == blocks


@given(st.lists(st.binary(max_size=9), max_size=5))
def test_any_bytes_without_secrets_stay_as_they_are(parts):
    blocks = tuple(Block(part, 0.5) for part in parts)
    assert hidden(Exchange(Request(()), blocks=blocks)).blocks == blocks


@given(plain, plain, places)
def test_only_events_that_told_it_are_written_anew(before, behind, again):
    texts = [before, f" {KEY[:9]}", KEY[9:20], f"{KEY[20:]} ", behind]
    sent = stream([event({"content": text}) for text in texts])
    safe = body(hidden(Exchange(Request(()), blocks=cut(sent, again))))
    old, new = sent.split(b"\n"), safe.split(b"\n")
    assert len(old) == len(new)
    assert [old[n] == new[n] for n in (0, 8, 10)] == [True] * 3
    assert [one["choices"][0]["delta"]["content"] for one in events_of(safe)] == [
        before, " [redacted: API key]", "", " ", behind
    ]  # fmt: skip


def test_a_block_brings_what_it_brought():
    first, second, third = (f"data: {json.dumps(event({'content': text}))}\n\n".encode() for text in ("a", KEY, "b"))
    half = len(second) // 2
    blocks = (Block(first, 1), Block(second[:half], 2), Block(second[half:] + third[:5], 3), Block(third[5:], 4))
    one, other, another, last = hidden(Exchange(Request(()), blocks=blocks)).blocks
    assert one == blocks[0]
    assert other == Block(b"", 2)
    assert another.data.endswith(b"}\n\n" + third[:5])
    assert b"redacted" in another.data
    assert last == blocks[3]


def test_two_calls_at_one_index_are_two():
    secret = f"x\nMY_PASSWORD={KEY}"
    whole = [
        {"index": 0, "id": name, "function": {"name": "run", "arguments": json.dumps({"code": f"{secret}\n# {name}"})}}
        for name in "ab"
    ]
    safe = body(hidden(Exchange(Request(()), blocks=(Block(stream([event({"tool_calls": [one]}) for one in whole])),))))
    assert [json.loads(call.arguments)["code"] for call in heard(safe).calls] == [
        "x\nMY_PASSWORD=[redacted: API key]\n# a",
        "x\nMY_PASSWORD=[redacted: API key]\n# b",
    ]


def test_arguments_of_calls_without_ids_are_read_one_by_one():
    value = "hunter2hunter2"
    whole = [
        {"function": {"name": "run", "arguments": json.dumps({"code": f"x{n}\nMY_PASSWORD={value}\n"})}} for n in "ab"
    ]
    safe = body(hidden(Exchange(Request(()), blocks=(Block(stream([event({"tool_calls": [one]}) for one in whole])),))))
    assert value not in safe.decode()
    assert len(heard(safe).calls) == 2


def test_a_placeholder_before_arguments_stays_one():
    parts = ["{}", json.dumps({"code": KEY})]
    sent = stream([event(delta) for delta in deltas("arguments", parts)])
    safe = body(hidden(Exchange(Request(()), blocks=(Block(sent),))))
    assert heard(safe).calls[-1].arguments == '{"code": "[redacted: API key]"}'


BODIES = [
    json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}),
    f'data: {{"error": {{"message": "bad key {KEY}"}}}}\n\n',
    f"<html>{KEY}</html>",
    f'error: {{"message": "{KEY}"}}\n',
    f"data: {KEY}\n\n",
    f'data: {{"a": "{KEY}\n\n',
    json.dumps({"choices": [{"message": {"content": KEY}}]}, indent=2),
    json.dumps([{"choices": [{"message": {"tool_calls": [{"id": "a", "function": {"arguments": {"key": KEY}}}]}}]}]),
    "data: " + json.dumps({"choices": [{"delta": {"content": f"{KEY}\ud83d"}}]}) + "\n\n",
    "data: " + "[" * 100 + f'"{KEY}"' + "]" * 100 + "\n\n",
    "data: " + "[" * 100_000 + f'"{KEY}"\n\n',
    f"data: [] {KEY}\ndata: []\ndata: 1\n",
]  # fmt: skip


@pytest.mark.parametrize("text", BODIES)
def test_a_body_of_any_kind_is_without_secrets(text):
    begin = [Block(text[n : n + 7].encode()) for n in range(0, min(len(text), 700), 7)]
    blocks = (*begin, Block(text[700:].encode()))
    safe = body(hidden(Exchange(Request(()), blocks=blocks)))
    assert KEY not in safe.decode()
    assert "[redacted: API key]" in safe.decode()
    if text.startswith(("{", "[")):
        assert json.dumps(json.loads(safe)) == json.dumps(json.loads(text)).replace(KEY, "[redacted: API key]")


def test_what_a_secret_of_several_lines_leaves_is_one_block_less_its_lines():
    pem = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join(["a1B2c3D4" * 8] * 3) + "\n-----END RSA PRIVATE KEY-----\n"
    blocks = tuple(Block(line.encode(), 0.1) for line in f"see\n{pem}end".splitlines(keepends=True))
    safe = hidden(Exchange(Request(()), blocks=blocks))
    assert b"a1B2" not in body(safe)
    assert body(safe).startswith(b"see\n-----BEGIN")
    assert body(safe).endswith(b"-----END RSA PRIVATE KEY-----\nend")
    assert len(safe.blocks) == len(blocks)


def test_a_secret_that_looks_like_its_marker_is_gone_too():
    secret = "[redacted: s"
    sent = stream([event({"content": secret})])
    safe = body(hidden(Exchange(Request(()), blocks=(Block(sent),)), frozenset({secret})))
    assert heard(safe).text.startswith("[redacted: secret]")


def test_requests_heads_headers_and_calls_have_none():
    call = {"id": "1", "name": "run", "arguments": json.dumps({"code": f"x\nMY_PASSWORD={KNOWN}"})}
    asked = Request(({"role": "user", "content": f"use {KEY}"}, {"role": "assistant", "content": "", "calls": [call]}))
    exchange = Exchange(asked, 401, {"x-ratelimit-id": KEY}, cause=Cause.CONNECT, message=f"nobody at {KEY}")
    head = Head({"base_url": "https://me:hunter22hunter@example.org", "fallback_models": (KEY,), "context_window": 7})
    called = Called("run", call["arguments"], f"it said {KEY} and {KNOWN}")
    text = "".join([
        head_lines(hidden_head(head, KNOW)),
        exchange_lines(hidden(exchange, KNOW), Known()),
        called_lines(hidden_call(called, KNOW)),
    ])  # fmt: skip
    for secret in (KEY, KNOWN, "hunter22hunter"):
        assert secret not in text
    assert hidden_head(head, KNOW).settings["context_window"] == 7
    assert hidden_address(f"m@https://example.org/{KEY}/v1") == "m@https://example.org/redacted/v1", "still an address"
    assert hidden_request(asked, KNOW).key == hidden_request(hidden_request(asked, KNOW), KNOW).key != asked.key
    assert hidden_request(Request(({"role": "user", "content": "x"},))) == Request(({"role": "user", "content": "x"},))


def test_a_request_is_found_where_its_secret_is_nobodys_and_only_looks_like_one():
    def asked(text):
        calls = [{"id": "1", "name": "python", "arguments": json.dumps({"code": text})}]
        return Request(({"role": "user", "content": text, "at": 1}, {"role": "assistant", "calls": calls}))

    recorded = hidden_request(asked(f"login {KEY}"), frozenset({KEY}))
    assert recorded.key == hidden_request(asked(f"login {KEY}")).key
    assert recorded.key != hidden_request(asked("login as ever")).key
    one, other = (
        hidden_call(Called("python", f'{{"code": "{KEY}"}}', ""), known) for known in (frozenset({KEY}), frozenset())
    )
    assert one.arguments == other.arguments


def test_of_an_address_stays_what_says_who_was_asked():
    settings = {
        "base_url": "http://mia:pw@127.0.0.1:9/v1?key=abc123",
        "fallback_models": ("big@https://bo@example.org/v1?key=abc123#THEIR_KEY", "small"),
        "model": "qwen2.5:3b",
    }
    assert hidden_head(Head(settings)).settings == {
        "base_url": "http://127.0.0.1:9/v1",
        "fallback_models": ("big@https://example.org/v1#THEIR_KEY", "small"),
        "model": "qwen2.5:3b",
    }


def test_a_model_that_is_named_by_its_file_is_so_in_whichever_home_that_lies():
    marked = Marked({"home": "/opt/mia"})
    head = Head({"model": "/opt/mia/models/x", "fallback_models": ("local:/opt/mia/y", "z"), "context_window": 7})
    told = hidden_head(head, KNOW, marked.hide).settings
    assert told == {"model": "⟦home⟧/models/x", "fallback_models": ("local:⟦home⟧/y", "z"), "context_window": 7}
    assert {name: in_each(value, marked.here) for name, value in told.items()} == head.settings


@pytest.mark.no_cover
def test_a_long_stream_is_looked_through_quickly():
    events = [event({"content": f"word {n} "}) for n in range(20_000)]
    events[7] = event({"content": KEY[:20]})
    events[8] = event({"content": KEY[20:] + " "})
    sent = stream(events)
    exchange = Exchange(Request(()), blocks=tuple(Block(sent[n : n + 1_000]) for n in range(0, len(sent), 1_000)))
    began = time.process_time()
    safe = body(hidden(exchange, KNOW))
    assert time.process_time() - began < 5
    assert "word 6 [redacted: API key] word 9 " in heard(safe).text
