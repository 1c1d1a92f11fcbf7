"""Every branch of the turn diagram by example: what has happened, and what is decided."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

import pytest

from hermes_kernel.core import prompts
from hermes_kernel.core.budget import Limits
from hermes_kernel.core.commands import CallModel, Command, Compress, RunTools, Tell, Wait
from hermes_kernel.core.compression import Keep, reduced
from hermes_kernel.core.events import (
    Accepted,
    Approved,
    Asked,
    Compressed,
    Event,
    Failed,
    FellBack,
    Final,
    Interrupted,
    Leased,
    Noticed,
    Observed,
    Opened,
    Outcome,
    Refunded,
    Repaired,
    Replied,
    Retrying,
    Returned,
    Started,
    TextDelta,
    Titled,
    Undone,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import Assistant, Observation, ToolCall, Usage, User
from hermes_kernel.core.record import grown
from hermes_kernel.core.turn import Turn, closing, decide, evolve, play, recall, said

PROBE = ToolCall("1", "probe", "{}")
PYTHON = ToolCall("2", "python", "{}")
BEGUN = (Opened("s", "system"), Asked("q"))


def after(*events: Event, limits: Limits | None = None, begun: tuple[Event, ...] = BEGUN) -> Turn:
    return recall((*begun, *events), Turn(limits or Limits()))


def told(turn: Turn) -> tuple[object, ...]:
    command = decide(turn)
    assert isinstance(command, Tell)
    return command.events


def called(turn: Turn) -> CallModel:
    command = decide(turn)
    assert isinstance(command, CallModel)
    return command


def ended(turn: Turn) -> Final:
    final = told(turn)[-1]
    assert isinstance(final, Final)
    return final


def test_a_prompt_is_answered_by_calling_the_model_with_the_whole_conversation() -> None:
    assert called(after()) == CallModel((User("q"),), "system")


def test_a_text_reply_completes_the_turn() -> None:
    turn = after(Replied("hello"))
    assert told(turn) == (Final(Outcome.COMPLETED, "hello"),)
    turn = evolve(turn, ended(turn))
    assert decide(turn) is None
    assert (turn.text, turn.outcome, turn.reason) == ("hello", "completed", "")
    assert turn.messages == (User("q"), Assistant("hello"))
    assert turn._repr_markdown_() == "hello"
    assert repr(turn) == "<Turn completed: 'hello'>"


def test_a_turn_shows_html_of_the_models_as_text() -> None:
    turn = after(Replied("<script>alert(1)</script>\x1b[2J"))
    turn = evolve(turn, ended(turn))
    assert "<script>" not in turn._repr_markdown_()
    assert "\x1b" not in repr(turn)


def test_tool_calls_run_and_then_the_model_is_called_again() -> None:
    turn = after(Replied("looking", (PROBE, PYTHON)))
    assert decide(turn) == RunTools((PROBE, PYTHON))
    turn = recall((Started("2"), Observed("2", "two"), Started("1"), Observed("1", "one")), turn)
    assert turn.transcript[2:] == (Observation("1", "probe", "one"), Observation("2", "python", "two"))
    assert turn.tool_calls == (PROBE, PYTHON)
    assert called(turn).tools


@pytest.mark.parametrize("finish", [Finish.STOP, Finish.OTHER, Finish.LENGTH, Finish.TOOL_CALLS])
def test_whole_calls_run_whatever_the_finish_reason_says(finish: Finish) -> None:
    assert decide(after(Replied("", (PROBE,), finish))) == RunTools((PROBE,))


def test_a_result_nobody_asked_for_changes_nothing() -> None:
    turn = after(Replied("", (PROBE,)))
    assert evolve(turn, Observed("9", "?")).transcript == turn.transcript


def test_a_cut_answer_is_continued_and_joined_without_a_seam() -> None:
    turn = after(Replied("The quick bro", finish=Finish.LENGTH))
    assert called(turn).suffix == User(prompts.CONTINUE)
    turn = evolve(turn, Replied("wn fox"))
    assert ended(turn).text == "The quick brown fox"
    assert turn.messages == (User("q"), Assistant("The quick brown fox"))


def test_an_answer_is_continued_three_times_in_a_row_at_most() -> None:
    turn = after(*(Replied(part, finish=Finish.LENGTH) for part in "abc"))
    assert called(turn).suffix
    turn = evolve(turn, Replied("d", finish=Finish.LENGTH))
    assert ended(turn) == Final(Outcome.COMPLETED, "abcd", prompts.CUT_SHORT)


def test_tool_calls_between_continuations_start_the_count_anew() -> None:
    parts = [Replied(part, finish=Finish.LENGTH) for part in "abc"]
    turn = after(*parts, Replied("d", (PROBE,)), Observed("1", "ok"), *parts)
    assert called(turn).suffix
    assert turn.transcript[1] == Assistant("abcd", (PROBE,))


def test_a_call_that_stays_cut_starts_the_count_anew_as_one_that_is_whole() -> None:
    parts = [Replied(part, finish=Finish.LENGTH) for part in "abc"]
    cut = Replied("", (replace(PROBE, flaw="cut off"),), Finish.TOOL_CALLS, cut=True)
    turn = after(*parts, cut, Accepted(), Observed("1", "not run", ok=False), *parts)
    assert called(turn).suffix
    assert ended(evolve(turn, Replied("d", finish=Finish.LENGTH))).reason == prompts.CUT_SHORT


def test_an_empty_continuation_is_an_ending() -> None:
    turn = after(Replied("whole after all", finish=Finish.LENGTH), Replied(""))
    assert ended(turn).text == "whole after all"


def test_a_cut_call_is_asked_for_again_with_more_room_and_never_run() -> None:
    cut = Replied("writing", (replace(PROBE, flaw="cut off"),), Finish.LENGTH, cut=True, usage=Usage(1, 0, 4000))
    turn = after(cut)
    assert called(turn).max_tokens == 8000
    assert called(turn).shown == "writing"
    assert turn.messages == (User("q"),)
    for _ in range(3):
        turn = evolve(turn, cut)
        assert isinstance(decide(turn), CallModel)
    turn = evolve(turn, replace(cut, usage=Usage(1, 0, 32_768)))
    assert told(turn) == (Accepted(),)
    turn = evolve(turn, Accepted())
    assert decide(turn) == RunTools(cut.calls)


def test_a_cut_that_no_length_admits_is_retried_once_only() -> None:
    cut = Replied("", (replace(PROBE, flaw="cut off"),), Finish.TOOL_CALLS, cut=True)
    turn = after(cut)
    assert isinstance(decide(turn), CallModel)
    assert told(evolve(turn, cut)) == (Accepted(),)


def test_accepting_without_a_reply_changes_nothing() -> None:
    assert evolve(after(), Accepted()).transcript == (User("q"),)


def test_the_output_limit_grows_and_never_shrinks() -> None:
    assert grown(0, 0, 32_768) == 4096
    assert grown(40_000, 10, 32_768) == 40_000
    assert grown(4096, 4096, 32_768) == 8192
    assert after(limits=Limits(max_tokens=100)).room == 100


def test_an_exhausted_budget_gets_one_call_without_tools_and_says_what_was_done() -> None:
    turn = after(Replied("", (PROBE,)), Observed("1", "ok"), limits=Limits(max_iterations=1))
    grace = called(turn)
    assert not grace.tools
    assert grace.suffix == User(prompts.grace(1))
    assert ended(evolve(turn, Replied("I probed."))) == Final(Outcome.BUDGET_EXHAUSTED, "I probed.")
    stubborn = evolve(turn, Replied("", (PROBE,)))
    assert "`probe` × 1" in ended(stubborn).text
    assert evolve(stubborn, ended(stubborn)).messages[-1] == Assistant(ended(stubborn).text)


def test_a_grace_call_that_fails_for_good_still_says_what_was_done() -> None:
    turn = after(Replied("", (PROBE,)), Observed("1", "ok"), Failed(Fault.AUTH, "no"), limits=Limits(max_iterations=1))
    assert ended(turn).outcome == "budget_exhausted"


def test_a_prompt_may_bring_a_budget_of_its_own() -> None:
    turn = after(begun=(Opened("s"), Asked("q", budget=1)))
    assert evolve(turn, Replied("", (PROBE,))).exhausted
    assert evolve(evolve(turn, Replied("x")), Asked("r")).budget.limit == 90


def test_an_answer_cut_when_the_budget_is_gone_is_kept() -> None:
    turn = after(Replied("half", finish=Finish.LENGTH), limits=Limits(max_iterations=1))
    assert ended(turn) == Final(Outcome.BUDGET_EXHAUSTED, "half", prompts.CUT_SHORT)


def test_empty_replies_are_asked_again_then_elsewhere_then_said() -> None:
    turn = after(Replied(""), limits=Limits(routes=2))
    assert called(turn).suffix == User(prompts.EMPTY)
    turn = recall((Replied(""), Replied("")), turn)
    assert told(turn) == (FellBack(1, Fault.INVALID_RESPONSE),)
    turn = recall((*told(turn), Replied(""), Replied(""), Replied("")), turn)  # type: ignore[arg-type]
    assert ended(turn).outcome == "empty"
    assert "3 empty replies" in ended(turn).reason


def test_a_filtered_reply_is_asked_elsewhere_and_else_refused() -> None:
    filtered = Replied("", finish=Finish.CONTENT_FILTER)
    assert told(after(filtered, limits=Limits(routes=2))) == (FellBack(1, Fault.CONTENT_FILTER),)
    assert ended(after(filtered)).outcome == "refused"


def test_python_only_iterations_are_given_back_to_both_gates() -> None:
    turn = after(Replied("", (PYTHON,)), Observed("2", "ok"), limits=Limits(max_iterations=1, refunds=1))
    assert told(turn) == (Refunded(),)
    turn = evolve(turn, Refunded())
    assert (turn.calls, turn.budget.spent) == (0, 0)
    assert called(turn).tools
    turn = recall((Replied("", (PYTHON,)), Observed("2", "ok")), turn)
    assert not called(turn).tools


WAITS = [
    (Fault.RATE_LIMIT, None, [5.0, 10.0, 20.0]),
    (Fault.SERVER_ERROR, None, [5.0, 10.0, 20.0]),
    (Fault.STALE_STREAM, None, [0.0, 5.0, 10.0]),
    (Fault.DISCONNECT, None, [0.0, 5.0, 10.0]),
    (Fault.OVERLOADED, 7.0, [7.0, 7.0, 7.0]),
]


@pytest.mark.parametrize(("fault", "hint", "seconds"), WAITS)
def test_passing_faults_are_waited_out_three_times(fault: Fault, hint: float | None, seconds: list[float]) -> None:
    turn, waits = after(), []
    while isinstance(command := decide(evolve(turn, Failed(fault, "no", wait=hint))), Wait):
        waits.append(command.seconds)
        assert command.exact == (hint is not None)
        turn = recall((Failed(fault, "no", wait=hint), Retrying(command.attempt, 3, command.seconds, fault)), turn)
        assert isinstance(decide(turn), CallModel)
    assert waits == seconds
    end = ended(evolve(turn, Failed(fault, "no", model="m", endpoint="http://there/v1")))
    assert (end.outcome, end.text) == ("failed", "")
    assert end.reason == f"No (m at there). {prompts.ADVICE[fault]}"


def test_who_is_not_waited_for_says_when_to_come_back() -> None:
    end = ended(evolve(after(), Failed(Fault.BILLING, "Rate limit reached", wait=3 * 3600 + 600)))
    assert end.outcome == "failed"
    assert end.reason.startswith("Rate limit reached. Come back in 3 h 10 min, as it says, or choose another model")


def test_a_reply_makes_the_retries_whole_again() -> None:
    turn = after(
        Failed(Fault.SERVER_ERROR), Retrying(1, 3, 5, Fault.SERVER_ERROR), Replied("", (PROBE,)), Observed("1", "x")
    )
    assert turn.tries.waits == 0


def test_waits_never_pass_the_cap() -> None:
    command = decide(after(Failed(Fault.SERVER_ERROR), limits=Limits(retry_base_seconds=500)))
    assert isinstance(command, Wait)
    assert command.seconds == 120


def test_a_limit_known_in_advance_is_waited_for_and_is_no_retry() -> None:
    turn = after(Failed(Fault.PROACTIVE_RATE_LIMIT, wait=3.0), limits=Limits(max_retries=0))
    assert isinstance(decide(turn), Wait)
    assert evolve(turn, Retrying(1, 0, 3.0, Fault.PROACTIVE_RATE_LIMIT)).tries.waits == 0


def test_a_server_that_asks_for_hours_is_not_waited_for() -> None:
    long = Failed(Fault.RATE_LIMIT, "come back at noon", wait=7200)
    assert ended(after(long)).reason.startswith("Come back at noon. ")
    assert told(after(long, limits=Limits(routes=2))) == (FellBack(1, Fault.RATE_LIMIT),)


def test_an_invalid_response_goes_to_the_fallback_before_any_wait() -> None:
    turn = after(Failed(Fault.INVALID_RESPONSE), limits=Limits(routes=2))
    assert told(turn) == (FellBack(1, Fault.INVALID_RESPONSE),)
    turn = evolve(turn, FellBack(1, Fault.INVALID_RESPONSE))
    assert called(turn).route == 1
    assert isinstance(decide(evolve(turn, Failed(Fault.INVALID_RESPONSE))), Wait)


def test_an_overflow_is_compressed_three_times_at_most() -> None:
    turn, overflow = after(), Failed(Fault.CONTEXT_OVERFLOW, "too long")
    for attempt in (1, 2, 3):
        assert decide(evolve(turn, overflow)) == Compress(turn.transcript, attempt, turn.fill.tokens)
        turn = recall((overflow, Compressed((User("q"),), 9, 1)), turn)
        assert isinstance(decide(turn), CallModel)
    assert ended(evolve(turn, overflow)).outcome == "failed"


def test_unicode_is_repaired_twice_at_most() -> None:
    turn = after()
    for level in (1, 2):
        turn = evolve(turn, Failed(Fault.UNICODE))
        assert told(turn) == (Repaired(level),)
        turn = evolve(turn, Repaired(level))
        assert called(turn).caution == level
    assert ended(evolve(turn, Failed(Fault.UNICODE))).outcome == "failed"


def test_text_seen_before_a_failure_is_passed_on_so_that_it_is_not_shown_twice() -> None:
    turn = after(Failed(Fault.STALE_STREAM, partial="half a"), Retrying(1, 3, 0, Fault.STALE_STREAM))
    assert called(turn).shown == "half a"
    assert said(turn) == "half a"


def test_text_seen_before_the_end_of_a_failed_turn_is_kept() -> None:
    turn = after(Failed(Fault.AUTH, "no", partial="half"))
    turn = evolve(turn, ended(turn))
    assert turn.text == "half"
    assert turn.messages[-1] == Assistant("half")


def test_a_stop_closes_every_open_call_and_keeps_what_was_seen() -> None:
    turn = after(Replied("", (PROBE, PYTHON)), Started("1"), Interrupted())
    lost, unrun, final = told(turn)
    assert lost == Observed("1", prompts.STOPPED, ok=False)
    assert unrun == Observed("2", prompts.NOT_RUN, ok=False)
    assert final == Final(Outcome.INTERRUPTED, "")
    assert ended(after(Interrupted(partial="so far"))).text == "so far"
    assert ended(after(Failed(Fault.SERVER_ERROR, partial="seen"), Interrupted())).text == "seen"


def test_a_turn_out_of_time_says_what_was_done() -> None:
    turn = after(Interrupted("time"))
    assert ended(turn).outcome == "budget_exhausted"
    assert "time limit" in ended(turn).text


def test_after_a_crash_a_call_that_had_started_is_not_run_again() -> None:
    turn = after(Replied("", (PROBE, PYTHON)), Started("1"))
    assert told(turn) == (Observed("1", prompts.LOST, ok=False),)
    assert decide(evolve(turn, Observed("1", prompts.LOST, ok=False))) == RunTools((PYTHON,))


def test_after_a_crash_a_repeatable_call_is_run_again() -> None:
    assert decide(after(Replied("", (PROBE,)), Started("1", repeatable=True))) == RunTools((PROBE,))


def test_a_new_prompt_closes_what_an_old_log_left_open() -> None:
    turn = after(Replied("", (PROBE,)), Asked("next"))
    assert turn.transcript[2] == Observation("1", "probe", prompts.LOST, ok=False)
    assert turn.messages == (User("next"),)


def test_leases_are_part_of_the_turn() -> None:
    turn = after(Leased("child", 60))
    assert turn.budget.remaining == 30
    assert evolve(turn, Returned("child", 10)).budget.remaining == 80


def test_usage_counts_every_call_failed_ones_too() -> None:
    turn = after(Failed(Fault.DISCONNECT, usage=Usage(1, 5, 5)), Replied("x", usage=Usage(1, 10, 1)))
    assert turn.usage == Usage(2, 15, 6)
    assert evolve(turn, Asked("r")).earlier == Usage(2, 15, 6)
    assert evolve(turn, Undone()).earlier == Usage(2, 15, 6)


def test_titles_notices_and_approvals_change_nothing_that_is_said() -> None:
    turn = after()
    for event in (Titled("t"), Noticed("n"), TextDelta("x"), Approved("1", allowed=True, by="person")):
        assert evolve(turn, event).transcript == turn.transcript


def test_a_branch_starts_from_a_conversation_and_its_last_prompt_can_be_undone() -> None:
    turn = evolve(Turn(), Opened("s", transcript=(User("q"), Assistant("a"))))
    assert evolve(turn, Undone()).transcript == ()


def test_the_note_on_what_was_left_out_is_never_taken_for_the_prompt() -> None:
    turn = after()
    for n in range(40):
        turn = recall((Replied("", (ToolCall(f"{n}", "probe", "{}"),)), Observed(f"{n}", "x" * 3000)), turn)
    smaller = reduced(turn.transcript, 2, Keep(tokens=400))
    turn = evolve(turn, Compressed(smaller, 9, 8))
    assert turn.messages == smaller
    assert turn.messages[0] == User("q")
    assert evolve(turn, Undone()).transcript == ()


def test_what_closes_a_turn_ends_it_whole_and_nothing_closes_one_that_is_over() -> None:
    turn = after(Replied("on it", (PROBE, PYTHON)), Started("1"))
    ending = closing(turn, "kernel")
    assert [type(event) for event in ending] == [Interrupted, Observed, Observed, Final]
    over = recall(ending, turn)
    assert (over.outcome, over.open) == ("interrupted", ())
    assert closing(over, "kernel") == ()


def test_what_closes_a_turn_takes_back_what_subagents_were_lent_as_used() -> None:
    turn = after(Replied("on it", (PROBE,)), Started("1"), Leased("a", 5, "count", "1"), Leased("b", 3, "count", "1"))
    over = recall(closing(turn, "person"), turn)
    assert over.budget.leases == ()
    assert over.budget.spent == turn.budget.spent + 8
    assert isinstance(over.events[-1], Final)


@pytest.mark.parametrize(
    "log",
    [
        (),
        (Opened("s"),),
        (Opened("s", transcript=(User("q"), Assistant("a"))),),
        (Opened("s", transcript=(User("q"), Assistant("a"))), Compressed((User("q"), Assistant("a")), 9, 8)),
        (*BEGUN, Replied("a"), Final(Outcome.COMPLETED, "a"), Asked("r"), Undone()),
    ],
    ids=["nothing", "opened", "branched", "branched and compressed", "undone"],
)
def test_where_nothing_is_asked_nothing_is_done(log: tuple[Event, ...]) -> None:
    turn = recall(log)
    assert decide(turn) is None
    assert turn.outcome is None


def test_a_new_turn_has_nothing_in_it() -> None:
    turn = Turn()
    assert (turn.text, turn.messages, turn.tool_calls, turn.outcome, turn.reason) == ("", (), (), None, "")


def commands(*events: Event) -> list[Command | None]:
    return [decide(after(*events[:n])) for n in range(len(events) + 1)]


def test_deciding_twice_is_deciding_once() -> None:
    story = (Replied("", (PROBE,)), Started("1"), Observed("1", "ok"), Replied("done"))
    assert commands(*story) == commands(*story)


class Tellers:
    """A world of scripted replies that runs no tools."""

    def __init__(self, *replies: Event) -> None:
        self.replies = list(replies)
        self.closed = 0

    async def perform(self, command: Command) -> AsyncGenerator[Event, None]:
        try:
            match command:
                case CallModel():
                    yield TextDelta("…")
                    yield self.replies.pop(0)
                case Tell(events):
                    for event in events:
                        yield event
        finally:
            self.closed += 1


async def test_play_does_what_is_decided_until_nothing_is_left() -> None:
    world = Tellers(Replied("a", finish=Finish.LENGTH), Replied("b"))
    events = [event async for event in play(after(), world)]
    assert events[-1] == Final(Outcome.COMPLETED, "ab")
    assert recall((e for e in events), after()).outcome == "completed"
    assert world.closed == 3


async def test_leaving_a_turn_early_closes_what_was_being_done() -> None:
    world = Tellers(Replied("a"))
    async with aclosing(play(after(), world)) as events:
        async for _ in events:
            break
    assert world.closed == 1


def test_the_models_own_words_are_never_the_last_thing_it_is_asked_with() -> None:
    filtered = Replied("I was say", finish=Finish.CONTENT_FILTER)
    turn = after(filtered, FellBack(1, Fault.CONTENT_FILTER), limits=Limits(routes=2))
    assert called(turn).suffix == User(prompts.CONTINUE)
    assert ended(evolve(turn, Replied("ing."))).text == "I was saying."


def test_blanks_are_no_answer_and_what_was_seen_of_them_is_taken_back() -> None:
    turn = after(Replied(" \n"))
    assert called(turn).shown == " \n"
    assert called(turn).suffix == User(prompts.EMPTY)
    assert ended(evolve(turn, Replied("words"))).text == "words"


def test_every_call_may_be_compressed_for_anew() -> None:
    overflow, smaller = Failed(Fault.CONTEXT_OVERFLOW), Compressed((User("q"),), 9, 1)
    turn = after(overflow, smaller, overflow, smaller, Replied("", (PROBE,)), Observed("1", "x"), overflow)
    assert decide(turn) == Compress(turn.transcript, 1, turn.fill.tokens)


def failing(number: int, arguments: str = "{}", *, ok: bool = False) -> tuple[Event, ...]:
    return (Replied("", (ToolCall(str(number), "probe", arguments),)), Observed(str(number), "no", ok=ok))


def test_a_model_that_repeats_one_failing_call_is_stopped() -> None:
    turn = after(*(event for n in range(6) for event in failing(n)))
    assert isinstance(decide(turn), CallModel)
    end = ended(recall(failing(6), turn))
    assert (end.outcome, end.reason) == ("failed", prompts.stuck("probe"))


def test_calls_that_differ_or_succeed_are_not_taken_for_stubbornness() -> None:
    assert isinstance(decide(after(*(event for n in range(9) for event in failing(n, f'{{"n": {n}}}')))), CallModel)
    assert isinstance(decide(after(*(event for n in range(9) for event in failing(n, ok=True)))), CallModel)
    pairs = (Replied("", (PROBE, PYTHON)), Observed("1", "no", ok=False), Observed("2", "no", ok=False))
    assert isinstance(decide(after(*(pairs * 6))), CallModel)


def test_an_outcome_is_read_as_the_text_it_is_compared_with():
    assert {repr(outcome) for outcome in Outcome} == {repr(str(outcome)) for outcome in Outcome}
