"""A recording that is made anew differs where the model said otherwise: what its server makes up is the same each time,
and the pauses have a line of their own."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_kernel.core.recording.cassette import Block, Exchange, Request
from hermes_kernel.core.recording.lines import Known, exchange_lines
from hermes_kernel.core.recording.repeatable import repeatable

HOSTILE = ['"id":"A1"', '{"id": "A1", "created": 5}', '\\"created":7', '"prompt_ms":1', "data: x\n\n", "}\\", "é"]
words = st.lists(st.text(max_size=8) | st.sampled_from(HOSTILE), min_size=1, max_size=6)
chances = st.tuples(st.integers(0, 10**10), st.text("abcXYZ0189-_", min_size=1, max_size=20))


def spoken(said, chance, *, tight):
    """A stream that says these words and asks for a tool with them, as a server gives it by this chance."""
    second, mark = chance
    told = [{"content": word} for word in said]
    told += [{"tool_calls": [{"index": n, "id": f"call{n}", "function": {"arguments": json.dumps({"id": word})}}]}
             for n, word in enumerate(said)]  # fmt: skip
    frame = {
        "id": f"chatcmpl-{mark}",
        "created": second,
        "obfuscation": mark,
        "timings": {"cache_n": 5, "prompt_ms": second / 7},
    }
    events = [frame | {"choices": [{"index": 0, "delta": delta}]} for delta in told]
    return [f"data: {json.dumps(event, separators=(',', ':') if tight else None)}\n\n".encode() for event in events]


def recorded(events, gap):
    return repeatable(Exchange(Request(()), blocks=tuple(Block(event, gap) for event in events), gap=gap))


@given(words, chances, chances, st.booleans())
def test_the_same_words_are_the_same_lines_but_for_the_line_of_pauses(said, one, other, tight):
    first = exchange_lines(recorded(spoken(said, one, tight=tight), 0.5), Known()).splitlines()
    second = exchange_lines(recorded(spoken(said, other, tight=tight), 0.25), Known()).splitlines()
    assert first[:-1] == second[:-1]
    assert json.loads(first[-1])["gaps"] != json.loads(second[-1])["gaps"]


@given(words, chances, st.booleans())
@example(HOSTILE, (1, "a"), True)
def test_what_a_model_says_and_the_ids_of_its_calls_stay_as_they_are(said, chance, tight):
    events = spoken(said, chance, tight=tight)
    for block, event in zip(recorded(events, 0.5).blocks, events, strict=True):
        new, old = json.loads(block.data[5:]), json.loads(event[5:])
        assert new["choices"] == old["choices"]
        assert new["timings"]["cache_n"] == 5, "what was in a cache is counted"


parts = st.binary(max_size=12) | st.sampled_from(
    [b"\n\n", b"data: {}\n\n", b"data: []\n", b'data: {"id": 3}\n', b"data: {"]
)


@given(st.lists(st.builds(Block, parts, st.integers(0, 9).map(float)), max_size=6))
def test_what_is_no_event_of_an_answer_stays_byte_for_byte(blocks):
    exchange = Exchange(Request(()), blocks=tuple(blocks), gap=1.0)
    assert repeatable(exchange) == exchange


@given(words, chances, st.data())
def test_where_a_stream_was_cut_it_takes_as_long(said, chance, data):
    body = b"".join(spoken(said, chance, tight=True))
    cuts = [0, *sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=5))), len(body)]
    exchange = Exchange(Request(()), blocks=tuple(Block(body[a:b], 1.0) for a, b in pairwise(cuts)))
    made = repeatable(exchange)
    assert [block.gap for block in made.blocks] == [block.gap for block in exchange.blocks]
    assert repeatable(made) == made
    assert replace(made, blocks=()) == replace(exchange, blocks=())


@pytest.mark.no_cover
def test_ten_megabytes_are_done_quickly():
    event = b'data: {"id":"chatcmpl-1","created":1,"choices":[{"delta":{"content":"word "}}]}\n\n'
    began = time.process_time()
    repeatable(Exchange(Request(()), blocks=(Block(event * 60_000), Block(b"x" * 5_000_000))))
    assert time.process_time() - began < 5
