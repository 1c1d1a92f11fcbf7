"""What the summariser is told and what is taken from its answer: every message, no message as an order, no more than fits."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hermes_kernel.core.compression import SYSTEM, Keep, Plan, accepted, allowance, bounded, pieces, planned, request
from hermes_kernel.core.compression.sections import LONGEST, STATE, TITLES
from hermes_kernel.core.compression.template import HOLDS
from hermes_kernel.core.compression.weight import tokens
from hermes_kernel.core.messages import Assistant, Observation, ToolCall, Transcript, User
from tests.laws.conversations import HOSTILE, PICTURE, conversations, summaries, texts

RECORD = "## Goal and constraints\n- Build the parser in src/parser.py\n\n## State now\n- 3 of 7 tests pass"


def whole(transcript: Transcript) -> Plan:
    return Plan(0, len(transcript))


def unquoted(piece: str) -> list[str]:
    return [line for line in piece.split("\n") if not line.startswith("| ")]


@pytest.mark.no_cover
@settings(max_examples=100, deadline=None)
@given(conversations(), st.integers(200, 5000))
def test_no_message_is_lost_and_no_piece_is_too_long_or_empty(transcript: Transcript, room: int) -> None:
    plan = planned(transcript, Keep(1, 3, 2000))
    if plan is None:
        return
    told = pieces(transcript, plan, room)
    assert all(piece.strip() and tokens(piece) <= room for piece in told)
    who = [line for piece in told for line in unquoted(piece)]
    numbers = [int(line[1:].split("]")[0]) for line in who if line.startswith("[")]
    middle = enumerate(transcript[plan.head : plan.tail], plan.head)
    assert sorted(set(numbers)) == [n + 1 for n, m in middle if n != plan.pinned and not summaries((m,))]
    assert all(one <= other for one, other in pairwise(numbers))
    calls = [line for line in who if "assistant calls" in line and "(continued)" not in line]
    assert len(calls) == sum(len(m.calls) for m in plan.taken(transcript) if isinstance(m, Assistant))


@settings(max_examples=150, deadline=None)
@given(st.lists(texts(), min_size=1, max_size=5), st.integers(200, 2000))
def test_nothing_that_was_said_can_pass_for_a_message_or_an_order(said: list[str], room: int) -> None:
    transcript = tuple(User(text) for text in said)
    for piece in pieces(transcript, whole(transcript), room):
        for line in piece.splitlines():
            assert line.startswith(("| ", "[")), line
            assert line.startswith("| ") or line.removesuffix(" (continued)").endswith("] user:")


def test_each_message_is_marked_with_who_said_it_and_how_it_went() -> None:
    transcript = (
        User("look\n\nat this", (PICTURE,)),
        Assistant(
            "I will.", (ToolCall("1", "read_file", '{"path": "a.py"}'), ToolCall("2", "run", "{", flaw="cut\noff"))
        ),
        Observation("1", "read_file", "x = 1\r\ny = 2"),
        Observation("2", "run\nme", "", ok=False),
        Assistant("", (ToolCall("3", "", ""),)),
        Observation("3", "", "unknown tool", ok=False),
    )
    (piece,) = pieces(transcript, whole(transcript), 4000)
    assert piece.split("\n") == [
        "[1] user:", "| look", "| at this", "| [image: image/png]",
        "[2] assistant:", "| I will.",
        "[2] assistant calls read_file:", '| {"path": "a.py"}',
        "[2] assistant calls run:", "| {", "| (not run: cut off)",
        "[3] result of read_file, ok:", "| x = 1", "| y = 2",
        "[4] result of run me, failed:",
        "[5] assistant calls (no name):",
        "[6] result of (no name), failed:", "| unknown tool",
    ]  # fmt: skip


def test_a_long_message_is_told_by_head_and_tail_and_goes_on_in_the_next_piece() -> None:
    transcript = (User("first " + "word " * 20_000 + "last"), Assistant("done"))
    told = pieces(transcript, whole(transcript), 400)
    assert len(told) > 3
    assert told[0].startswith("[1] user:\n| first word")
    assert all(piece.startswith("[1] user: (continued)\n| ") for piece in told[1:-1])
    assert "characters in all; the middle is left out" in "".join(told)
    assert "[2] assistant:\n| done" in told[-1]


def test_lines_that_weigh_more_together_than_alone_still_fit() -> None:
    lines = ("é" * 300, "word" * 200) * 8
    transcript = tuple(User(line) for line in lines)
    told = pieces(transcript, whole(transcript), 700)
    assert max(map(tokens, told)) <= 700
    assert sum(piece.count("user:") - piece.count("(continued)") for piece in told) == len(lines)


def test_the_request_at_hand_is_told_first_for_it_explains_the_rest() -> None:
    work = tuple(
        m
        for n in range(30)
        for m in (Assistant("", (ToolCall("1", "run", "{}"),)), Observation("1", "run", "ok " * 50))
    )
    transcript = (User("old"), Assistant("yes"), User("now build it"), *work)
    plan = planned(transcript, Keep(first=0, last=5))
    assert plan is not None
    first, *_ = pieces(transcript, plan, 2000)
    assert first.startswith(
        "(the request at hand; it stays in the conversation) user:\n| now build it\n[1] user:\n| old"
    )
    assert "[3]" not in first


def test_nothing_taken_out_is_nothing_told() -> None:
    assert pieces((User("q"),), Plan(1, 1), 200) == ()


def test_a_window_too_small_for_any_piece_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="200"):
        pieces((User("q"),), Plan(0, 1), 199)


@given(texts(), texts(), texts())
def test_a_request_has_one_record_one_part_and_one_order_whatever_is_in_them(
    previous: str, said: str, focus: str
) -> None:
    transcript = (User(said),)
    (piece,) = pieces(transcript, whole(transcript), 50_000)
    body = request(piece, previous, focus, 500)
    told = [line for line in body.splitlines() if line and not line.startswith("| ")]
    parts = ["The next part of the conversation:", "[1] user:"]
    if previous.strip():
        parts.insert(0, "The record so far:")
    if focus.strip():
        parts.append("The person asks that this be kept most fully:")
    assert told == [*parts, "Now write the whole new record, in at most 500 words."]
    assert len(body) < len(piece) + 2 * len(previous) + 3 * len(previous.splitlines()) + 1200


def test_the_record_so_far_is_told_once() -> None:
    body = request("[1] user:\n| q", RECORD)
    assert body.count("3 of 7 tests pass") == 1
    assert "so far" not in request("[1] user:\n| q")


def test_what_a_person_wants_kept_is_asked_for_and_bounded() -> None:
    body = request("[1] user:\n| q", "", "the port\nnumbers " + "and more " * 400)
    assert "kept most fully:\n| the port numbers and more" in body
    assert len(body) < 1000


def test_the_template_names_its_sections_and_its_rules() -> None:
    assert all(f"\n## {title} (" in SYSTEM for title in TITLES)
    for rule in ("language of the conversation", "material to record", "passwords", "whole new record"):
        assert rule in SYSTEM


def test_a_summary_may_have_a_word_for_ten_tokens_within_bounds() -> None:
    assert [allowance(taken) for taken in (0, 5_000, 1_000_000)] == [120, 500, 1_500]


@pytest.mark.parametrize(
    "answer",
    [
        RECORD,
        f"```markdown\n{RECORD}\n```",
        f"Here is the updated record:\n\n{RECORD}\n\n## Open questions\n- None.\n\n## What is left\n(none)\n",
        f"[Summary of 12 earlier messages, a record.]\n\n{RECORD}",
        RECORD.replace("## Goal and constraints", "**Goal and Constraints:**").replace("## State", "### 4. State"),
        RECORD.replace("constraints", "constraints (what the person wants)").replace("now", f"now\n{HOLDS[STATE]}"),
        RECORD + "\n\n## Facts to keep word for word\n- Build the parser in src/parser.py",
        RECORD + "\n- 3 of 7 tests pass" * 500,
        f"{RECORD}\n\n{RECORD}",
    ],
)
def test_what_a_model_puts_around_the_record_is_taken_off(answer: str) -> None:
    assert accepted(answer) == RECORD


@pytest.mark.parametrize(
    "answer",
    ["", "  \n", "```\n```", "I cannot help with that.", "## Goal and constraints\n- none\n## State now\n", "好的。"],
)
def test_an_answer_that_is_no_record_is_not_taken_for_one(answer: str) -> None:
    assert accepted(answer) == ""


def test_a_record_without_the_sections_is_better_than_none() -> None:
    prose = (
        "The person wants a parser for the export files; the reader in src/reader.py works, " * 2
        + "and tests are left."
    )
    assert accepted(prose) == prose
    assert accepted("用户要求编写一个解析器，读取导出文件，目前阅读器已经完成，还需要编写测试和文档。") != ""


def test_a_secret_in_the_answer_is_not_kept() -> None:
    assert "sk-" not in accepted(RECORD + "\n- key sk-proj-abcdefghijklmnopqrstuvwx0123456789")


@pytest.mark.parametrize("before", [0.65, 1.3, 40])
def test_a_secret_is_not_kept_where_an_answer_without_end_is_cut(before: float) -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwx0123456789"
    for back in range(0, 160, 8):
        lead = "## State now\n- begun\n" + "- " + "letter " * (int(before * LONGEST - back) // 7)
        answer = f"{lead}{key} {'and so on ' * LONGEST}"
        assert len(bounded(answer)) <= 2 * LONGEST
        assert "sk-" not in accepted(answer)


@settings(max_examples=100, deadline=None)
@given(st.lists(texts(), max_size=12), st.integers(50, 400))
@example(
    [
        "Привет, мир! Ошибка в строке 17.",
        "The parser drops the last line. " * 200,
        "The parser drops the last line. " * 30,
    ],
    50,
)
def test_an_answer_is_cut_at_the_budget_and_a_record_accepted_twice_is_the_same(said: list[str], most: int) -> None:
    answer = "\n".join(f"## {title}\n{text}" for title, text in zip(TITLES * 2, said, strict=False))
    record = accepted(answer, most)
    assert tokens(record) <= most
    assert accepted(record, most) == record or not record or tokens(record) > most * 0.9


def test_a_record_that_is_too_long_keeps_every_section_and_its_newest_lines() -> None:
    answer = "\n".join(f"## {title}\n" + "\n".join(f"- {title} number {n}" for n in range(300)) for title in TITLES)
    record = accepted(answer, 1000)
    assert tokens(record) <= 1000
    for title in TITLES:
        assert f"## {title}\n- {title} number 0\n- …\n" in record
        assert f"- {title} number 299" in record
    assert len(accepted("## State now\n" + "word " * 50_000, 200)) in range(300, 900)
    assert accepted("## State now\n- begun\n" + "```\n" * 300_000, 200).startswith("## State now\n- begun\n")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_are_quoted(text: str) -> None:
    (piece,) = pieces((User(text),), Plan(0, 1), 2000)
    assert unquoted(piece) == ["[1] user:"]
