"""What holds for every turn, whatever the model, the tools, the network and the person do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.budget import Limits
from hermes_kernel.core.commands import RunTools, Tell, Wait
from hermes_kernel.core.events import Asked, Compressed, Observed, Replied, Retrying, Undone
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.turn import Turn, decide, evolve, recall
from tests.laws.worlds import Played, World, check_ended, check_whole, opened

seeds = st.integers(0, 2**32)
limits = st.builds(
    Limits,
    max_iterations=st.integers(1, 12),
    max_retries=st.integers(0, 3),
    routes=st.integers(1, 3),
    refunds=st.integers(0, 3),
    throttles=st.integers(0, 3),
)


def played(seed: int, limits: Limits, stop: float = 0.0, trouble: float = 0.3) -> Played:
    turn, log = opened(limits)
    return Played(turn, log, World(seed, trouble), stop).run()


@pytest.mark.no_cover
@settings(max_examples=1500, deadline=None)
@given(seeds, limits)
def test_every_turn_ends_whole_and_within_its_budget(seed: int, limits: Limits) -> None:
    run = played(seed, limits)
    check_ended(run)
    paid = sum(isinstance(event, Replied) for event in run.log)
    assert paid <= limits.max_iterations + run.turn.refunds + 1, "the grace call is the only one over the limit"


@settings(max_examples=700, deadline=None)
@given(seeds, limits)
def test_a_stop_anywhere_ends_the_turn_without_further_work(seed: int, limits: Limits) -> None:
    run = played(seed, limits, stop=0.1)
    check_ended(run)
    if run.turn.stopped:
        assert run.turn.outcome == "interrupted"
        assert isinstance(run.commands[-1], Tell), "worked on after the stop"


@settings(max_examples=700, deadline=None)
@given(seeds, limits, st.integers(0, 10_000))
def test_a_crash_anywhere_is_resumed_and_nothing_that_finished_runs_again(seed: int, limits: Limits, cut: int) -> None:
    log = played(seed, limits).log
    kept = log[: 2 + cut % (len(log) - 1)]
    finished = {event.call_id for event in kept if isinstance(event, Observed)}
    again = Played(recall(kept, Turn(limits)), list(kept), World(seed + 1)).run()
    check_ended(again)
    rerun = {call.id for command in again.commands if isinstance(command, RunTools) for call in command.calls}
    assert not rerun & finished
    assert again.turn == recall(again.log, Turn(limits)), "the log is the turn"


@settings(max_examples=500, deadline=None)
@given(seeds, limits)
def test_the_grace_call_has_no_tools_and_is_the_last_word(seed: int, limits: Limits) -> None:
    run = played(seed, limits, trouble=0.0)
    calls = run.made
    assert all(command.tools for command in calls[:-1]), "only the last call is without tools"
    if not calls[-1].tools:
        assert run.turn.outcome == "budget_exhausted"
        assert run.turn.text, "the answer says what was done"
        assert calls[-1].suffix


@settings(max_examples=500, deadline=None)
@given(seeds, limits)
def test_retries_of_one_call_are_bounded_and_waits_never_pass_the_cap(seed: int, limits: Limits) -> None:
    run = played(seed, limits, trouble=0.7)
    waits = [command for command in run.commands if isinstance(command, Wait)]
    assert all(wait.exact or wait.seconds <= limits.retry_max_seconds for wait in waits)
    assert all(wait.seconds <= limits.patience_seconds for wait in waits)
    in_a_row = compressed = 0
    for event in run.log:
        if isinstance(event, Replied):
            in_a_row = compressed = 0
        elif isinstance(event, Compressed) and event.how == "digest":  # a summary made beside the turn comes as it will
            compressed += 1
            assert compressed <= limits.compressions
        elif isinstance(event, Retrying) and event.fault is not Fault.PROACTIVE_RATE_LIMIT:
            in_a_row += 1
            assert in_a_row <= limits.max_retries * limits.routes


@settings(max_examples=300, deadline=None)
@given(seeds, limits, st.integers(1, 4))
def test_undo_takes_back_whole_turns_and_nothing_else(seed: int, limits: Limits, turns: int) -> None:
    run = played(seed, limits)
    before = run.turn.transcript
    for n in range(turns):
        asked = evolve(run.turn, Asked(f"question {n}"))
        run = Played(asked, run.log, World(seed + n + 1, trouble=0.1), stop=0.05).run()
        check_whole(run.turn.transcript)
        assert decide(run.turn) is None
    if not any(isinstance(event, Compressed) for event in run.log):
        assert evolve(run.turn, Undone(turns)).transcript == before
    check_whole(evolve(run.turn, Undone(1)).transcript)
    assert evolve(run.turn, Undone(99)).starts == ()
