"""What a recording answers, and what it says where it has no answer: the closest request, and the words that differ."""

from __future__ import annotations

import random
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.messages import Image
from hermes_kernel.core.recording.cassette import Block, Called, Cassette, Exchange, Request
from hermes_kernel.core.recording.differing import differences, marked
from hermes_kernel.core.recording.finding import Answers, Miss
from hermes_kernel.core.recording.secrets import hidden, hidden_request

KEY = "sk-proj-" + "a1B2c3D4" * 5
words = st.lists(st.sampled_from(["Which", "month", "in", "sales", "of", " ", "\n", "é", "."]), max_size=30)


def user(text):
    return {"role": "user", "content": text}


def asked(*texts, tools=True):
    return Request(tuple(map(user, texts)), tools)


def answered(request, text=b""):
    return Exchange(request, blocks=(Block(text),))


def answers(*requests):
    return Answers(Cassette(exchanges=tuple(answered(request, b"%d" % n) for n, request in enumerate(requests))))


def test_a_request_is_answered_by_what_it_says_not_by_its_turn():
    held = answers(asked("one"), asked("two"), asked("one", "two"))
    assert [held.find(asked(*texts)).blocks[0].data for texts in (["two"], ["one", "two"], ["one"])] == [
        b"1",
        b"2",
        b"0",
    ]


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=6), st.integers(1, 12))
def test_the_same_request_is_answered_in_order_and_begins_again(recorded, times):
    held = answers(*(asked(text) for text in recorded))
    mine = [b"%d" % n for n, text in enumerate(recorded) if text == recorded[0]]
    heard = [held.find(asked(recorded[0])).blocks[0].data for _ in range(times)]
    assert heard == [mine[n % len(mine)] for n in range(times)]


def test_a_request_is_found_though_its_secret_was_not_recorded():
    known = frozenset({"correct-horse-battery"})
    request = asked(f"my key is {KEY}, my password correct-horse-battery")
    held = Answers(Cassette(exchanges=(hidden(answered(request, b"yes"), known),)))
    assert held.find(hidden_request(request, known)).blocks[0].data == b"yes"


def test_calls_are_answered_by_name_and_arguments_in_order():
    calls = (
        Called("python", "{}", "1", images=(Image("image/png", "aa"),)),
        Called("read", "{}", "2", ok=False),
        Called("python", "{}", "3"),
    )
    held = Answers(Cassette(calls=calls))
    assert [held.call(Called("python", "{}", "")) for _ in range(3)] == [calls[0], calls[2], calls[0]]
    assert held.call(Called("read", "{}", "")) == calls[1]
    assert held.call(Called("read", '{"a": 1}', "")) is None
    assert held.call(Called("write", "{}", "")) is None


@given(st.permutations(["a", "b", "c", "a"]), st.permutations(["a", "b", "c"]))
def test_of_calls_with_the_same_words_each_has_its_own_result_in_whichever_order_they_come(recorded, made):
    calls = tuple(Called("python", "{}", f"{n}", id=call_id) for n, call_id in enumerate(recorded))
    held = Answers(Cassette(calls=calls))
    for call_id in made:
        mine = [call for call in calls if call.id == call_id]
        assert [held.call(Called("python", "{}", "", id=call_id)) for _ in mine] == mine


def test_a_call_whose_id_is_another_now_or_was_not_recorded_has_the_next_result_of_its_words():
    calls = (Called("python", "{}", "1", id="a"), Called("python", "{}", "2"))
    for call_id in ("new", ""):
        held = Answers(Cassette(calls=calls))
        assert [held.call(Called("python", "{}", "", id=call_id)) for _ in range(3)] == [*calls, calls[0]]


def test_a_miss_names_the_word():
    miss = answers(asked("Hello."), asked("Which month in sales was best? And why?")).find(
        asked("Which month in revenue was best? And why?")
    )
    assert miss.closest == 2
    assert miss.words("story.cassette.jsonl") == (
        "not in story.cassette.jsonl, whose request 2 is closest: message 1 (user): "
        "“Which month in [-sales-]{+revenue+} was best? And why?”"
    )
    assert "Which month in [-sales-]{+revenue+} was best? And why?" in miss.diff()


def test_a_miss_names_each_message_that_is_another():
    call = {
        "role": "assistant",
        "content": "",
        "calls": [{"id": "1", "name": "python", "arguments": '{"code": "1+1"}'}],
    }
    other = call | {"calls": [{"id": "1", "name": "python", "arguments": '{"code": "1+2"}'}]}
    result = {"role": "tool", "content": "2", "call": "1", "images": ["image/png sha256:12"]}
    recorded = Request((user("add"), call, result, user("thanks")), True)
    held = Answers(Cassette(exchanges=(answered(recorded),)))
    words = held.find(Request((user("add"), other, result | {"content": "3"}, user("thanks")), True)).words("f")
    assert 'message 2 (assistant): “call 1: python({"code": "1+[-1-]{+2+}"})”' in words
    assert "message 3 (tool): “result of call 1:⏎[-2-]{+3+}⏎[image/png sha256:12]”" in words
    assert "message 4" not in words
    assert "message 1" not in words


def test_a_message_between_two_others_that_is_the_same_is_not_named():
    missed = answers(asked("one", "between", "three")).find(asked("1", "between", "3"))
    assert [each.number for each in missed.differences()] == [1, 3]


def test_a_miss_names_messages_that_came_or_went():
    held = answers(asked("one", "two"))
    assert "message 3 (user): “{+three+}”" in held.find(asked("one", "two", "three")).words("f")
    assert "message 2 (user): “[-two-]”" in held.find(asked("one")).words("f")
    roles = held.find(Request((user("one"), {"role": "tool", "content": "two", "call": "1"}), True))
    assert "message 2 (user, now tool): “{+result of call 1:⏎+}two”" in roles.words("f")


def test_a_miss_names_tools_that_were_withheld():
    held = answers(asked("one"))
    miss = held.find(asked("one", tools=False))
    assert miss.words("f").endswith("closest: tools are not offered and were offered")
    assert "tools: [-offered-]{+not offered+}" in miss.diff()


def test_nothing_recorded_is_said():
    miss = answers().find(asked("one"))
    assert miss.closest == 0
    assert miss.words("f") == "nothing is recorded in f that could answer"
    assert miss.diff() == "Nothing is recorded."


def test_the_closest_has_most_messages_in_common():
    held = answers(asked("a", "b", "d"), asked("a", "c"), asked("x y z"), asked("x y"))
    assert held.find(asked("a", "b", "e")).closest == 1
    assert held.find(asked("a", "c", "new")).closest == 2
    assert held.find(asked("x y z!")).closest == 4
    assert held.find(asked("x z y")).closest == 3


@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=3), max_size=4), st.lists(st.sampled_from("abcd"), max_size=4)
)
def test_what_differs_is_exactly_what_differs(recorded, wanted):
    found = answers(*(asked(*texts) for texts in recorded)).find(asked(*wanted))
    if not isinstance(found, Miss):
        assert wanted in recorded
        return
    assert wanted not in recorded
    messages = list(found.recorded.messages) if found.recorded else []
    new = list(found.request.messages)
    for one in found.differences():
        old, come = ("".join(part.text for part in one.passages if part.mark in (" ", mark)) for mark in "-+")
        assert old != come
        assert old in ("", *(message["content"] for message in messages))
        assert come in ("", *(message["content"] for message in new))
    assert len(found.words("f")) <= 290


@given(words, words)
def test_passages_are_both_texts(old, new):
    old, new = "".join(old), "".join(new)
    passages = differences(old, new)
    assert "".join(part.text for part in passages if part.mark != "+") == old
    assert "".join(part.text for part in passages if part.mark != "-") == new
    assert all(one.mark != other.mark for one, other in pairwise(passages))
    assert all(part.text for part in passages)


def test_texts_that_have_nothing_in_common_are_two():
    old, new = " ".join(f"a{n}" for n in range(400)), "\n".join(f"b{n}" for n in range(400))
    assert [part.mark for part in differences(old, new)] == ["-", "+"]


@given(words, st.integers(0, 30), st.integers(0, 2))
def test_words_put_in_and_left_out_are_the_only_ones(parts, at, many):
    parts = [part for part in parts if part.strip()]
    old = " ".join(parts)
    new = " ".join([*parts[:at], *["October"] * many, *parts[at:]])
    come = "".join(part.text for part in differences(old, new) if part.mark == "+")
    gone = "".join(part.text for part in differences(old, new) if part.mark == "-")
    assert come.split() == ["October"] * many
    assert gone == ""


def test_two_words_far_apart_are_two():
    text = [f"word{n}" for n in range(2_000)]
    other = [*text]
    other[3], other[1_900] = "Tuesday", "Wednesday"
    assert marked(differences(" ".join(text), " ".join(other)), around=10) == (
        "… word2 [-word3-]{+Tuesday+} word4 … word1899 [-word1900-]{+Wednesday+} word1901 …"
    )


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", ["ends", "shuffled", "no spaces"])
def test_long_messages_are_told_apart_in_time_and_in_few_words(kind):
    dice = random.Random(5)
    many = [dice.choice(["alpha", "beta", "gamma", "delta"]) + str(dice.randrange(99)) for _ in range(130_000)]
    other = list(many)
    match kind:
        case "ends":
            other[1], other[-2] = "October", "May"
        case "shuffled":
            dice.shuffle(other)
        case "no spaces":
            other[60_000] = "October"
    glue = "" if kind == "no spaces" else " "
    held = answers(asked("short"), asked(glue.join(many)))
    began = time.process_time()
    miss = held.find(asked(glue.join(other)))
    one_line, several = miss.words("a" * 500), miss.diff()
    assert time.process_time() - began < 5
    assert miss.closest == 2
    assert len(one_line) <= 290
    assert "\n" not in one_line
    assert len(several) < 7_000
    if kind != "shuffled":
        assert "October" in one_line


@pytest.mark.no_cover
def test_many_long_messages_are_told_apart_in_time():
    texts = [f"{n} " * 30_000 for n in range(30)]
    miss = answers(asked(*texts)).find(asked(*(text.replace(" ", " x ") for text in texts)))
    began = time.process_time()
    assert len(miss.words("f")) <= 290
    assert "message 1 (user)" in miss.words("f")
    assert len(miss.diff()) < 7_000
    assert time.process_time() - began < 5


def test_a_miss_moves_no_cursor():
    recorded = Request(({"role": "a\x1b[2Jb", "content": "one \x1b[2J two"},))
    miss = answers(recorded).find(asked("one \x1b[2J\r three"))
    assert not set(miss.words("f") + miss.diff()) & {"\x1b", "\r"}


def test_the_closest_of_many_is_found_in_time():
    held = answers(*(asked("the same long beginning " * 400, f"question {n} " * 400) for n in range(500)))
    began = time.process_time()
    miss = held.find(asked("the same long beginning " * 400, "question 77 " * 399 + "answer"))
    assert time.process_time() - began < 5
    assert miss.closest == 78
