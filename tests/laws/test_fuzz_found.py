"""What `tests.fuzz` found, as laws of its kind: each of these once raised what nobody names, or took time without end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from itertools import count

import pytest

from hermes_kernel.core.calls import Calls, Piece
from hermes_kernel.core.json_repair import mend
from hermes_kernel.core.json_state import DEEPEST, Nesting, is_deep
from hermes_kernel.core.learning.memory_text import read
from hermes_kernel.core.plain import load
from hermes_kernel.core.rescue import rescue
from hermes_kernel.core.stream import Stream
from hermes_kernel.core.trouble import read_trouble


def seconds(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def grows_evenly(work: Callable[[int], object], size: int, often: int = 8) -> None:
    """So many times as much takes so many times as long, give or take; by the square of it, it would be eight times that."""
    least = max(seconds(lambda: work(size)), 0.01)
    assert seconds(lambda: work(often * size)) < 4 * often * least


def piece(arguments: str) -> dict[str, object]:
    return {
        "choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "python", "arguments": arguments}}]}}]
    }


@pytest.mark.parametrize("layers", [1, 8, 400])
def test_arguments_that_are_encoded_in_themselves_again_and_again_are_an_object_or_have_a_flaw(layers: int) -> None:
    mended = mend('"`' * layers + "{}" + '`"' * layers)
    assert mended.flaw or mended.arguments == "{}"
    assert "\n" not in mended.flaw


def test_arguments_nested_deeper_than_anybody_walks_have_a_flaw_and_those_less_deep_are_taken() -> None:
    for depth in (DEEPEST - 2, DEEPEST, DEEPEST + 1, 500, 900, 985, 5_000):
        mended = mend('{"a": ' + "[" * depth + "NaN" + "]" * depth + "}")
        assert bool(mended.flaw) == (depth + 1 > DEEPEST)
        assert not mended.flaw or "nested too deeply" in mended.flaw


def test_brackets_within_strings_are_no_nesting_however_the_text_is_cut() -> None:
    text = json.dumps({"code": '[{"\\' * 300, "more": ["]" * 300]})
    assert not is_deep(text)
    for size in (1, 2, 3, 7):
        nesting = Nesting()
        for at in range(0, len(text), size):
            nesting.feed(text[at : at + size])
        assert (nesting.depth, nesting.deepest) == (0, 2)
    nesting.feed("")
    assert nesting.depth == 0


def test_a_fence_with_any_number_of_empty_lines_in_it_is_read_at_once() -> None:
    assert mend("```json" + "\n" * 50_000 + '{"a": 1}' + "\n" * 50_000 + "```").arguments == '{"a": 1}'
    assert mend("```" + "\n" * 50_000 + "x").flaw


@pytest.mark.parametrize("unit", ["a{b: 1}\n", "}", "{}", "\\}"])
def test_a_call_in_small_pieces_takes_as_long_as_it_is_long_whatever_braces_are_in_it(unit: str) -> None:
    def work(times: int) -> None:
        stream, text = Stream(), json.dumps({"code": unit * times})
        for at in range(0, len(text), 4):
            stream.feed(piece(text[at : at + 4]))
        (call,), _ = stream.calls.finished(lambda: "x", limited=False)
        assert json.loads(call.arguments) == {"code": unit * times}

    grows_evenly(work, 8_000 // len(unit))


def test_pieces_that_follow_a_whole_call_are_not_each_held_against_all_of_it() -> None:
    def work(times: int) -> None:
        stream = Stream()
        for part in (json.dumps({"a": "x" * 20 * times}), *["}"] * times):
            stream.feed(piece(part))

    grows_evenly(work, 1_000)


def test_what_closes_and_is_no_object_never_becomes_one() -> None:
    stream = Stream()
    for part in ("{a}", "{}", '{"b": 1}'):
        stream.feed(piece(part))
    stream.close()
    numbers = count()
    assert all(call.flaw for call in stream.reply(lambda: f"made{next(numbers)}").calls[:1])


def test_a_call_whose_arguments_are_too_deep_is_held_against_another_that_says_its_id() -> None:
    calls = Calls()
    deep = '{"a": "\x01", "b": ' + "[" * DEEPEST + "]" * DEEPEST + "}"
    for arguments in (deep, '{"a": 1}'):
        calls.feed(Piece("one", 0, "", arguments, {}))
    (call,), _ = calls.finished(lambda: "new", limited=False)
    assert call.arguments == deep
    assert "nested too deeply" in call.flaw


@pytest.mark.no_cover
@pytest.mark.parametrize("unit", ['[TOOL_CALLS]price{"b ', "[TOOL_CALLS]price ", "[TOOL_CALLS]", "<function=<"])
def test_marks_of_calls_that_are_none_cost_little_however_many(unit: str) -> None:
    call = '{"name": "price", "arguments": {}}'
    grows_evenly(lambda size: rescue(call + unit * (size // len(unit)), {"price"}, lambda: "x"), 8_000)
    grows_evenly(lambda size: rescue("[TOOL_CALLS]price" + " " * size, {"price"}, lambda: "x"), 20_000)


@pytest.mark.no_cover
@pytest.mark.parametrize("unit", ["1", "1,", "<", "<script>", "<style ", "(1", "1 + "])
def test_a_complaint_of_any_length_is_read_in_time(unit: str) -> None:
    for body in (str, lambda text: json.dumps({"error": {"message": text}}), lambda text: f"<html>{text}"):
        grows_evenly(lambda size, body=body: read_trouble(body(unit * (size // len(unit))), 400), 8_000)


def test_no_request_has_as_many_tokens_as_a_complaint_may_say() -> None:
    assert read_trouble(json.dumps({"n_prompt_tokens": 10**300}), 400).asked == 0
    assert read_trouble(json.dumps({"n_prompt_tokens": 9_000}), 400).asked == 9_000
    assert read_trouble("9" * 13 + " tokens from the input messages").asked == 0


def test_a_fact_whose_name_is_no_name_is_none() -> None:
    assert load({"fact": ["Asked"]}) is None
    assert load({"fact": {}, "prompt": "x"}) is None


@pytest.mark.parametrize("white", ["\x1e", "\x0b", "\xa0", "\u2028", " \t"])
def test_white_space_of_any_kind_beside_a_separator_leaves_it_one(white: str) -> None:
    for written in (f"one\n§{white}\ntwo\n§{white}\n", f"one\n{white}§\ntwo"):
        assert read(written.encode()).entries == ("one", "two")
