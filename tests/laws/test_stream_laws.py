"""One reply from raw chunks: however a stream was cut, numbered or repeated, the same reply comes out of it."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.events import CallDelta, Replied, TextDelta, ThoughtDelta
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.stream import Stream, error_in
from hermes_kernel.core.text import scrub

law = settings(deadline=None)
SHAPES = ["openai", "ids_everywhere", "whole", "no_index", "all_zero", "no_ids", "summary", "dict", "batch", "legacy"]

texts = st.text(st.characters(codec="utf-8") | st.sampled_from("😀🎈<>{}"), max_size=40)
arguments = st.dictionaries(
    st.text(max_size=8), st.text(max_size=12) | st.integers() | st.none(), min_size=1, max_size=3
)
asked = st.lists(st.tuples(st.sampled_from(["price", "python"]), arguments), min_size=1, max_size=4)


def ids():
    numbers = itertools.count()
    return lambda: f"made{next(numbers):05d}"


def chunk(delta, finish=None, **more):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def fold(chunks, finish=None):
    stream = Stream()
    deltas = [delta for one in chunks for delta in stream.feed(one)] + stream.close()
    return deltas, stream.reply(ids(), finish=finish)


def said(deltas, kind=TextDelta):
    return "".join(delta.text for delta in deltas if isinstance(delta, kind))


def cut(text, data):
    """`text` in pieces, perhaps in the middle of a surrogate pair."""
    units = text.encode("utf-16-le", "surrogatepass")
    pieces = []
    while units:
        size = 2 * data.draw(st.integers(1, max(1, len(units) // 2)))
        pieces.append(units[:size].decode("utf-16-le", "surrogatepass"))
        units = units[size:]
    return pieces


def piece(name=None, arguments=None, **fields):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**fields, "function": function}


def call_chunks(calls, shape, data):
    out = []
    for at, (name, value) in enumerate(calls):
        text, call_id = json.dumps(value), f"call_{at}"
        if shape in ("openai", "ids_everywhere", "summary"):
            again = {} if shape == "openai" else {"id": call_id}
            out.append([piece(name, "", index=at, id=call_id)])
            out += [[piece(None, part, index=at, **again)] for part in cut(text, data)]
        if shape == "summary":
            out.append([piece(name, json.dumps(text), index=at, id=call_id)])
        whole = {
            "whole": piece(name, text, index=at, id=call_id),
            "no_index": piece(name, text, id=call_id),
            "all_zero": piece(name, text, index=0, id=call_id),
            "no_ids": piece(name, text),
            "dict": piece(name, value, index=at, id=call_id),
            "batch": piece(name, text, index=at, id=call_id),
        }.get(shape)
        if whole:
            out.append([whole])
    if shape == "batch":
        out = [[one for (one,) in out]]
    return [chunk({"tool_calls": pieces}) for pieces in out]


@law
@given(texts, st.data())
def test_text_is_the_same_however_it_is_cut(text, data):
    deltas, reply = fold([chunk({"content": part}) for part in cut(text, data)] + [chunk({}, "stop")])
    whole = fold([chunk({"content": text}), chunk({}, "stop")])[1]
    assert reply == whole
    assert said(deltas) == reply.text
    for delta in deltas:
        delta.text.encode()


@law
@given(st.text(), st.data())
def test_lone_surrogates_never_come_out(text, data):
    units = text.encode("utf-16-le")
    broken = units[: 2 * data.draw(st.integers(0, len(units) // 2))].decode("utf-16-le", "surrogatepass") + "\ud83d"
    deltas, reply = fold([chunk({"content": broken, "reasoning_content": broken}), chunk({"content": "x"}, "stop")])
    assert reply.text == scrub(broken + "x")
    (reply.text + reply.thoughts + reply.extra + said(deltas)).encode()


@law
@given(asked, st.sampled_from([shape for shape in SHAPES if shape != "legacy"]), st.data())
def test_calls_are_the_same_in_every_shape(calls, shape, data):
    if shape == "no_ids":
        calls = [call for at, call in enumerate(calls) if call not in calls[:at]]
    _, reply = fold(
        [
            *call_chunks(calls, shape, data),
            chunk({}, data.draw(st.sampled_from(["stop", "tool_calls", None, "end_turn"]))),
        ]
    )
    assert [(call.name, json.loads(call.arguments)) for call in reply.calls] == calls
    assert len({call.id for call in reply.calls}) == len(calls)
    assert not reply.cut
    assert not any(call.flaw for call in reply.calls)


@law
@given(asked, st.data())
def test_a_call_that_was_cut_off_is_never_whole(calls, data):
    name, value = calls[-1]
    text = json.dumps(value)
    keep = data.draw(st.integers(1, len(text) - 1))
    chunks = [
        *call_chunks(calls[:-1], "openai", data),
        chunk({"tool_calls": [piece(name, text[:keep], index=9, id="last")]}),
    ]
    _, reply = fold([*chunks, chunk({}, data.draw(st.sampled_from(["length", "tool_calls", "stop", None])))])
    assert reply.cut
    assert reply.calls[-1].flaw
    assert reply.calls[-1].arguments == text[:keep]
    assert not any(call.flaw for call in reply.calls[:-1])


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda x: st.lists(x, max_size=3), max_leaves=4
)
fields = ["choices", "delta", "index", "finish_reason", "content", "tool_calls", "function", "arguments", "name", "id", "usage",
          "x_groq", "timings", "reasoning", "reasoning_content", "reasoning_details", "type", "text", "thinking", "message",
          "function_call", "extra_content", "prompt_tokens", "refusal", "summary"]  # fmt: skip
hostile = st.recursive(
    junk,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(fields), inner, max_size=4),
    max_leaves=25,
)


@pytest.mark.no_cover
@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(fields), hostile, max_size=5)
        | hostile.map(lambda d: chunk(d if isinstance(d, dict) else {})),
        max_size=6,
    )
)
def test_nothing_a_server_can_send_breaks_the_fold(chunks):
    deltas, reply = fold(chunks)
    assert isinstance(reply, Replied)
    assert said(deltas) == reply.text
    repr(reply).encode()


@law
@given(texts, texts, st.sampled_from(["<think>", "<thinking>", "<thought>"]), st.data())
def test_thoughts_in_tags_are_told_apart_wherever_they_are_cut(thoughts, answer, tag, data):
    thoughts = thoughts.replace("<", "")
    answer = "So " + answer
    whole = f"\n{tag}{thoughts}</{tag[1:]}\n\n{answer}"
    deltas, reply = fold([chunk({"content": part}) for part in cut(whole, data)] + [chunk({}, "stop")])
    assert (reply.thoughts, reply.text) == (thoughts, answer)
    assert (said(deltas, ThoughtDelta), said(deltas)) == (thoughts, answer)


@pytest.mark.parametrize(
    ("text", "answer", "thoughts"),
    [
        ("The tag <think> opens it.", "The tag <think> opens it.", ""),
        ("<think>a</think>b <think>c</think>", "b <think>c</think>", "a"),
        ("<think>a</think>\n<think>b</think>c", "c", "ab"),
        ("<think>never closed", "", "never closed"),
        ("<think>half closed</thi", "", "half closed</thi"),
        ("<thi", "<thi", ""),
        ("  \n", "  \n", ""),
        ("<think>a</think>  ", "", "a"),
    ],
)
def test_where_a_think_tag_counts(text, answer, thoughts):
    _, reply = fold([chunk({"content": char}) for char in text] + [chunk({}, "stop")])
    assert (reply.text, reply.thoughts) == (answer, thoughts)


@pytest.mark.parametrize(
    ("deltas", "thoughts", "extra"),
    [
        ([{"reasoning_content": "a"}, {"reasoning_content": "b"}], "ab", {"reasoning_content": "ab"}),
        ([{"reasoning": "a", "reasoning_content": "a"}], "a", {"reasoning": "a", "reasoning_content": "a"}),
        (
            [
                {"reasoning_details": [{"type": "reasoning.text", "text": "a", "index": 0}]},
                {"reasoning_details": [{"type": "reasoning.text", "text": "b", "index": 0, "signature": "s"}, 3]},
                {"reasoning_details": [{"type": "reasoning.encrypted", "data": "xyz", "index": 1}]},
            ],
            "ab",
            {
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "ab", "index": 0, "signature": "s"},
                    {"type": "reasoning.encrypted", "data": "xyz", "index": 1},
                ]
            },
        ),
        ([{"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}]}], "a", None),
        ([{"content": [{"type": "thinking", "thinking": "a"}]}], "a", None),
        ([{"reasoning": ["not", "text"]}], "", None),
    ],
)
def test_thoughts_are_kept_as_a_provider_wants_them_back(deltas, thoughts, extra):
    _, reply = fold(
        [*map(chunk, deltas), chunk({"content": [{"type": "text", "text": "x"}, "y", {"type": "image"}]}, "stop")]
    )
    assert (reply.thoughts, reply.text) == (thoughts, "xy")
    assert (json.loads(reply.extra) if reply.extra else None) == extra


@pytest.mark.parametrize(
    ("more", "usage"),
    [
        ({"usage": {"prompt_tokens": 5, "completion_tokens": 2}}, Usage(1, 5, 2)),
        (
            {
                "usage": {
                    "prompt_tokens": 5,
                    "completion_tokens": 2,
                    "prompt_tokens_details": {"cached_tokens": 3},
                    "completion_tokens_details": {"reasoning_tokens": 1},
                    "cost": 0.25,
                }
            },
            Usage(1, 5, 2, 3, 1, 0.25),
        ),
        (
            {"usage": {"prompt_tokens": 5, "completion_tokens": 2, "prompt_cache_hit_tokens": 4, "cost": True}},
            Usage(1, 5, 2, 4),
        ),
        (
            {"usage": {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 900}}},
            Usage(1, 905, 2, 900),
        ),
        ({"usage": {"prompt_tokens": 5, "completion_tokens": 2, "cache_read_input_tokens": 90}}, Usage(1, 95, 2, 90)),
        ({"usage": None, "x_groq": {"usage": {"prompt_tokens": 5, "completion_tokens": 2}}}, Usage(1, 5, 2)),
        ({"x_groq": {"id": "r"}}, Usage(1, estimated=True)),
        ({"timings": {"prompt_n": 4, "cache_n": 3, "predicted_n": 2}}, Usage(1, 7, 2, 3)),
        ({"timings": {}}, Usage(1, estimated=True)),
        (
            {"usage": {"prompt_tokens": 7, "completion_tokens": 2}, "timings": {"cache_n": 3}},
            Usage(1, 7, 2, 3),
        ),
        ({"usage": {}}, Usage(1, estimated=True)),
        ({"usage": {"prompt_tokens": -1, "completion_tokens": "x"}}, Usage(1, estimated=True)),
        ({"usage": {"prompt_tokens": 10**400, "completion_tokens": 2, "cost": 10**400}}, Usage(1, 0, 2)),
        ({"usage": {"prompt_tokens": 5, "completion_tokens": 2, "cost": float("inf")}}, Usage(1, 5, 2)),
    ],
)
def test_usage_is_found_wherever_it_is(more, usage):
    _, reply = fold(
        [chunk({"content": "a"}), {"choices": [], **more}, {"choices": None, "usage": {}}, chunk({}, "stop")]
    )
    assert reply.usage == usage


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", Finish.STOP), ("length", Finish.LENGTH), ("content_filter", Finish.CONTENT_FILTER), ("function_call", Finish.TOOL_CALLS),
     ("END_TURN", Finish.STOP), ("wat", Finish.OTHER), (None, Finish.STOP)],
)  # fmt: skip
def test_finish_reasons_in_our_words(reason, finish):
    assert fold([chunk({"content": "a"}, reason)])[1].finish is finish


def test_the_limit_with_nothing_but_thoughts_asks_for_more_room():
    assert fold([chunk({"reasoning": "hm"}), chunk({}, "length")])[1].cut
    assert fold([chunk({"content": " "}, "length")])[1].cut
    assert not fold([chunk({"content": "a"}, "length")])[1].cut
    assert not fold([chunk({"reasoning": "hm"}), chunk({}, "stop")])[1].cut


def test_a_call_that_was_only_named_is_cut_behind_length_and_empty_otherwise():
    named = chunk({"tool_calls": [piece("price", "", index=0, id="a")]})
    limited = fold([named, chunk({}, "length")])[1]
    assert limited.cut
    assert limited.calls[0].flaw
    assert fold([named, chunk({}, "tool_calls")])[1].calls[0].arguments == "{}"
    assert fold([named], finish=Finish.LENGTH)[1].cut


def test_broken_json_behind_length_is_cut_but_a_whole_list_is_only_wrong():
    broken = fold([chunk({"tool_calls": [piece("price", "{'a': ", index=0, id="a")]}), chunk({}, "length")])[1]
    assert broken.cut
    wrong = fold([chunk({"tool_calls": [piece("price", "[1]", index=0, id="a")]}), chunk({}, "length")])[1]
    assert (wrong.cut, "a list" in wrong.calls[0].flaw) == (False, True)


def one(*pieces):
    return fold([chunk({"tool_calls": [p]}) for p in pieces] + [chunk({}, "tool_calls")])[1].calls


def named(calls):
    return [(call.name, call.arguments) for call in calls]


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        ([piece("a", "{}", index=0, id="1"), piece(None, '{"x":1}', index=0, id="1")], [("a", '{"x":1}')]),
        (
            [piece("a", '{"x":1}', index=0, id="1"), piece("a", '{"x":2}', index=1, id="1")],
            [("a", '{"x":1}'), ("a", '{"x":2}')],
        ),
        (
            [piece("a", '{"x":1}', index=0, id="1"), piece("a", '{"x":1}', index=1, id="1")],
            [("a", '{"x":1}'), ("a", '{"x":1}')],
        ),
        ([piece("a", "", index=0, id="1"), piece("b", "{}", index=1, id="1")], [("a", "{}"), ("b", "{}")]),
        ([piece("a", '{"x":1}', index=0), piece("b", '{"x":1}', index=0)], [("a", '{"x":1}'), ("b", '{"x":1}')]),
        ([piece("a", '{"x"', index=0), piece("a", ":1}", index=0)], [("a", '{"x":1}')]),
        ([piece("a", '{"x":1}', index=0), piece("a", "", index=0)], [("a", '{"x":1}')]),
        ([piece("a", '{"x":1}'), piece("a", "")], [("a", '{"x":1}'), ("a", "{}")]),
        ([piece("a", '{"x":1}'), piece("a", '{"x":1}')], [("a", '{"x":1}')]),
        ([piece("a", "{}"), piece("a", '{"x":1}')], [("a", "{}"), ("a", '{"x":1}')]),
        ([piece("a", '{"x":1}', index=0, id="1"), piece(None, "\n", index=0)], [("a", '{"x":1}')]),
        ([piece("a", '{"x":1}', index=0), piece(None, "junk", index=0)], [("a", '{"x":1}')]),
        ([piece("a", '{"x":', index=0, id="1"), piece(None, "1}", index=0, id="2")], [("a", '{"x":1}')]),
        ([piece("a", '{"x":1}', index=0), piece(None, '{"y":2}', index=0)], [("a", '{"x":1}'), ("", '{"y":2}')]),
        ([piece("a", "", index=0), piece(None, '{"x":1}', index=0, id="late")], [("a", '{"x":1}')]),
        ([piece("a", None, index=0, id=7), {"index": 0, "function": "?"}], [("a", "{}")]),
        ([piece("a", '{"x":1}', index="0", id="1")], [("a", '{"x":1}')]),
        ([piece("a", '{"x": "}"', index=0, id="1"), piece(None, '{"', index=0)], [("a", '{"x": "}"{"')]),
    ],
)
def test_pieces_find_their_call(pieces, calls):
    assert named(one(*pieces)) == calls


def test_a_call_without_a_name_says_so():
    assert "names no tool" in one(piece(None, '{"x":1}', index=0))[0].flaw


def test_what_a_provider_wants_back_is_kept_even_if_it_comes_alone():
    signature = {"google": {"thought_signature": "s"}}
    before = one({"extra_content": signature}, piece("a", "{}", id="1"))
    after = one(piece("a", "{}", id="1", other="dropped"), {"extra_content": signature})
    assert json.loads(before[0].extra) == json.loads(after[0].extra) == {"extra_content": signature}


def test_the_old_function_call_field_is_a_call():
    chunks = [
        chunk({"function_call": {"name": "a", "arguments": '{"x"'}}),
        chunk({"function_call": {"arguments": ":1}"}}, "function_call"),
    ]
    deltas, reply = fold(chunks)
    assert named(reply.calls) == [("a", '{"x":1}')]
    assert deltas == [CallDelta("a", 4), CallDelta("a", 7)]


def test_a_refusal_is_what_the_model_said():
    assert fold([chunk({"refusal": "No."}, "stop")])[1].text == "No."


def test_a_whole_message_is_read_like_a_delta():
    message = {"role": "assistant", "content": "Hi", "tool_calls": [piece("a", "{}", id="1")]}
    reply = fold([{"choices": [{"message": message, "finish_reason": "tool_calls"}]}])[1]
    assert (reply.text, named(reply.calls)) == ("Hi", [("a", "{}")])


def test_only_the_first_of_several_choices_is_read():
    assert (
        fold([{"choices": [{"index": 1, "delta": {"content": "other"}}]}, chunk({"content": "a"}, "stop")])[1].text
        == "a"
    )


def test_what_was_written_is_what_is_counted():
    stream = Stream()
    assert stream.is_empty
    for one_chunk in (
        chunk({"reasoning": "a"}),
        chunk({"content": "b"}),
        chunk({"tool_calls": [piece("n", "{}", id="1")]}),
    ):
        stream.feed(one_chunk)
    assert stream.written == "ab{}"
    assert not stream.is_empty


A_CALL = piece("n", '{"a": 1}', id="1", index=0)
USAGE = {"prompt_tokens": 1, "completion_tokens": 2}
GROWS = {
    "text": chunk({"content": "a"}),
    "the beginning of what may be a tag": chunk({"content": "<"}),
    "half of a pair": chunk({"content": "\ud83d"}),
    "text beside a role": chunk({"role": "assistant", "content": "a"}),
    "parts": chunk({"content": [{"type": "thinking", "thinking": "a"}]}),
    "a refusal": chunk({"refusal": "No."}),
    "thoughts": chunk({"reasoning_content": "a"}),
    "thoughts that nobody can read": chunk({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}),
    "a call": chunk({"tool_calls": [piece("n", "", id="1", index=0)]}),
    "arguments": chunk({"tool_calls": [A_CALL]}),
    "the end": chunk({}, "stop"),
    "the count": {"choices": [], "usage": USAGE},
}


@pytest.mark.parametrize("said", GROWS.values(), ids=GROWS)
def test_whatever_is_said_lets_a_reply_grow(said):
    stream = Stream()
    stream.feed(said)
    assert stream.taken > 0


@pytest.mark.parametrize(
    "more",
    [
        chunk({}),
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": None, "reasoning": None, "reasoning_details": [], "tool_calls": []}),
        chunk({"reasoning_details": [{"type": "reasoning.text", "text": "", "index": 0}, 3]}),
        chunk({"tool_calls": [piece(None, "", index=0)]}),
        chunk({"tool_calls": [piece("n", "", id="1", index=0)]}),
        chunk({"tool_calls": [A_CALL]}),
        chunk({}, "stop", usage=USAGE),
        chunk({"ping": "?"}, object="chat.completion.chunk"),
        {"choices": [{"index": 1, "delta": {"content": "other"}}]},
        {"choices": []},
        {"type": "ping"},
    ],
)
def test_what_says_nothing_new_lets_no_reply_grow(more):
    stream = Stream()
    for said in (chunk({"content": "a"}), chunk({"tool_calls": [A_CALL]}), chunk({}, "stop", usage=USAGE)):
        stream.feed(said)
    before = stream.taken
    stream.feed(more)
    assert stream.taken == before


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "m"}},
        {"error": "m"},
        {"object": "error", "message": "m"},
        {"type": "error"},
        {"message": "m"},
        {"detail": "m"},
    ],
)
def test_errors_inside_a_stream_are_known(error):
    assert error_in(error)
    assert not error_in({"choices": [], "error": None})
    assert not error_in({"object": "chat.completion.chunk"})
