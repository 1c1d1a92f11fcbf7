"""The messages that are found are those the conversation is made of, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.budget import Limits
from hermes_kernel.core.events import (
    Accepted,
    Asked,
    Compressed,
    Failed,
    Final,
    Interrupted,
    Kept,
    Observed,
    Opened,
    Outcome,
    Replied,
    Started,
    Titled,
    Undone,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import Assistant, Observation, ToolCall, Transcript, User
from hermes_kernel.core.search.found import Passage
from hermes_kernel.core.search.passages import STEPS, Hidden, Telling, findable, passages, tell
from hermes_kernel.core.turn import Turn, evolve, recall
from tests.laws.worlds import Played, World

CALL = ToolCall("c1", "python", '{"code": "len(df)"}')


def numbered(facts: Iterable[Kept]) -> list[tuple[int, float, Kept]]:
    return [(n, 100.0 + n, fact) for n, fact in enumerate(facts)]


def told(*facts: Kept) -> list[tuple[int, str, str]]:
    return [(each.n, each.role, each.text) for each in passages("s", numbered(facts))]


def conversation(seed: int, turns: Sequence[int]) -> list[Kept]:
    """A session of prompts in a world of troubles; a number above 0 takes so many turns back after the turn."""
    world = World(seed, trouble=0.2)
    log: list[Kept] = [Opened("s", "You are Hermes.")]
    turn = evolve(Turn(Limits(max_iterations=6, max_retries=1)), log[0])
    for number, back in enumerate(turns):
        played: list[Kept] = [Asked(f"question {number}")]
        turn = Played(evolve(turn, played[0]), played, world, stop=0.02).run().turn
        log += played
        if back:
            log.append(Undone(back))
            turn = evolve(turn, log[-1])
    return log


conversations = st.builds(
    conversation, st.integers(0, 1 << 32), st.lists(st.sampled_from([0, 0, 0, 1, 2, 9]), max_size=5)
)


def spoken(transcript: Transcript) -> list[tuple[str, list[str]]]:
    """Who said what, results in any order."""
    texts: list[tuple[str, list[str]]] = []
    for message in transcript:
        match message:
            case User(text):
                texts.append(("user", [text]))
            case Observation(_, name, text):
                if texts[-1][0] != "tool":
                    texts.append(("tool", []))
                texts[-1][1].append(f"{name}: {text}")
            case Assistant(text, calls):
                texts.append(("assistant", [text if text.strip() else "", *(call.name for call in calls)]))
    return [(role, sorted(each)) for role, each in texts]


def found(standing: Sequence[Passage], facts: Sequence[Kept]) -> list[tuple[str, list[str]]]:
    """The same of passages: replies that follow one another are one message. Calls in a last reply, which had no tools
    to ask for, are not part of the transcript."""
    texts, answered = [], {fact.call_id for fact in facts if isinstance(fact, Observed)}
    for (role, _), run in groupby(standing, key=lambda each: (each.role, each.role == "user" and each.n)):
        if role != "assistant":
            texts += [(role, [f"{each.tool}: {each.text}" if each.tool else each.text for each in run])]
            continue
        own, names = "", list[str]()
        for each in run:
            fact = facts[each.n]
            calls = fact.calls if isinstance(fact, Replied) else ()
            own += fact.text if isinstance(fact, Replied) else each.text
            assert each.text.startswith(fact.text) or isinstance(fact, Final)  # type: ignore[union-attr]
            assert all(call.name in each.text for call in calls)
            names += [call.name for call in calls if call.id in answered]
        texts.append((role, [own if own.strip() else "", *names]))
    return [(role, sorted(each)) for role, each in texts]


@pytest.mark.no_cover
@settings(max_examples=300)
@given(conversations)
def test_the_messages_that_stand_are_the_transcript(facts: list[Kept]):
    standing = passages("s", numbered(facts))
    if any(isinstance(fact, Compressed) for fact in facts):
        assert standing[-1:] == () or standing[-1].n < len(facts)
        return
    assert found(standing, facts) == spoken(recall(facts, Turn(Limits(max_iterations=6, max_retries=1))).transcript)


@given(conversations)
def test_one_fact_at_a_time_comes_to_the_same_from_the_last_prompt_on(facts: list[Kept]):
    telling, last = Telling("s"), max((n for n, fact in enumerate(facts) if isinstance(fact, Asked)), default=0)
    resumed = Telling("s")
    for n, t, fact in numbered(facts):
        telling, news = tell(telling, n, t, fact)
        if n >= last or isinstance(fact, STEPS):
            resumed, again = tell(resumed, n, t, fact)
            assert again == news
    assert resumed == telling


@given(conversations)
def test_what_was_hidden_is_what_stands_no_more(facts: list[Kept]):
    telling, seen, gone = Telling("s"), list[Passage](), set[int]()
    for n, t, fact in numbered(facts):
        telling, news = tell(telling, n, t, fact)
        for piece in news:
            if isinstance(piece, Hidden):
                gone |= {each.n for each in seen if each.n >= piece.since}
            else:
                seen.append(piece)
    assert [each for each in seen if each.n not in gone] == list(passages("s", numbered(facts)))


def test_a_turn_is_told_prompt_calls_results_and_answer():
    facts = (
        Opened("s"),
        Titled("Counting"),
        Asked("How many?"),
        Replied("Let me see.", (CALL,), thoughts="secret thoughts"),
        Started("c1"),
        Observed("c1", "3"),
        Replied("Three."),
        Final(Outcome.COMPLETED, "Three."),
    )
    assert passages("s", numbered(facts)) == (
        Passage("s", 1, 101.0, "title", "Counting"),
        Passage("s", 2, 102.0, "user", "How many?"),
        Passage("s", 3, 103.0, "assistant", "Let me see.\npython\ncode: len(df)"),
        Passage("s", 5, 105.0, "tool", "3", "python"),
        Passage("s", 6, 106.0, "assistant", "Three."),
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"code": "import os\\nprint(\\"x\\")", "seconds": 1.5}', 'python\ncode: import os\nprint("x")\nseconds: 1.5'),
        ('{"tasks": [{"goal": "a"}, "b", null]}', "python\ntasks: goal: a\nb\nnull"),
        ('{"x": "\\u684c \\ud800"}', "python\nx: 桌 \ufffd"),
        ("{}", "python"),
        ('{"code": "cut o', 'python\n{"code": "cut o'),
        ("[" * 100_000, "python\n" + "[" * 100_000),
        ("9" * 10_000, "python\n" + "9" * 10_000),
    ],
)
def test_a_call_is_told_without_the_escapes_of_json(arguments: str, text: str):
    assert told(Asked("q"), Replied("", (ToolCall("c", "python", arguments),)))[1:] == [(1, "assistant", "\n" + text)]


def test_a_cut_reply_is_told_once_it_is_accepted_and_only_then():
    cut, whole = Replied("", (CALL,), cut=True), Replied("whole")
    assert told(Asked("q"), cut, whole) == [(0, "user", "q"), (2, "assistant", "whole")]
    assert told(Asked("q"), cut, cut, Accepted())[1:] == [(2, "assistant", "\npython\ncode: len(df)")]
    assert told(Asked("q"), whole, Accepted()) == told(Asked("q"), whole)


def test_last_words_are_told_where_no_reply_said_them():
    stop = Interrupted(partial="and so")
    assert told(Asked("q"), stop, Final(Outcome.INTERRUPTED, "and so"))[1:] == [(2, "assistant", "and so")]
    assert told(Asked("q"), Replied("First "), stop, Final(Outcome.INTERRUPTED, "First and so"))[1:] == [
        (1, "assistant", "First "),
        (3, "assistant", "and so"),
    ]
    failed = Failed(Fault.DISCONNECT, partial="half")
    assert told(Asked("q"), failed, Final(Outcome.FAILED, "half", "gone"))[1:] == [(2, "assistant", "half")]
    assert told(Asked("q"), Replied(" "), Final(Outcome.EMPTY, "")) == [(0, "user", "q")]
    assert told(Titled(" ")) == []


def test_a_result_of_no_open_call_belongs_to_nothing():
    assert told(Asked("q"), Observed("c9", "stray")) == [(0, "user", "q")]
    assert told(Asked("q"), Replied("", (CALL,)), Observed("c1", "3"), Observed("c1", "again"))[2:] == [
        (2, "tool", "3")
    ]


def test_an_undo_takes_turns_back_and_no_title():
    first, second = (Asked("one"), Replied("1")), (Asked("two"), Replied("2"))
    assert told(*first, Titled("name"), *second, Undone()) == told(*first, Titled("name"))
    assert told(*first, *second, Titled("name"), Undone(2)) == [(4, "title", "name")]
    assert told(*first, Undone(7), *second) == [(3, "user", "two"), (4, "assistant", "2")]
    assert told(Undone(), *first) == [(1, "user", "one"), (2, "assistant", "1")]
    assert told(*first, *second, Undone(), Undone()) == []
    assert told(*first, Undone(0)) == told(*first)


def test_what_was_copied_is_not_told_and_may_be_undone():
    branch = Opened("s", parent="r", transcript=(User("earlier"), Assistant("said")))
    assert told(branch, Asked("one"), Undone(1), Asked("two")) == [(3, "user", "two")]
    assert told(branch, Asked("one"), Undone(2), Asked("two")) == [(3, "user", "two")]
    assert told(branch, Undone(1), Asked("two"), Undone(2)) == []


def test_turns_before_a_compression_are_past_taking_back():
    facts = (Asked("one"), Replied("1"), Asked("two"), Compressed((User("two"),), 9, 1), Replied("2"))
    assert told(*facts, Undone(9)) == [(0, "user", "one"), (1, "assistant", "1")]
    assert told(*facts) == [(0, "user", "one"), (1, "assistant", "1"), (2, "user", "two"), (4, "assistant", "2")]


def test_what_a_search_found_is_not_found_there_again():
    assert not findable(Passage("s", 3, 0.0, "tool", "Found: the quarterly report", "session_search"))
    assert findable(Passage("s", 3, 0.0, "tool", "the quarterly report", "python"))


def test_what_a_slow_loop_says_is_told_and_known_to_be_beside_to_its_end():
    for kind, beside in (("chat", False), ("subagent", False), ("nudge", True), ("review", True), ("curator", True)):
        telling = Telling("s")
        for n, fact in enumerate((Opened("s", kind=kind), Asked("a"), Undone(), Asked("b"), Replied("c"))):
            telling, _ = tell(telling, n, float(n), fact)
            assert telling.beside is beside
        assert passages("s", [(0, 0.0, Opened("s", kind=kind)), (1, 0.0, Asked("a"))])[0].text == "a"
