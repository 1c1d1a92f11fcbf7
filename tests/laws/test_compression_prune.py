"""The cheap pass: a conversation gets lighter, and stays what it is for those who read and answer it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.compression import prune, size, sound
from hermes_kernel.core.compression.clipping import clip, clip_arguments, clipped, flatten_arguments
from hermes_kernel.core.compression.pruning import ARGUMENT, RESULT
from hermes_kernel.core.messages import Assistant, Image, Observation, ToolCall, Transcript, User
from hermes_kernel.world.tools.keeping import cut, keep
from tests.laws.conversations import PICTURE, conversations, texts

LONG = "".join(f"line {n} of a long result\n" for n in range(200))


def exchange(call: ToolCall, result: str, images: tuple[Image, ...] = ()) -> Transcript:
    return Assistant("", (call,)), Observation(call.id, call.name, result, images=images)


def read(number: int, path: str = "a.py") -> ToolCall:
    return ToolCall(f"call_{number}", "read_file", json.dumps({"path": path}))


def results(transcript: Transcript) -> list[str]:
    return [message.text for message in transcript if isinstance(message, Observation)]


def shape(transcript: Transcript) -> list[object]:
    """All that a pass must leave as it is."""
    return [
        (m.call_id, m.name, m.ok)
        if isinstance(m, Observation)
        else (m.text, [(c.id, c.name, c.flaw, c.extra) for c in m.calls])
        if isinstance(m, Assistant)
        else m
        for m in transcript
    ]


@settings(max_examples=120, deadline=None)
@given(conversations(), st.integers(0, 30))
def test_pruning_changes_no_order_no_name_no_word_of_a_person_and_nothing_of_the_last(
    transcript: Transcript, last: int
) -> None:
    pruned = prune(transcript, last)
    assert sound(pruned) == ""
    assert shape(pruned) == shape(transcript)
    untouched = max(len(transcript) - last, 0)
    assert pruned[untouched:] == transcript[untouched:]
    assert all(size((new,)) <= size((old,)) for new, old in zip(pruned, transcript, strict=True))


@settings(max_examples=100, deadline=None)
@given(conversations(), st.integers(0, 30))
def test_pruning_twice_is_pruning_once(transcript: Transcript, last: int) -> None:
    pruned = prune(transcript, last)
    assert prune(pruned, last) is pruned


@settings(max_examples=100, deadline=None)
@given(conversations())
def test_old_arguments_stay_json_objects_with_the_same_keys(transcript: Transcript) -> None:
    for old, new in zip(transcript, prune(transcript, 0), strict=True):
        if isinstance(old, Assistant) and isinstance(new, Assistant):
            for before, after in zip(old.calls, new.calls, strict=True):
                assert before.flaw or list(json.loads(after.arguments)) == list(json.loads(before.arguments))


def test_a_result_that_comes_again_is_one_line_that_names_the_later_call() -> None:
    transcript = (
        User("q"), *exchange(read(1), LONG), *exchange(read(2), "other"), *exchange(read(3), LONG), *exchange(read(4), LONG)
    )  # fmt: skip
    first, other, third, last = results(prune(transcript, 0))
    assert first == third == '[The same result as that of the later call read_file {"path": "a.py"} (id call_4)]'
    assert other == "other"
    assert last.startswith("line 0 of a long result\n")
    assert last.endswith("line 199 of a long result\n")


def test_results_that_differ_only_in_what_was_left_out_are_not_called_the_same() -> None:
    other = LONG.replace("line 100 of", "LINE 100 of")
    pruned = prune((User("q"), *exchange(read(1), LONG), *exchange(read(2), other)), 0)
    assert results(pruned)[0] == results(pruned)[1]
    assert prune(pruned, 0) is pruned


def test_where_little_is_cut_the_line_that_says_so_is_spared() -> None:
    transcript = (User("q"), *exchange(read(1), "    " * (RESULT // 4) + " "))
    assert prune(transcript, 0) is transcript


def test_the_later_one_may_be_among_the_last_messages_which_stay_whole() -> None:
    transcript = (User("q"), *exchange(read(1), LONG), *exchange(read(2), LONG))
    assert results(prune(transcript, 2)) == [
        '[The same result as that of the later call read_file {"path": "a.py"} (id call_2)]',
        LONG,
    ]


def test_a_short_result_that_comes_again_stays() -> None:
    transcript = (User("q"), *exchange(read(1), "ok " * 20), *exchange(read(2), "ok " * 20))
    assert prune(transcript, 0) is transcript


def test_a_result_without_its_call_is_no_trouble() -> None:
    alone = (Observation("7", "probe", LONG), Observation("8", "probe", LONG))
    assert results(prune(alone, 1))[0] == "[The same result as that of the later call probe (id 8)]"


def test_a_long_result_is_head_and_tail_and_says_how_long_it_was() -> None:
    (text,) = results(prune((User("q"), *exchange(read(1), LONG)), 0))
    assert len(text) <= RESULT
    assert f"[… {len(LONG):,} characters in all; the middle is left out …]" in text


def test_a_result_that_was_kept_in_a_file_still_names_it(tmp_path: Path) -> None:
    kept = keep("x y z " * 9000, 10_000, tmp_path, "call_1")
    (text,) = results(prune((User("q"), *exchange(read(1), kept.text)), 0))
    assert len(text) <= RESULT
    assert "54,000 characters in all" in text
    assert f"all of it is in {kept.at}; read_file shows parts …]" in text
    assert f"54,000 characters in all; the middle is left out; all of it is in {kept.at};" in clip(text, 600)


def test_old_pictures_are_counted_and_a_persons_stay() -> None:
    transcript = (
        User("look", (PICTURE,)), *exchange(read(1), "", (PICTURE,)), *exchange(read(2), "a plot", (PICTURE, PICTURE))
    )  # fmt: skip
    pruned = prune(transcript, 0)
    assert pruned[0] is transcript[0]
    assert results(pruned) == ["[1 image left out]", "a plot\n[2 images left out]"]
    assert not any(m.images for m in pruned if isinstance(m, Observation))


def test_thoughts_go_and_a_providers_reasoning_only_from_earlier_turns() -> None:
    thinking = Assistant("", (read(1),), thoughts="hm", extra='{"reasoning_content": "hm"}')
    turn = (thinking, Observation("call_1", "read_file", "ok"))
    pruned = prune((User("first"), *turn, User("second"), *turn), 0)
    assert [(m.thoughts, m.extra) for m in pruned if isinstance(m, Assistant)] == [("", ""), ("", thinking.extra)]


def test_what_a_call_wrote_is_clipped_and_the_rest_of_its_arguments_stays() -> None:
    given = {"path": "a.py", "content": LONG, "list": [LONG, 1, None, {"deep": LONG}], "n": 1.5}
    call = ToolCall("1", "write_file", json.dumps(given))
    (_, message, _) = prune((User("q"), *exchange(call, "written")), 0)
    assert isinstance(message, Assistant)
    told = json.loads(message.calls[0].arguments)
    assert (told["path"], told["n"], told["list"][1:3]) == ("a.py", 1.5, [1, None])
    assert max(map(len, (told["content"], told["list"][0], told["list"][3]["deep"]))) <= ARGUMENT
    assert told["content"].startswith("line 0 of")


@pytest.mark.parametrize(
    ("arguments", "flat"),
    [
        ('{"n": 1e999, "t": "' + "x" * 500 + '"}', ["n", "t"]),
        ('{"n": ' + "9" * 5000 + "}", []),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", []),
        ('{"unfinished": "' + "x" * 5000, []),
        ('["' + '", "'.join("x" * 500) + '"]', []),
    ],
)
def test_arguments_that_cannot_be_written_again_are_left_alone_until_the_last_resort(
    arguments: str, flat: list[str]
) -> None:
    assert clip_arguments(arguments, 400) == arguments
    assert list(json.loads(flatten_arguments(arguments, 400))) == flat


def test_the_words_of_a_call_that_was_cut_off_are_clipped() -> None:
    call = ToolCall("1", "write_file", '{"content": "' + LONG, flaw="cut off")
    (_, message, _) = prune((User("q"), *exchange(call, "not run")), 0)
    assert isinstance(message, Assistant)
    assert len(message.calls[0].arguments) <= ARGUMENT
    assert message.calls[0].flaw == "cut off"


def test_halves_of_a_pair_in_arguments_do_not_come_out() -> None:
    clip_arguments(r'{"t": "\ud83d' + "x" * 500 + '"}', 400).encode()


@given(texts(), st.integers(0, 2000))
def test_a_clipped_text_is_within_its_limit_and_clipping_it_again_changes_nothing(text: str, limit: int) -> None:
    short = clip(text, limit)
    assert len(short) <= limit
    assert clip(short, limit) == short
    assert short == text or clipped(short) or limit < 500


@pytest.mark.parametrize("last", [0, 1, 5, 99])
def test_nothing_to_prune_is_the_same_conversation(last: int) -> None:
    transcript = (User("q" * 9000), Assistant("a" * 9000), *exchange(read(1), "ok"))
    assert prune(transcript, last) is transcript
    assert prune((), last) == ()


@given(st.integers(200, 6_000), st.integers(0, 5_000), st.lists(st.integers(1, 150), min_size=2))
def test_what_is_left_of_a_text_does_not_depend_on_how_long_the_path_of_its_file_is(kept, limit, lengths):
    texts = [cut("x" * 60_000, kept, f"all of it is in /{'ß' * length}; read_file shows parts") for length in lengths]
    assert len({re.sub("ß+", "…", text) for text in texts}) == 1
    if limit < min(map(len, texts)):
        assert len({re.sub("ß+", "…", clip(text, limit)) for text in texts}) == 1
