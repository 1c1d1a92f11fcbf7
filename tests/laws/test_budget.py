"""A tree of leases never spends more than its limit, whatever subagents do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.budget import LEAST, IterationBudget, share

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


# --- a tree of agents --------------------------------------------------------------------------------------------------


class Node:
    """An agent of a tree: what it may spend, what it really spent, who works for it. Only it acts on its own budget."""

    def __init__(self, limit: int) -> None:
        self.budget = IterationBudget(limit)
        self.really = 0
        self.children: dict[str, Node] = {}
        self.serial = 0

    def total(self) -> int:
        return self.really + sum(child.total() for child in self.children.values())

    def alive(self) -> list[Node]:
        leased = dict(self.budget.leases)
        return [self, *(node for name, child in self.children.items() if name in leased for node in child.alive())]

    def call(self) -> None:
        if self.budget.remaining:
            self.budget = self.budget.spend()
            self.really += 1

    def lend(self, asked: list[int | None], beside: int) -> None:
        calls = share(self.budget.remaining, asked, beside)
        if calls:
            self.serial += 1
            self.budget = self.budget.lease(f"child {self.serial}", calls)
            self.children[f"child {self.serial}"] = Node(calls)

    def settle(self, at: int, crashed: bool) -> None:
        """A child ends: it says what it used, what is out below it counted as used; or its whole process is gone."""
        leased = [name for name, _ in self.budget.leases]
        if leased:
            name = leased[at % len(leased)]
            child = self.children[name].budget
            if not crashed:
                self.budget = self.budget.settle(name, child.spent + child.leased)


acts = st.lists(
    st.tuples(
        st.sampled_from(["call", "lend", "settle", "crash"]),
        st.integers(0, 50),
        st.lists(st.none() | st.integers(LEAST, 40), min_size=1, max_size=6),
        st.integers(0, 1),
    ),
    max_size=60,
)


@given(st.integers(1, 40), acts)
def test_a_tree_never_makes_more_calls_than_its_root_may_whatever_its_members_do(limit: int, acts: list) -> None:
    root = Node(limit)
    for act, at, asked, beside in acts:
        alive = root.alive()
        node = alive[at % len(alive)]
        match act:
            case "call":
                node.call()
            case "lend":
                node.lend(asked, beside)
            case _:
                node.settle(at, act == "crash")
        assert root.total() <= limit
        assert all(0 <= each.budget.remaining <= each.budget.limit for each in root.alive())


waiting = st.lists(st.none() | st.integers(LEAST, 60), min_size=1, max_size=12)


@given(st.integers(-3, 100), waiting, st.integers(0, 1))
def test_a_share_can_be_had_and_leaves_the_parent_its_last_call(
    remaining: int, asked: list[int | None], beside: int
) -> None:
    calls = share(remaining, asked, beside)
    assert calls == 0 or LEAST <= calls <= remaining - beside
    assert asked[0] is None or calls <= asked[0]
    assert (calls == 0) == (remaining - beside < LEAST)


@given(st.integers(0, 100), waiting, st.integers(0, 1))
def test_all_have_what_they_asked_for_where_it_is_there(remaining: int, asked: list[int | None], beside: int) -> None:
    least = sum(LEAST if calls is None else calls for calls in asked)
    left, had = remaining, []
    for at in range(len(asked)):
        had.append(share(left, asked[at:], beside))
        left -= had[-1]
    if least <= remaining - beside:
        assert all(calls is None or calls == got for calls, got in zip(asked, had, strict=True))
        assert all(got >= LEAST for got in had)
    assert left >= min(remaining, beside)


@pytest.mark.parametrize(
    ("remaining", "asked", "had"),
    [
        (29, [None], [14]),
        (29, [20], [20]),
        (29, [20, 20, 20, 20, 20], [4, 5, 5, 5, 5]),
        (29, [3, None, None], [3, 8, 9]),
        (10, [None] * 8, [2, 2, 2, 2, 0, 0, 0, 0]),
        (3, [None], [2]),
        (2, [None], [0]),
    ],
)
def test_shares_by_example(remaining: int, asked: list[int | None], had: list[int]) -> None:
    got = []
    for at in range(len(asked)):
        got.append(share(remaining, asked[at:]))
        remaining -= got[-1]
    assert got == had
