"""A tree of leases never spends more than its limit, whatever subagents do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.budget import IterationBudget

steps = st.lists(
    st.tuples(st.sampled_from(["spend", "refund", "lease", "settle"]), st.sampled_from("abc"), st.integers(-2, 9)),
    max_size=40,
)


def taken(budget: IterationBudget, step: tuple[str, str, int]) -> IterationBudget:
    what, name, calls = step
    try:
        match what:
            case "spend":
                return budget.spend(calls)
            case "lease":
                return budget.lease(name, calls)
            case "settle":
                return budget.settle(name, calls)
            case _:
                return budget.refund(max(calls, 0))
    except ValueError:
        return budget


@given(st.integers(0, 20), steps)
def test_spent_and_leased_together_never_pass_the_limit(limit: int, steps: list[tuple[str, str, int]]) -> None:
    budget = IterationBudget(limit)
    for step in steps:
        budget = taken(budget, step)
        assert budget.spent >= 0
        assert budget.leased >= 0
        assert 0 <= budget.remaining == limit - budget.spent - budget.leased


@given(st.integers(1, 20), st.integers(0, 40))
def test_what_a_subagent_did_not_use_comes_back(leased: int, used: int) -> None:
    budget = IterationBudget(20).lease("child", leased).settle("child", used)
    assert budget.remaining == 20 - min(leased, used)


def test_a_child_leases_from_a_child() -> None:
    parent = IterationBudget(10).lease("child", 6)
    child = IterationBudget(6).lease("grandchild", 4).settle("grandchild", 1).spend(2)
    assert parent.settle("child", child.spent).remaining == 7


def test_too_much_is_refused_by_number() -> None:
    with pytest.raises(ValueError, match="5 of 3 remaining"):
        IterationBudget(3).spend(5)
    with pytest.raises(ValueError, match="already out"):
        IterationBudget(3).lease("a", 1).lease("a", 1)
    assert IterationBudget(3).settle("nobody", 5) == IterationBudget(3)
