"""A cassette as a file: what was written is read as it was, what was torn is whole up to there, and what is something
else is one complaint that names the line."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hermes_kernel.core.messages import Image
from hermes_kernel.core.recording.cassette import FORMAT, Block, Called, Cassette, Exchange, Head, Request
from hermes_kernel.core.recording.lines import Known, called_lines, exchange_lines, head_lines, telling
from hermes_kernel.core.recording.reading import Unreadable, read
from hermes_kernel.core.trouble import Cause

texts = st.text(st.characters(codec="utf-8") | st.sampled_from('\n\r\u2028\x00"\\'), max_size=12)
gaps = st.integers(0, 10**7).map(lambda ms: ms / 1000)
calls = st.fixed_dictionaries({"id": texts, "name": texts, "arguments": texts})
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": texts},
    optional={"images": st.lists(texts, max_size=2), "calls": st.lists(calls, max_size=2), "call": texts},
)
blocks = st.lists(st.builds(Block, st.binary(max_size=9) | texts.map(str.encode), gaps), max_size=4).map(tuple)
headers = st.dictionaries(st.sampled_from(["content-type", "retry-after-ms", "x-ratelimit-reset"]), texts)
heads = st.builds(
    Head, st.dictionaries(texts, texts | st.integers(0, 9) | st.lists(texts, max_size=2).map(tuple), max_size=3), texts
)
called = st.builds(
    Called, texts, texts, texts, st.booleans(), st.lists(st.builds(Image, texts, texts), max_size=2).map(tuple),
    texts, st.booleans(),
)  # fmt: skip


@st.composite
def cassettes(draw):
    """Recordings, in which requests go on from one another, are repeated, and begin anew."""
    exchanges: list[Exchange] = []
    for _ in range(draw(st.integers(0, 5))):
        begun = draw(st.sampled_from([(), *(exchange.request.messages for exchange in exchanges)]))
        new = draw(st.lists(messages, max_size=2))
        asked = Request((*begun, *new), draw(st.booleans()))
        exchanges.append(
            Exchange(
                asked,
                draw(st.integers(0, 599)),
                draw(headers),
                draw(blocks),
                draw(st.sampled_from(Cause)),
                draw(texts),
                draw(gaps),
            )
        )
    return Cassette(draw(heads), tuple(exchanges), tuple(draw(st.lists(called, max_size=2))))


def written(cassette):
    """A recording as it is written, part by part."""
    known = Known()
    parts = [head_lines(cassette.head), *(exchange_lines(exchange, known) for exchange in cassette.exchanges)]
    return [*parts, *map(called_lines, cassette.calls)]


@given(cassettes())
def test_what_was_written_is_read_as_it_was(cassette):
    text = "".join(written(cassette))
    assert read(text) == read(text.encode()) == cassette
    assert read("\ufeff" + text.replace("\n", "\r\n\n").removesuffix("\n")) == cassette
    for exchange, found in zip(cassette.exchanges, read(text).exchanges, strict=True):
        assert found.request.key == exchange.request.key


@settings(max_examples=40)
@given(cassettes(), cassettes())
def test_what_comes_later_changes_no_line(earlier, later):
    longer = replace(earlier, exchanges=earlier.exchanges + later.exchanges)
    assert written(longer)[: 1 + len(earlier.exchanges)] == written(earlier)[: 1 + len(earlier.exchanges)]
    known = Known.of(earlier.exchanges)
    assert [exchange_lines(exchange, known) for exchange in later.exchanges] == written(longer)[
        1 + len(earlier.exchanges) : 1 + len(longer.exchanges)
    ]


@given(cassettes(), st.data())
def test_a_torn_file_gives_the_whole_exchanges_before_it(cassette, data):
    parts = [part.encode() for part in written(cassette)]
    whole = b"".join(parts)
    at = data.draw(st.integers(0, len(whole)))
    found = read(whole[:at])
    ends = [len(b"".join(parts[: n + 1])) for n in range(len(parts))]
    many = sum(end - 1 <= at for end in ends[1:])
    exchanges = min(many, len(cassette.exchanges))
    assert found.exchanges == cassette.exchanges[:exchanges]
    assert found.calls == cassette.calls[: many - exchanges]
    assert found.torn == (at + 1 not in ends and at not in ends)


def test_a_request_that_goes_on_holds_only_what_is_new():
    first = Request(({"role": "user", "content": "a long story"},), True)
    second = Request((*first.messages, {"role": "assistant", "content": "and?"}), True)
    known = Known()
    one, other, again = (exchange_lines(Exchange(asked), known).split("\n")[0] for asked in (first, second, second))
    assert "a long story" in one
    assert json.loads(other) == {
        "request": second.key,
        "after": first.key,
        "tools": True,
        "messages": [{"role": "assistant", "content": "and?"}],
    }
    assert json.loads(again)["messages"] == []


def test_only_telling_headers_are_kept():
    told = {
        "Content-Type": "text/event-stream",
        "Retry-After": "3",
        "retry-after-ms": "10",
        "X-RateLimit-Remaining": "0",
        "date": "today",
        "set-cookie": "id=1",
        "authorization": "Bearer x",
    }
    assert telling(told) == {
        "content-type": "text/event-stream",
        "retry-after": "3",
        "retry-after-ms": "10",
        "x-ratelimit-remaining": "0",
    }
    kept = exchange_lines(Exchange(Request(()), headers=told), Known())
    assert "cookie" not in kept
    assert "Bearer" not in kept


def test_half_a_character_goes_into_a_file():
    lines = called_lines(Called("python", "{}", "half \ud83d"))
    assert read(head_lines(Head()) + lines.encode().decode()).calls[0].text == "half \ud83d"


HEAD = head_lines(Head())
ASKED = '{"request": "k", "messages": []}\n'
BEGUN = '{"status": 200, "headers": {}}\n'
WRONG = [
    ("no head", "hello\n", 1, "no line of JSON"),
    ("a head of something else", '{"nbformat": 4}\n', 1, "no cassette begins here"),
    ("true is no format", '{"cassette": true}\n', 1, "no cassette begins here"),
    ("a later format", f'{{"cassette": {FORMAT + 1}}}\n', 1, "a later Hermes Kernel wrote it"),
    ("settings", '{"cassette": 1, "settings": 3}\n', 1, "settings"),
    ("a setting", '{"cassette": 1, "settings": {"model": {}}}\n', 1, "a setting is"),
    ("a list of settings", '{"cassette": 1, "settings": {"model": [1]}}\n', 1, "a setting is"),
    ("version", '{"cassette": 1, "version": 2}\n', 1, "version is no text"),
    ("a list", HEAD + "[]\n", 2, "no JSON object"),
    ("a conflict of git", HEAD + "<<<<<<< HEAD\n" + ASKED, 2, "no line of JSON"),
    ("deep", HEAD + "[" * 100_000 + "\n", 2, "no line of JSON"),
    ("bytes", HEAD.encode() + b"\xff\n", 2, "no line of JSON"),
    ("a lone half", HEAD + '{"call": "\ud83d"}\n', 2, "no line of JSON"),
    ("a block of nothing", HEAD + '{"text": "a"}\n', 2, "neither a request nor a call"),
    ("two heads", HEAD + HEAD, 2, "neither a request nor a call"),
    ("a key", HEAD + '{"request": 1, "messages": []}\n', 2, "request is no text"),
    ("from nowhere", HEAD + '{"request": "k", "after": "x", "messages": []}\n', 2, "not in the file"),
    ("no messages", HEAD + '{"request": "k"}\n', 2, "messages is no list"),
    ("tools", HEAD + '{"request": "k", "tools": 1, "messages": []}\n', 2, "tools is neither"),
    ("a message", HEAD + '{"request": "k", "messages": [1]}\n', 2, "a message is no object"),
    ("a role", HEAD + '{"request": "k", "messages": [{"content": ""}]}\n', 2, "role is no text"),
    ("images", HEAD + '{"request": "k", "messages": [{"role": "user", "content": "", "images": [1]}]}\n', 2, "list of texts"),
    ("calls", HEAD + '{"request": "k", "messages": [{"role": "a", "content": "", "calls": [1]}]}\n', 2, "a call is no object"),
    ("a call", HEAD + '{"request": "k", "messages": [{"role": "a", "content": "", "calls": [{}]}]}\n', 2, "id is no text"),
    ("a status", HEAD + ASKED + '{"headers": {}}\n', 3, "status is no whole number"),
    ("a status of truth", HEAD + ASKED + '{"status": true}\n', 3, "status is no whole number"),
    ("headers", HEAD + ASKED + '{"status": 200, "headers": []}\n', 3, "headers is no object"),
    ("a header", HEAD + ASKED + '{"status": 200, "headers": {"a": 1}}\n', 3, "a header is no text"),
    ("base64", HEAD + ASKED + BEGUN + '{"base64": "é"}\n', 4, "base64 is not base64"),
    ("a text", HEAD + ASKED + BEGUN + '{"text": null}\n', 4, "text is no text"),
    ("an end", HEAD + ASKED + BEGUN + '{"end": "tired", "gaps": [1]}\n', 4, "ends in a way that is not known"),
    ("no gaps", HEAD + ASKED + BEGUN + '{"end": "answer"}\n', 4, "gaps is no list"),
    ("a gap", HEAD + ASKED + BEGUN + '{"end": "answer", "gaps": [-1]}\n', 4, "a gap is no whole number"),
    ("a huge gap", HEAD + ASKED + BEGUN + '{"end": "answer", "gaps": [1e999]}\n', 4, "a gap is no whole number"),
    ("too few gaps", HEAD + ASKED + BEGUN + '{"text": ""}\n{"end": "answer", "gaps": [1]}\n', 5, "gaps are not one"),
    ("too many gaps", HEAD + ASKED + BEGUN + '{"end": "answer", "gaps": [1, 2]}\n', 4, "gaps are not one"),
    ("no end", HEAD + ASKED + BEGUN + ASKED, 4, "line 2 has no end"),
    ("a result", HEAD + '{"call": "python", "arguments": "{}"}\n', 2, "text is no text"),
    ("an image", HEAD + '{"call": "p", "arguments": "", "text": "", "images": [{}]}\n', 2, "mime is no text"),
    ("an image of nothing", HEAD + '{"call": "p", "arguments": "", "text": "", "images": [1]}\n', 2, "an image is no object"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "line", "why"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_what_is_no_cassette_is_one_complaint_that_names_the_line(content, line, why):
    with pytest.raises(Unreadable) as wrong:
        read(content)
    assert wrong.value.line == line
    assert why in wrong.value.why
    assert str(wrong.value) == f"line {line}: {wrong.value.why}"
    assert "\n" not in str(wrong.value)
    assert len(str(wrong.value)) < 200


NAMES = ["cassette", "settings", "version", "request", "after", "tools", "messages", "role", "content", "images", "calls", "call",
         "id", "name", "arguments", "status", "headers", "gaps", "text", "base64", "end", "message", "ok", "mime", "data"]  # fmt: skip
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["k", "answer", "user", "YQ==", ""])
json_values = st.recursive(
    plain, lambda x: st.lists(x, max_size=3) | st.dictionaries(st.sampled_from(NAMES), x, max_size=6), max_leaves=20
)


@given(
    st.lists(st.dictionaries(st.sampled_from(NAMES), json_values, max_size=8) | json_values, max_size=6), st.booleans()
)
def test_any_json_is_a_cassette_or_one_complaint(values, headed):
    text = HEAD * headed + "\n".join(json.dumps(value) for value in values)
    read_or_told(text)


@given(st.binary() | st.text())
@example(b"\x00" * 10)
def test_anything_is_a_cassette_or_one_complaint(content):
    read_or_told(content)


def read_or_told(content):
    try:
        found = read(content)
    except Unreadable as wrong:
        count = content.count(b"\n" if isinstance(content, bytes) else "\n")
        assert 1 <= wrong.line <= count + 1
    else:
        assert isinstance(found, Cassette)
        assert read("".join(written(found))) == replace(found, torn=False)


def test_a_file_of_nothing_is_torn():
    assert read("") == read(b"\n \n") == read('{"cassette": 1') == Cassette(torn=True)


@pytest.mark.no_cover
def test_ten_megabytes_are_read_quickly():
    known, request, parts = Known(), Request(()), [HEAD]
    for turn in range(300):
        request = Request((*request.messages, {"role": "user", "content": f"{turn} " + "word " * 1_000}), True, request)
        parts.append(exchange_lines(Exchange(request, blocks=(Block(b"data: {}\n\n" * 25, 0.01),) * 100), known))
    text = "".join(parts)
    assert len(text) > 8_000_000
    began = time.process_time()
    assert len(read(text).exchanges) == 300
    assert time.process_time() - began < 5


def test_a_small_file_does_not_unfold_into_a_large_one():
    lines = [HEAD, '{"request": "0", "messages": [' + ", ".join(['{"role": "user", "content": ""}'] * 30_000) + "]}\n"]
    answered = '{"status": 200}\n{"end": "answer", "gaps": [0]}\n'
    lines += [answered, ('{"request": "0", "after": "0", "messages": []}\n' + answered) * 1_000]
    with pytest.raises(Unreadable, match="too many messages"):
        read("".join(lines))
