"""What a cell shows of subagents and of a window that fills, as laws: the budget adds up, words stay with their speaker."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.events import (
    Asked,
    Asking,
    Calling,
    Compressed,
    Compressing,
    Final,
    Leased,
    Noticed,
    Observed,
    Outcome,
    Replied,
    Returned,
    Spent,
    Started,
    Subagent,
    TextDelta,
    ThoughtDelta,
    WindowFound,
    is_kept,
)
from hermes_kernel.core.messages import ToolCall, Usage
from hermes_kernel.core.turn import recall
from hermes_kernel.view import Picture, cost_line, heading_html, heading_plain, see, status_line, still
from tests.laws.test_view import HOSTILE, OURS, tags

DELEGATE = ToolCall("d", "delegate", '{"tasks": ["count the ducks", "count the geese"]}')
FAR = ToolCall("x", "python", '{"code": "1"}')


def seen(events, limit=12):
    return reduce(see, events, Picture(limit))


@st.composite
def families(draw):
    """A turn that delegates to some subagents, whose events come in any order; some of them never come back."""
    names = [f"s{n}" for n in range(draw(st.integers(1, 5)))]
    told = [Asked("count", budget=30), Replied("", (DELEGATE,), usage=Usage(1, 9, 3)), Started("d")]
    told += [Leased(name, draw(st.integers(1, 5)), f"task {name}", "d") for name in names]
    granted = {event.lease: event.calls for event in told if isinstance(event, Leased)}
    spoken = {name: _spoken(name, granted[name], draw) for name in names}
    while any(spoken.values()):
        name = draw(st.sampled_from([name for name in names if spoken[name]]))
        told.append(spoken[name].pop(0))
    told += [Observed("d", "counted"), Replied("Both."), Final(Outcome.COMPLETED, "Both.")]
    return told


def _spoken(name, granted, draw):
    said = [
        Subagent(name, event)
        for event in draw(
            st.lists(
                st.sampled_from(
                    [
                        Calling("m", "e"),
                        TextDelta("secret words"),
                        ThoughtDelta("secret thoughts"),
                        Replied("secret words", (FAR,)),
                        Started("x"),
                        Observed("x", "1"),
                        Asking("x", "may I?"),
                        Subagent("below", TextDelta("deeper words")),
                    ]
                ),
                max_size=6,
            )
        )
    ]
    back = [Returned(name, draw(st.integers(0, granted)), draw(st.sampled_from(Outcome)), Usage(2, 40, 10))]
    return said + (back if draw(st.booleans()) else [])


@given(families())
def test_once_it_is_over_what_is_shown_of_subagents_follows_from_what_was_kept(told):
    kept = [event for event in told if is_kept(event)]
    assert still(seen(told)) == still(seen(kept))
    assert seen(told) == seen(kept)


@given(families())
def test_at_every_moment_the_budget_that_is_shown_adds_up_and_is_the_turns_own(told):
    for n in range(1, len(told)):
        shown = seen(told[:n], 30)
        budget = recall(event for event in told[:n] if is_kept(event)).budget
        assert (shown.calls, shown.leased, shown.left) == (budget.spent, budget.leased, budget.remaining)
        assert shown.calls + shown.leased + shown.left == 30


@given(families())
def test_the_usage_that_is_shown_is_that_of_the_whole_tree(told):
    assert seen(told).usage == recall(event for event in told if is_kept(event)).usage


@given(families())
def test_nothing_that_a_subagent_says_is_among_its_parents_words(told):
    for n in range(len(told)):
        shown = seen(told[:n])
        assert "secret" not in shown.text + shown.thoughts + heading_html(shown, 1.0)
    assert seen(told).text.strip() == "Both."


@given(families())
def test_each_subagent_has_one_line_below_the_call_it_works_for(told):
    lines = heading_plain(seen(told)).splitlines()
    names = [event.task for event in told if isinstance(event, Leased)]
    assert lines[0].startswith("✓ delegate")
    assert [line for line in lines if line.startswith("    ")] == lines[1 : 1 + len(names)]
    assert all(name in line for name, line in zip(names, lines[1:], strict=False))


def test_a_subagent_is_told_by_what_it_is_at_and_then_by_how_it_ended():
    told = [
        Replied("", (DELEGATE,)),
        Started("d"),
        Leased("a", 4, "count the ducks", "d"),
        Leased("b", 4, "count the geese", "d"),
    ]
    told += [Subagent("a", Calling("m", "e")), Subagent("b", Replied("", (FAR,))), Subagent("b", Started("x"))]
    live = heading_html(seen(told), 8.2, {"a": 3.4, "b": 8.0})
    assert "▸ count the ducks  thinking 3 s  0 of 4 calls" in live
    assert "▸ count the geese  tool <code>python</code> 8 s  1 of 4 calls" in live
    assert "tool <code>delegate</code> 8 s · 2 of 2 subagents at work" in live
    assert "budget 1 spent · 8 leased to 2 subagents · 3 left of 12" in live
    told += [Returned("a", 2, Outcome.COMPLETED), Returned("b", 4, Outcome.BUDGET_EXHAUSTED), Observed("d", "x")]
    ended = seen([*told, Replied("Six."), Final(Outcome.COMPLETED, "Six.")])
    assert heading_plain(ended).splitlines() == [
        "✓ delegate  count the ducks · count the geese",
        "    ✓ count the ducks  2 of 4 calls",
        "    ✗ count the geese  budget exhausted  4 of 4 calls",
        "[completed · 8 of 12 calls · 1 tool · 2 subagents]",
    ]
    assert "leased" not in heading_html(ended)


def test_who_waits_for_the_person_is_said_where_it_is_seen():
    told = [Replied("", (DELEGATE,)), Started("d"), Leased("a", 4, "ask", "d"), Subagent("a", Asking("x", "may I?"))]
    assert "1 waiting for you" in status_line(seen(told))
    assert "waiting for you" in heading_html(seen(told), 1.0).split("ask", 1)[1]


def test_a_subagent_that_never_came_back_is_not_waited_for():
    told = [Replied("", (DELEGATE,)), Started("d"), Leased("a", 4, "dawdle", "d"), Final(Outcome.INTERRUPTED, "")]
    assert "    ✗ dawdle  not finished" in heading_plain(seen(told)).splitlines()


def test_a_subagents_own_subagents_stand_below_it():
    told = [
        Replied("", (DELEGATE,)),
        Started("d"),
        Leased("a", 4, "above", "d"),
        Subagent("a", Leased("b", 2, "beneath")),
    ]
    html = heading_html(seen(told), 1.0)
    assert html.index("▸ above") < html.index("  ▸ beneath")


def test_of_very_many_subagents_the_first_are_shown_and_the_rest_counted():
    told = [Replied("", (DELEGATE,)), Started("d"), *(Leased(f"s{n}", 1, f"task {n}", "d") for n in range(40))]
    html = heading_html(seen(told, 90), 1.0)
    assert "and 16 more subagents" in html
    assert "task 23" in html
    assert "task 24" not in html


def test_subagents_of_two_calls_at_once_stand_each_below_their_own():
    calls = (DELEGATE, ToolCall("e", "delegate", '{"tasks": ["feed the hens"]}'))
    told = [Replied("", calls), Started("d"), Started("e"), Leased("a", 4, "hens", "e"), Leased("b", 4, "ducks", "d")]
    lines = heading_plain(seen(told)).splitlines()
    assert [line.split()[1] for line in lines[:4]] == ["delegate", "ducks", "delegate", "hens"]


def test_subagents_of_no_call_are_shown_too():
    assert "    ▸ alone" in heading_plain(seen([Leased("a", 4, "alone")]))


@given(HOSTILE, HOSTILE)
def test_no_words_of_a_subagent_become_html(task, name):
    inner = [Replied("", (ToolCall("c", name, ""),)), Started("c"), Noticed(name)]
    events = [
        Replied("", (DELEGATE,)),
        Started("d"),
        Leased("a", 4, task, "d"),
        *(Subagent("a", each) for each in inner),
    ]
    for html in (heading_html(seen(events), 1.0), heading_html(seen([*events, Final(Outcome.REFUSED, "")]))):
        assert {tag for tag, _ in tags(html)} <= OURS
        assert not [key for _, attributes in tags(html) for key in attributes if key.startswith("on")]
        assert "\x1b" not in html


# --- a window that fills ----------------------------------------------------------------------------------------------


def test_a_summary_in_the_making_is_said_until_it_is_there():
    making = seen([WindowFound(32_000, "models"), Compressing(17_000), TextDelta("On it")])
    assert status_line(making) == "writing · summarising the older part beside this turn"
    assert status_line(seen([Compressed((), 17_000, 5_000, "summary")], 12)) == "working"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Compressed((), 17_000, 5_000, "summary"), "earlier messages were summarised"),
        (Compressed((), 17_000, 9_000, "pruned"), "long results of earlier tools were shortened"),
        (
            Compressed((), 17_000, 5_000, "digest", note="the model did not\nanswer"),
            "earlier messages were left out, with a list of what was done in their place (the model did not answer)",
        ),
    ],
)
def test_a_compression_is_told_by_what_it_did_and_its_sizes_are_only_in_what_may_differ(event, words):
    shown = seen([event, Replied("Yes."), Final(Outcome.COMPLETED, "Yes.")])
    assert words in heading_plain(shown)
    assert "17,000" not in "".join(still(shown).values())
    assert f"{event.before:,} → {event.after:,} tokens" in heading_html(shown, 1.0)


def test_what_side_work_cost_is_counted():
    shown = seen([Spent(Usage(1, 900, 100), "a summary that came too late"), Final(Outcome.COMPLETED, "")])
    assert "1,000 tokens" in cost_line(shown)
