"""The table of the eight loops says what happened, and counts as read only what could have been read since."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.learning.loops import COLUMNS, Happened, Summary, cells, pending, rows
from hermes_kernel.core.learning.tally import Latest
from hermes_kernel.core.learnt import Dated, LookDue, Looked, Remembered, SkillChanged, SkillMarked, SkillUsed
from hermes_kernel.core.messages import Usage
from hermes_kernel.core.schedule.rows import RunRow

NAMES = (
    "tool execution",
    "agent iteration",
    "compression",
    "nudge",
    "skill creation",
    "session accumulation",
    "schedule",
    "curator",
)


def table(happened=None, **plans):
    """The rows by the names of the loops."""
    return {row.loop: row for row in rows(happened or Happened(), plans)}


def dated(*facts):
    """These facts, a second apart, the first at 1."""
    return tuple(Dated(float(t), fact) for t, fact in enumerate(facts, 1))


def test_there_are_eight_from_the_fastest_to_the_slowest_even_where_nothing_happened():
    made = rows(Happened(), {"nudge": "after 10 turns"})
    assert tuple(row.loop for row in made) == NAMES
    assert [row.number for row in made] == list(range(1, 9))
    assert all(row.last is None and row.wrote == "nothing yet" and row.read == row.cost == "" for row in made)
    assert [row.next for row in made if row.next] == ["after 10 turns"]


def test_a_row_is_read_under_its_columns():
    seen = cells(table(Happened(kinds={"Observed": Latest(2, 60.0, "s", 4)}, reread=1))["tool execution"])
    assert len(seen) == len(COLUMNS)
    assert seen == ("1", "tool execution", "ms", "1970-01-01 00:01 UTC", "", "2 results", "by 1 model call", "")
    assert cells(table()["schedule"])[3] == "not yet"


def test_the_last_turn_is_counted_with_its_cost_and_with_the_looks_at_it_since():
    kinds = {"Final": Latest(3, 2.0, "s", 9), "Replied": Latest(7, 1.5, "s", 8)}
    looks = dated(Looked("nudge", "s"), Looked("nudge", "s"), Looked("nudge", "other"))
    row = table(Happened(kinds, turn=Usage(2, 1_000, 50, cost=0.25), learnt=looks))["agent iteration"]
    assert (row.last, row.wrote, row.read) == (2.0, "3 answers in 7 model calls", "by 1 look")
    assert row.cost == "2 calls, 1,050 tokens, $0.2500 (last turn)"


def test_a_compression_says_what_it_made_smaller_and_who_read_it():
    summary = Summary(40_000, 8_000, Usage(1, 30_000, 900), read=3)
    row = table(Happened({"Compressed": Latest(1, 5.0, "s", 9)}, summary=summary))["compression"]
    assert row.wrote == "1 summary; the last: 40,000 to 8,000 tokens"
    assert (row.read, row.cost, row.last) == ("by 3 model calls", "1 call, 30,900 tokens (last)", 5.0)


def test_conversations_and_searches_are_counted():
    row = table(Happened({"Asked": Latest(9)}, begun=(1.0, 2.0), searches=2))["session accumulation"]
    assert (row.last, row.wrote, row.read) == (2.0, "2 conversations, 9 turns", "by 2 searches")


def test_memory_is_read_by_conversations_that_began_after_it_was_written():
    learnt = dated(
        Remembered("memory", (), ("by hand",), "person"),
        Remembered("user", ("old", "kept"), ("kept", "new", "newer"), "nudge"),
        Looked("nudge", "s", "aside", 1, ("user",), "completed"),
        Looked("nudge", "s", "aside", 1, (), "completed"),
        Looked("nudge", "t", "skipping", 1, (), "skipped"),
    )
    happened = Happened(learnt=learnt, begun=(1.0, 2.0, 2.5, 9.0), spent={"nudge": Usage(2, 100, 10)})
    row = table(happened)["nudge"]
    assert row.wrote == "1 change of memory; the last +2 −1 in user"
    assert row.read == "by 2 new conversations"
    assert row.last == 4.0, "one that was skipped was no run"
    assert row.cost == "2 calls, 110 tokens"


def test_memory_that_a_person_wrote_is_not_the_loops():
    row = table(Happened(learnt=dated(Remembered("memory", (), ("a",), "person")), begun=(5.0,)))["nudge"]
    assert (row.last, row.wrote, row.read) == (None, "nothing yet", "")


def test_skills_are_read_when_they_are_opened_after_they_were_written():
    learnt = dated(
        SkillUsed("report"),
        SkillChanged("report", "create", "review"),
        SkillChanged("plots", "patch", "model"),
        SkillUsed("report"),
        SkillUsed("another"),
        SkillChanged("another", "create", "person"),
    )
    row = table(Happened(learnt=learnt, begun=(2.5, 4.0)))["skill creation"]
    assert row.wrote == "1 made, 1 changed; the last: plots"
    assert row.read == "read 1 time; listed in 1 new conversation"
    assert row.last == 3.0


def test_skills_only_made_or_only_changed_are_said_so():
    made = table(Happened(learnt=dated(SkillChanged("a", "create", "review"))))["skill creation"]
    changed = table(Happened(learnt=dated(SkillChanged("a", "edit", "model"))))["skill creation"]
    assert (made.wrote, changed.wrote) == ("1 made; the last: a", "1 changed; the last: a")


def test_the_curators_own_steps_are_counted_by_what_became_of_the_skills():
    learnt = dated(
        SkillMarked("a", "stale", "curator"),
        SkillMarked("b", "stale", "curator"),
        SkillMarked("c", "pinned", "person"),
        SkillChanged("d", "archive", "curator"),
        SkillChanged("e", "found", "hand"),
        SkillUsed("a"),
    )
    row = table(Happened(learnt=learnt, begun=(0.5, 7.0)))["curator"]
    assert row.wrote == "1 archived, 2 made stale"
    assert (row.read, row.last) == ("listed in 1 new conversation", 4.0)


def test_what_is_due_is_due_until_it_was_looked_at():
    learnt = dated(LookDue("nudge", "s"), LookDue("nudge", "t"), LookDue("review", "s"), Looked("nudge", "s"))
    assert (pending(learnt, "nudge"), pending(learnt, "review"), pending(learnt, "curator")) == (1, 1, 0)
    assert pending((*learnt, Dated(9.0, LookDue("nudge", "s"))), "nudge") == 2


@given(st.lists(st.floats(0, 100, allow_nan=False)), st.floats(0, 100))
def test_nothing_is_read_before_it_was_written(begun, t):
    happened = Happened(learnt=(Dated(t, Remembered("memory", (), ("a",), "nudge")),), begun=tuple(sorted(begun)))
    later = sum(each > t for each in begun)
    assert table(happened)["nudge"].read == f"by {later} new conversation{'' if later == 1 else 's'}"


latests = st.builds(Latest, st.integers(0, 9), st.floats(0, 9), st.sampled_from("ab"), st.integers(0, 9))


@given(latests, latests, latests)
def test_counts_add_up_in_whatever_order(a, b, c):
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert (a + b).count == a.count + b.count
    assert (a + b).t == max(a.t, b.t)


def test_jobs_are_told_with_how_their_runs_ended_and_who_was_told_of_them():
    runs = (
        RunRow("a", "r5", 50.0, "report", began=51.0, outcome="running"),
        RunRow("a", "r4", 40.0, "report", asked=True, outcome="waiting"),
        RunRow("b", "r3", 30.0, "look", began=31.0, ended=32.0, outcome="ran", told=2),
        RunRow("a", "r2", 20.0, "report", began=21.0, ended=23.0, outcome="failed", told=1),
        RunRow("a", "r1", 10.0, "report", outcome="skipped"),
    )
    row = table(Happened(runs=runs, spent={"schedule": Usage(3, 900, 100, cost=0.5)}), schedule="soon")["schedule"]
    assert (row.last, row.next) == (51.0, "soon")
    assert row.wrote == "3 runs: 1 failed, 1 ran, 1 skipped; the last: look"
    assert (row.read, row.cost) == ("told 3 times", "3 calls, 1,000 tokens, $0.5000")


def test_a_first_run_that_goes_on_has_written_nothing_yet():
    row = table(Happened(runs=(RunRow("a", "r", 50.0, "report", began=51.0, outcome="running"),)))["schedule"]
    assert (row.last, row.wrote, row.read) == (51.0, "nothing yet", "")


def test_instants_that_were_all_skipped_ran_never():
    row = table(Happened(runs=(RunRow("a", "r", 50.0, "report", outcome="skipped"),)))["schedule"]
    assert (row.last, row.wrote, row.cost) == (None, "1 run: 1 skipped; the last: report", "")
