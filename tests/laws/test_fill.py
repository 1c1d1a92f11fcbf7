"""How full the window is, and what follows from it: when a summary is begun, when it is waited for, when it is not tried."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.budget import Limits
from hermes_kernel.core.commands import CallModel, Compress
from hermes_kernel.core.compression import summary_message
from hermes_kernel.core.events import (
    Asked,
    Compressed,
    Compressing,
    Continued,
    Event,
    Failed,
    FellBack,
    Final,
    Opened,
    Outcome,
    Replied,
    Spent,
    Undone,
    WindowFound,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.fill import REST, Fill
from hermes_kernel.core.messages import Assistant, Message, Observation, ToolCall, Transcript, Usage, User
from hermes_kernel.core.turn import Turn, continued_in, decide, evolve, recall

LIMITS = Limits(compress_at=0.5, compress_hard_at=0.85)
texts = st.text(max_size=200)
messages = st.one_of(
    st.builds(User, texts),
    st.builds(Assistant, texts, st.just((ToolCall("c", "read", '{"a": 1}'),))),
    st.builds(Observation, st.just("c"), st.just("read"), texts),
)


def words(tokens: int) -> str:
    """English of about so many tokens."""
    return "word " * tokens


def asked(*said: Event, window: int = 1000, limits: Limits = LIMITS, prompt: str = "q") -> Turn:
    return recall((Opened("s"), Asked(prompt, window=window), *said), Turn(limits))


def long(tokens: int, window: int = 1000) -> Turn:
    """A turn in which a call would be of about `tokens`."""
    return asked(prompt=words(tokens), window=window)


@given(st.lists(messages, max_size=8), st.lists(messages, max_size=8))
def test_counting_message_by_message_is_counting_all(before: list[Message], after: list[Message]) -> None:
    assert Fill().added(*before).added(*after).counts == Fill().of((*before, *after)).counts


@given(messages, messages)
def test_a_message_that_is_replaced_weighs_what_the_new_one_weighs(old: Message, new: Message) -> None:
    assert Fill().added(old).replaced(old, new).counts == Fill().of((new,)).counts


def test_a_summary_is_begun_at_half_the_window_and_waited_for_only_near_its_end() -> None:
    tokens = {full: long(int(full * 1000)).fill.tokens for full in (0.2, 0.6, 1.2)}
    assert tokens[0.2] < 500 < tokens[0.6] < 850 < tokens[1.2]
    assert isinstance(decide(long(200)), CallModel)
    begun = decide(long(600))
    assert isinstance(begun, Compress)
    assert (begun.ahead, begun.window, begun.focus) == (True, 1000, None)
    waited = decide(long(1200))
    assert isinstance(waited, Compress)
    assert (waited.ahead, waited.attempt) == (False, 1)


def test_what_is_begun_is_not_begun_again_and_the_model_is_asked_meanwhile() -> None:
    turn = evolve(long(600), Compressing(600))
    assert isinstance(decide(turn), CallModel)
    assert isinstance(decide(recall((Replied("a"), Final(Outcome.COMPLETED, "a"), Asked("and?")), turn)), CallModel)


def test_what_came_to_nothing_is_begun_again_when_another_quarter_of_the_window_is_used() -> None:
    soon = recall((Compressing(600), Replied(words(150)), Final(Outcome.COMPLETED, ""), Asked("and?")), long(500))
    assert isinstance(decide(soon), CallModel)
    turn = recall((Compressing(600), Replied(words(245)), Final(Outcome.COMPLETED, ""), Asked("and?")), long(500))
    command = decide(turn)
    assert isinstance(command, Compress)
    assert command.ahead


def test_with_a_window_that_is_not_known_nothing_is_compressed_ahead() -> None:
    assert isinstance(decide(long(100_000, window=0)), CallModel)


def test_room_for_a_long_reply_counts_as_taken() -> None:
    turn = asked(prompt=words(600), limits=replace(LIMITS, max_tokens=400))
    command = decide(turn)
    assert isinstance(command, Compress)
    assert not command.ahead


def shorter(turn: Turn, *kept: Message, before: int = 900, after: int = 100) -> Turn:
    return evolve(turn, Compressed((*kept, *turn.transcript[-1:]), before, after, "summary", Usage(1, 50, 5)))


def test_after_a_compression_a_quarter_of_the_window_is_used_before_the_next() -> None:
    full = evolve(asked(prompt="q"), Replied(words(900)))
    turn = replace(shorter(full, User(words(300))), transcript=(User("q"),))
    rested = turn.fill.rested
    assert turn.fill.compressed
    grown = turn.fill.added(Assistant(words(1)))
    while not grown.filling(LIMITS):
        grown = grown.added(Assistant(words(10)))
    assert grown.tokens >= rested + REST * 1000


def test_what_was_said_while_a_summary_was_made_is_not_what_it_left() -> None:
    begun = evolve(long(600), Compressing(600))
    kept = (User("so far"), *begun.transcript)
    at_once = evolve(begun, Compressed(kept, 900, 700)).fill
    meanwhile = evolve(begun, Replied(words(200)))
    late = evolve(meanwhile, Compressed((*kept, *meanwhile.transcript[-1:]), 900, 700)).fill
    assert late.tokens > at_once.tokens + 150
    assert late.rested == pytest.approx(at_once.rested, abs=2)


def test_compressions_that_gain_nothing_are_not_tried_for_ever() -> None:
    turn = long(1200)
    for _ in range(LIMITS.fruitless):
        assert isinstance(decide(turn), Compress)
        turn = evolve(turn, Compressed(turn.transcript, 1000, 950))
    assert isinstance(decide(turn), CallModel)
    assert evolve(turn, Compressed(turn.transcript, 1000, 500)).fill.fruitless == 0


@pytest.mark.parametrize(("window", "learnt"), [(700, 700), (0, None)])
def test_an_overflow_teaches_the_window_or_that_it_is_less_than_there_was(window: int, learnt: int | None) -> None:
    turn = long(900, window=0)
    after = evolve(turn, Failed(Fault.CONTEXT_OVERFLOW, "too long", 400, asked=950, window=window))
    assert after.fill.window == (learnt or after.fill.tokens)
    assert after.fill.tokens == pytest.approx(950, rel=0.1)


def test_an_overflow_below_the_window_that_was_believed_teaches_a_smaller_one() -> None:
    turn = long(400, window=1000)
    after = evolve(turn, Failed(Fault.CONTEXT_OVERFLOW, "too long", 400))
    assert after.fill.window == turn.fill.tokens < 1000


def test_a_hang_up_that_may_be_an_overflow_teaches_nothing() -> None:
    assert evolve(long(900, window=0), Failed(Fault.CONTEXT_OVERFLOW, "hung up")).fill.window == 0


TOO_LONG = Failed(Fault.CONTEXT_OVERFLOW, "too long", 400)
MORE = Replied("a", usage=Usage(1, 1000, 1), model="m")


@pytest.mark.parametrize("guess", [TOO_LONG, FellBack(1, Fault.BILLING)], ids=["an overflow's", "another model's"])
def test_a_model_that_read_more_than_a_window_that_was_guessed_has_another_one(guess: Event) -> None:
    turn = recall((guess, MORE), long(900, window=100))
    assert turn.fill.window == 0
    assert turn.fill.gauge.told == 1000
    assert evolve(turn, WindowFound(2000)).fill.window == 2000
    next_one = recall((Final(Outcome.COMPLETED, "a"), Asked("q")), turn)
    assert next_one.fill.window == 0


@pytest.mark.parametrize("known", [(), (TOO_LONG, WindowFound(100)), (replace(TOO_LONG, window=100),)])
def test_a_count_above_a_window_that_was_told_is_no_count(known: tuple[Event, ...]) -> None:
    before = recall(known, long(900, window=100))
    after = evolve(before, MORE)
    assert (after.fill.window, after.fill.model) == (100, "m")
    assert after.fill.gauge == before.fill.gauge


ENDED = (Replied("a"), Final(Outcome.COMPLETED, "a"))
MAIN = "m@http://main/v1"


@pytest.mark.parametrize("whom", ["", MAIN], ids=["handed over", "at an endpoint"])
def test_who_is_asked_again_reads_what_was_known_of_it_which_is_now_a_guess(whom: str) -> None:
    fill = recall((Opened("s"), Asked("q", window=1000, whom=whom), *ENDED, Asked("q", whom=whom))).fill
    assert (fill.window, fill.guessed) == (1000, True)


@pytest.mark.parametrize("other", ["m@http://other/v1", "n@http://main/v1"])
@pytest.mark.parametrize("between", [(), (FellBack(1, Fault.BILLING), WindowFound(2000))], ids=["at once", "fell back"])
def test_another_model_or_endpoint_is_not_taken_to_read_what_the_one_before_did(
    other: str, between: tuple[Event, ...]
) -> None:
    before = recall((Opened("s"), Asked("q", window=1000, whom=MAIN), *between, *ENDED))
    assert evolve(before, Asked("q", whom=other)).fill.window == 0
    assert evolve(before, Asked("q", whom=other, window=500)).fill.window == 500


def test_what_the_fallback_reads_is_not_what_the_main_one_does() -> None:
    fell = (FellBack(1, Fault.BILLING), WindowFound(2000))
    before = recall((Opened("s"), Asked("q", window=1000, whom=MAIN), *fell, *ENDED))
    assert before.fill.window == 2000
    assert evolve(before, Asked("q", whom=MAIN)).fill.window == 0


def test_soon_after_a_compression_that_left_too_much_no_model_is_asked_for_another() -> None:
    full = long(1200)
    first = decide(full)
    left = evolve(full, Compressed(full.transcript, 2000, 1200))
    again = decide(recall((Replied("a"), Final(Outcome.COMPLETED, "a"), Asked("and?")), left))
    assert isinstance(first, Compress)
    assert isinstance(again, Compress)
    assert (first.attempt, again.attempt) == (1, 2)


def test_usage_that_is_only_guessed_teaches_nothing() -> None:
    turn = evolve(long(900), Replied("a", usage=Usage(1, 5000, 1, estimated=True), model="m"))
    assert turn.fill.window == 1000
    assert turn.fill.gauges == ()


# --- between two turns


OVER = (Replied("a", usage=Usage(1, 10, 5)), Final(Outcome.COMPLETED, "a"))


def test_a_compression_between_two_turns_is_no_part_of_one_and_its_cost_is_of_what_was_before() -> None:
    turn = asked(*OVER)
    kept = (summary_message("so far", 3), *turn.transcript)
    after = recall((Compressed(kept, 900, 100, "summary", Usage(2, 30, 3)), Spent(Usage(1, 7, 1), "work")), turn)
    assert after.events == turn.events
    assert (after.usage, after.earlier) == (turn.usage, Usage(3, 37, 4))
    assert (after.outcome, after.transcript, after.starts) == (turn.outcome, kept, (1,))
    assert decide(after) is None


def test_within_a_turn_both_are_its_own() -> None:
    turn = asked(Spent(Usage(1, 7, 1), "work"))
    assert turn.usage.input_tokens == 7
    after = evolve(turn, Compressed(turn.transcript, 10, 10, usage=Usage(2, 30, 3)))
    assert (after.usage.input_tokens, len(after.events)) == (37, 3)


def test_the_next_session_knows_the_model_and_what_it_cost() -> None:
    old = asked(Replied("a", usage=Usage(1, 500, 5), model="m"), *OVER[1:], Compressing(100))
    old = evolve(old, Compressed(old.transcript, 900, 100))
    opened = Opened("t", "sys", parent="s", transcript=old.transcript, earlier=old.usage)
    new = continued_in(old, opened)
    assert (new.session_id, new.system, new.earlier, new.transcript) == ("t", "sys", old.usage, old.transcript)
    assert (new.fill.gauges, new.fill.window, new.fill.compressed) == (old.fill.gauges, 1000, False)
    assert evolve(old, Continued("t")) == old


def test_a_session_that_begins_with_a_summary_rests_first() -> None:
    summed: Transcript = (summary_message(words(400), 9), User("q"), Assistant("a"))
    turn = evolve(Turn(LIMITS), Opened("t", transcript=summed))
    assert turn.fill.rested == turn.fill.tokens
    assert turn.starts == (1,), "what stands for others is no turn"
    assert evolve(Turn(LIMITS), Opened("t", transcript=summed[1:])).fill.rested == 0


def test_after_an_undo_a_summary_may_be_begun_again() -> None:
    turn = recall((Compressing(600), *OVER, Undone(1)), long(600))
    assert turn.fill.compressing == 0
    assert turn.fill.tokens < 600
