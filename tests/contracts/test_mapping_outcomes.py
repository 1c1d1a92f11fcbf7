"""What is read from the facts of a row is what folding them into a turn says, wherever they are cut off."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.events import (
    Asked,
    Failed,
    Final,
    Interrupted,
    Kept,
    Leased,
    Opened,
    Outcome,
    Replied,
    Undone,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.turn import recall
from hermes_kernel.mapping.budget import MapBudget
from hermes_kernel.mapping.outcome import calls_of, row_of

usages = st.builds(Usage, calls=st.just(1), input_tokens=st.integers(0, 99), cost=st.integers(0, 4))
seconds = st.integers(0, 9).map(float)
middles = st.lists(
    st.one_of(
        st.builds(Replied, st.just("Words."), usage=usages, seconds=seconds),
        st.builds(Failed, st.just(Fault.TIMEOUT), usage=usages, seconds=seconds),
    ),
    max_size=4,
)
ends = st.one_of(
    st.just(()),
    st.builds(lambda outcome, text: (Final(outcome, text, "why"),), st.sampled_from(Outcome), st.just("The end.")),
    st.builds(lambda usage: (Interrupted("person", "", usage), Final(Outcome.INTERRUPTED, "")), usages),
)


@st.composite
def askings(draw: st.DrawFn) -> tuple[Kept, ...]:
    budget = draw(st.integers(1, 5))
    lease = (Leased("closing words", 1),) if budget > 1 else ()
    return (Asked("Row?", budget=budget), *lease, *draw(middles)[:budget], *draw(ends))


refusals = st.integers(1, 5).map(lambda budget: (Asked("Row?", budget=budget), Undone()))


@st.composite
def sessions(draw: st.DrawFn) -> list[Kept]:
    first, *again = draw(st.lists(askings() | refusals, min_size=1, max_size=3))
    facts = [Opened("r", kind="map"), *first]
    for asking in again:
        facts += [Undone(), *asking]
    return facts[: draw(st.integers(1, len(facts)))]


@given(sessions())
def test_a_row_is_what_its_turn_is(facts: list[Kept]) -> None:
    row, turn = row_of("k", "r", facts), recall(facts)
    assert row.usage == turn.earlier + turn.usage
    if turn.final:
        assert (row.outcome.value, row.text, row.reason) == (turn.outcome, turn.text, turn.reason)
        assert row.seconds == sum(f.seconds for f in turn.events if isinstance(f, (Replied, Failed)))
    else:
        assert row.outcome == ("unknown" if turn.asked else "not_asked")


@given(sessions())
def test_what_a_row_took_of_a_budget_is_never_less_than_what_came_back_nor_more_than_it_leased(
    facts: list[Kept],
) -> None:
    taken = calls_of(facts)
    assert taken >= sum(isinstance(fact, Replied) for fact in facts)
    assert taken <= sum(fact.budget for fact in facts if isinstance(fact, Asked))


@given(sessions())
def test_a_row_whose_end_is_not_known_has_spent_all_it_leased(facts: list[Kept]) -> None:
    if row_of("k", "r", facts).outcome in ("unknown", "interrupted"):
        at, last = [(at, fact) for at, fact in enumerate(facts) if isinstance(fact, Asked)][-1]
        assert calls_of(facts) == calls_of([*facts[:at], Asked("Row?")]) + last.budget


@given(sessions(), st.integers(1, 5))
def test_a_row_that_nobody_took_has_spent_what_it_had_before(facts: list[Kept], budget: int) -> None:
    refused = [*facts, Undone(), Asked("Row?", budget=budget), Undone()]
    assert row_of("k", "r", refused).outcome == "not_asked"
    assert calls_of(refused) == calls_of([*facts, Undone(), Asked("Row?")])


@given(
    st.integers(0, 40),
    st.integers(0, 60),
    st.integers(1, 20),
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 30))),
)
def test_the_budget_of_a_map_never_gives_out_more_than_there_is(
    limit: int, spent: int, each: int, rows: list[tuple[int, int]]
) -> None:
    budget, used = MapBudget(limit, spent, each), spent
    for n, (sharing, wanted) in enumerate(rows):
        if budget.empty:
            assert not budget.lent
            assert used >= limit
            break
        lease = budget.lease(str(n), sharing)
        assert 1 <= lease <= each
        taken = min(wanted, lease)
        budget.settle(str(n), taken)
        used += taken
    assert used <= max(limit, spent)
    assert budget.spent == used
