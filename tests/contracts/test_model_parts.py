"""The parts of the model's adapter that need no network: events from bytes, schemas for picky servers, routes, lessons."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.messages import Assistant, Image, Observation, ToolCall, User
from hermes_kernel.core.trouble import Cause, Trouble, read_trouble
from hermes_kernel.settings import Settings
from hermes_kernel.world.model.encode import Encoder
from hermes_kernel.world.model.quirks import Quirks, Sent, learn, quirks_of
from hermes_kernel.world.model.routes import Route, routes_of
from hermes_kernel.world.model.schema import plain
from hermes_kernel.world.model.sse import EventStream

law = settings(deadline=None)


def events(*blocks):
    stream = EventStream()
    return [value for block in blocks for value in stream.feed(block)] + stream.close(), stream


payloads = st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=8) | st.integers(), max_size=3), max_size=5)


@law
@given(payloads, st.sampled_from(["\n\n", "\r\n\r\n", "\n"]), st.sampled_from(["data: ", "data:"]), st.data())
def test_events_are_the_same_however_the_bytes_are_cut(values, ending, prefix, data):
    body = "".join(
        f"{prefix}{json.dumps(value, ensure_ascii=False)}{ending}: keep-alive\n\nevent: x\n" for value in values
    )
    raw = (body + "data: [DONE]").encode("utf-8", "replace")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=5)))
    blocks = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    found, stream = events(*blocks)
    assert found == json.loads(json.dumps(values).encode("utf-8", "replace"))
    assert stream.done
    assert not stream.broken
    assert stream.events == len(values)


@law
@given(st.lists(st.binary(max_size=40), max_size=5))
def test_any_bytes_can_be_fed(blocks):
    found, stream = events(*blocks)
    assert len(found) == stream.events


def test_a_value_may_be_spread_over_several_lines_of_one_event():
    assert events(b'data: {"a":\ndata: 1}\n\n')[0] == [{"a": 1}]


def test_an_event_that_is_no_json_is_broken():
    found, stream = events(b'data: {"a": 1}\n\ndata: {"b"\n\ndata: {"c": 1}\n\n')
    assert (found, stream.broken) == ([{"a": 1}], True)
    assert events(b'data: {"a"')[1].broken


def test_bytes_that_are_no_utf8_are_replaced():
    assert events(b'data: {"a": "\xff"}\n\n')[0] == [{"a": "\ufffd"}]


def test_old_error_lines_are_events():
    assert events(b'error: {"message": "m"}\n\n')[0] == [{"error": {"message": "m"}}]


def test_a_body_that_is_no_stream_is_kept():
    found, stream = events(b'{\n  "error": "x"\n}')
    assert (found, json.loads(stream.stray)) == ([], {"error": "x"})


def test_a_page_without_end_is_not_kept_for_ever():
    stream = EventStream()
    for _ in range(40):
        stream.feed(b"x" * 100_000 + b"\n")
    assert len(stream.stray) < 1_200_000


def test_a_line_without_end_is_broken_off():
    stream = EventStream()
    for _ in range(9):
        stream.feed(b"data: " + b"x" * 8_000_000)
    assert stream.broken
    assert stream.feed(b"\n") == []


TREE = {
    "$schema": "x",
    "type": "object",
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {"pattern": {"type": "string", "pattern": "(?=a)"}, "next": {"$ref": "#/$defs/Node"}},
        }
    },
    "properties": {
        "root": {"$ref": "#/$defs/Node", "description": "d"},
        "any": True,
        "list": {"type": "array", "items": {"type": "wat", "format": "uri"}},
        "either": {"anyOf": [{"$ref": "#/nowhere"}, False, {"type": "null"}]},
    },
    "additionalProperties": False,
    "required": ["root"],
}


def test_schemas_for_picky_servers_say_no_more_than_a_grammar_can():
    cleaned = plain(TREE)
    text = json.dumps(cleaned)
    assert not any(word in text for word in ("$ref", "$defs", "$schema", "(?=a)", "format", "wat"))
    assert cleaned["properties"]["root"]["properties"]["pattern"] == {"type": "string"}, (
        "a parameter may be called pattern"
    )
    assert cleaned["properties"]["root"]["description"] == "d"
    assert cleaned["properties"]["any"] == {}
    assert cleaned["properties"]["either"]["anyOf"] == [{}, {}, {"type": "null"}]
    assert cleaned["additionalProperties"] is False
    assert cleaned["required"] == ["root"]


def test_a_name_with_an_at_sign_is_no_address():
    found = routes_of(
        Settings(
            base_url="http://a/v1", model="m", api_key="k", fallback_models="claude@20240229,x@http://a/v2/,y@local:"
        ),
        {},
    )
    assert [(route.model, route.base_url, route.api_key) for route in found[1:]] == [
        ("claude@20240229", "http://a/v1", "k"),
        ("x", "http://a/v2", "k"),
        ("y", "local:", ""),
    ]


def test_an_address_is_shown_without_its_secrets():
    route = Route("m", "http://me:pw@host/v1?key=x", "sk-secret")
    assert route.endpoint == "http://host/v1"
    assert "sk-secret" not in repr(route)


CONVERSATION = (
    User("q", (Image("image/png", "QQ=="),)),
    Assistant(
        "",
        (ToolCall("call_1", "", "{}", extra='{"signature": "s"}'),),
        extra='{"reasoning": "r", "reasoning_details": [1]}',
    ),
    Observation("call_1", "", "", images=(Image("image/png", "QQ=="),)),
    User("and"),
)


def messages(quirks, transcript=CONVERSATION):
    body, sent = Encoder("m").body(CallModel(transcript), (), quirks, 0)
    return json.loads(body)["messages"], sent


@pytest.mark.parametrize(
    ("host", "expect"),
    [
        ("https://api.openai.com/v1", lambda q: q.limit_name == "max_completion_tokens" and not q.plain_schemas),
        ("https://api.mistral.ai/v1", lambda q: q.nine_ids and q.bridge and "stream_options" in q.dropped),
        ("https://api.groq.com/openai/v1", lambda q: not q.call_extras and not q.replay),
        ("https://api.deepseek.com", lambda q: q.replay == {"reasoning_content"}),
        ("https://openrouter.ai/api/v1", lambda q: "reasoning_details" in q.replay),
        ("https://notopenai.com/v1", lambda q: q == Quirks()),
    ],
)
def test_what_is_known_of_hosts(host, expect):
    assert expect(quirks_of(host, near=False))


def test_our_own_server_is_asked_with_temperature_0():
    assert quirks_of("local:", near=True, local=True).temperature == 0.0


def test_thoughts_go_back_only_where_they_are_wanted():
    assert "reasoning" not in messages(Quirks())[0][1]
    openrouter = messages(quirks_of("https://openrouter.ai/api/v1", near=False))[0][1]
    assert (openrouter["reasoning_details"], "reasoning" in openrouter) == ([1], False)
    assert messages(quirks_of("https://api.deepseek.com", near=False))[0][1]["reasoning_content"] == ""


def test_mistral_gets_short_ids_and_an_answer_before_the_next_prompt():
    said, sent = messages(quirks_of("https://api.mistral.ai", near=False))
    assert [one["role"] for one in said] == ["user", "assistant", "tool", "assistant", "user"]
    assert len(said[1]["tool_calls"][0]["id"]) == 9
    assert said[1]["tool_calls"][0]["id"] == said[2]["tool_call_id"]
    assert "signature" not in said[1]["tool_calls"][0]
    assert said[1]["tool_calls"][0]["function"]["name"] == "unknown"
    assert sent.images


IMAGE = Image("image/png", "QUJD")
LOOKED = (
    User("plot it"),
    Assistant("", (ToolCall("1", "plot", "{}"),)),
    Observation("1", "plot", "ok", images=(IMAGE,)),
)


@pytest.mark.parametrize("quirks", [Quirks(), Quirks(bridge=True), Quirks(vision=False)])
@pytest.mark.parametrize("transcript", [LOOKED, (User("look", (IMAGE,)),), (User("a"), User("b", (IMAGE,)))])
def test_what_is_said_for_one_call_only_never_makes_two_prompts_in_a_row(quirks, transcript):
    encoder = Encoder("m")
    for suffix in (None, User("say what was done"), None):
        body, sent = encoder.body(CallModel(transcript, suffix=suffix), (), quirks, 0)
        roles = [message["role"] for message in json.loads(body)["messages"]]
        assert all(pair != ("user", "user") for pair in pairwise(roles)), roles
        assert sent.images is quirks.vision


@law
@given(st.text(max_size=80) | st.sampled_from(["functions.price", "n" * 100_000, "price", "</script>"]))
def test_a_name_that_no_tool_can_have_goes_back_as_one_that_every_server_takes(name):
    asked = (User("go"), Assistant("", (ToolCall("1", name, "{}"),)), Observation("1", name, "There is no such tool."))
    _, call, result = messages(Quirks(), asked)[0]
    sent = call["tool_calls"][0]["function"]["name"]
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", sent), sent
    assert result["name"] == sent
    assert sent == name or not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)


def test_an_id_without_an_end_goes_back_as_a_short_one_and_the_result_finds_its_call():
    for made in ("functions.price:0", "call_1__thought__" + "x" * 3_000, "i" * 1_000_000):
        asked = (User("go"), Assistant("", (ToolCall(made, "price", "{}"),)), Observation(made, "price", "3"))
        _, call, result = messages(Quirks(), asked)[0]
        assert result["tool_call_id"] == call["tool_calls"][0]["id"]
        assert (result["tool_call_id"] == made) is (len(made) < 5_000)
        assert len(result["tool_call_id"]) < 5_000


def test_images_are_named_where_they_cannot_be_shown():
    said, sent = messages(Quirks(vision=False))
    assert not sent.images
    assert all(isinstance(one["content"], str | None) for one in said)
    assert "[An image is not shown" in said[0]["content"]
    assert "[An image is not shown" in said[2]["content"]


SENT = Sent(frozenset({"max_tokens", "stream_options", "tools"}), images=True)


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(Cause.STALE, words="unsupported stream_options"),
        read_trouble('{"error": "unsupported stream_options"}', 401),
        read_trouble('{"error": "bad gateway, image"}', 502),
        read_trouble('{"error": "max_tokens must be at least 1, got -186."}', 400),
        read_trouble('{"error": "something is wrong"}', 400),
        read_trouble('{"error": "The model `m` does not exist"}', 404),
    ],
)
def test_what_teaches_nothing_changes_nothing(trouble):
    assert learn(Quirks(), trouble, SENT) is None


@law
@given(
    st.text(max_size=60)
    | st.sampled_from(["max_tokens", "stream_options", "tools", "image", "reasoning"]).map(
        lambda w: f"unsupported {w}"
    ),
    st.sampled_from([400, 404, 422, 500]),
)
def test_lessons_come_to_an_end(words, status):
    quirks = Quirks()
    for _ in range(12):
        lesson = learn(quirks, read_trouble(json.dumps({"error": words}), status), SENT)
        if lesson is None:
            break
        assert lesson[0] != quirks
        quirks = lesson[0]
    else:
        raise AssertionError("it learns for ever")


def test_a_field_that_is_refused_under_both_names_is_left_out():
    words = read_trouble('{"error": {"message": "Unsupported parameter: max_tokens", "param": "max_tokens"}}', 400)
    quirks, _ = learn(Quirks(), words, Sent(frozenset({"max_tokens"})))
    other = read_trouble(
        '{"error": {"message": "Unknown field max_completion_tokens", "param": "max_completion_tokens"}}', 400
    )
    quirks, _ = learn(quirks, other, Sent(frozenset({"max_completion_tokens"})))
    body, _ = Encoder("m").body(CallModel((User("q"),)), (), quirks, 10)
    assert not {"max_tokens", "max_completion_tokens"} & set(json.loads(body))


def test_schemas_become_plainer_when_a_server_asks_for_it():
    words = read_trouble('{"error": "Invalid schema for function: $ref is not supported"}', 400)
    quirks, _ = learn(Quirks(), words, Sent(frozenset({"tools"})))
    assert quirks.plain_schemas
