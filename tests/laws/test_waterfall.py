"""A timeline shows what is in it, whatever its words are and however much there is: bounded, escaped, the same each time."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.events import (
    KEPT,
    Asked,
    Failed,
    Final,
    Interrupted,
    Observed,
    Outcome,
    Replied,
    Retrying,
    Started,
    Undone,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.text import CELLS, END_OF_CELLS
from hermes_kernel.view.charts.crowded import ROWS, about, timeline
from hermes_kernel.view.charts.spans import Mark, Play, Span
from hermes_kernel.view.charts.timing import plays
from hermes_kernel.view.charts.waterfall import (
    WHAT,
    WIDE,
    Timeline,
    figures,
    seconds,
    timeline_html,
    timeline_text,
    waterfall,
)

law = settings(deadline=None, max_examples=60)
times = st.floats(0, 1e9, allow_nan=False)
hostile = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</title></svg>", "\x1b[1m\u202e"]),
)
whats = st.sampled_from(list(WHAT))
marks = st.builds(Mark, whats, times, times)
spans = st.builds(
    Span, what=whats, name=hostile, began=times, seconds=times, note=hostile, depth=st.integers(0, 3),
    marks=st.lists(marks, max_size=30).map(tuple),
)  # fmt: skip


def drawn(html: str) -> ET.Element:
    """The page as a parser reads it: it is sound as XML, too."""
    return ET.fromstring(f"<page>{html}</page>")


def tags(html: str) -> set[str]:
    return {element.tag.rpartition("}")[2] for element in drawn(html).iter()} - {"page"}


@law
@given(st.lists(spans, max_size=20), hostile)
def test_nothing_but_our_own_elements_is_ever_in_it(found: list[Span], title: str) -> None:
    html = timeline_html(Timeline(title, tuple(found), title))
    assert tags(html) <= {
        "div", "svg", "title", "g", "line", "text", "span", "details", "summary", "table", "thead", "tbody", "tr", "th",
        "td",
    }  # fmt: skip
    assert not re.search(r"\son\w+=|javascript:|\bid=", re.sub(r">[^<]*<", "><", html))
    assert html == timeline_html(Timeline(title, tuple(found), title))


@law
@given(st.lists(spans, min_size=1, max_size=20))
def test_every_bar_is_within_the_width_and_every_span_has_its_figures(found: list[Span]) -> None:
    page = drawn(waterfall(found))
    for line in page.iter("{http://www.w3.org/2000/svg}line"):
        left, right = (float(line.attrib[name].rstrip("%")) for name in ("x1", "x2"))
        assert 0 <= left <= right <= 100
    columns, rows = figures(Timeline("", tuple(found)))
    assert len(rows) == len(found)
    assert all(len(row) == len(columns) for row in rows)
    assert [row[2] for row in rows] == [f"{span.seconds:.1f}" for span in found]


@law
@given(st.lists(spans, max_size=20))
def test_the_text_is_one_line_for_each_and_one_for_what_the_letters_mean(found: list[Span]) -> None:
    text = timeline_text(Timeline("t", tuple(found)))
    lines = text.splitlines()
    assert len(lines) == (len(found) + 2 if found else 1)
    assert not set(text) & set("\x1b\u202e\x07")
    used = {mark.what for span in found for mark in span.shown}
    assert all(WHAT[what].words in lines[-1] for what in used)


def test_things_side_by_side_stand_below_one_another_at_the_same_place() -> None:
    text = timeline_text(Timeline("t", (Span("tool", "a", 2, 2), Span("tool", "b", 2, 4), Span("text", "c", 6, 2))))
    _, a, b, c, key = text.splitlines()
    assert a.index("▬") == b.index("▬")
    assert (a.count("▬"), b.count("▬"), c.count("█")) == (WIDE // 4, WIDE // 2, WIDE // 4)
    assert c.index("█") == b.rindex("▬") + 1
    assert key == "▬ tool  █ answer"


def test_where_only_its_words_are_shown_they_stand_apart_and_in_order() -> None:
    page = drawn(waterfall((Span("text", "call 1", 0, 2), Span("tool", "price", 2, 0.5)), "turn 1"))
    assert "".join(page.itertext()) == "turn 1 0 0.5 s 1 s 1.5 s 2 s 2.5 s call 1 2.0 s price 0.5 s"


def test_no_two_kinds_are_told_apart_by_colour_alone() -> None:
    assert len({what.stroke[1:] for what in WHAT.values()}) == len(WHAT)
    assert len({what.letter for what in WHAT.values()}) == len(WHAT)
    assert len({what.words for what in WHAT.values()}) == len(WHAT)


@pytest.mark.parametrize(
    ("length", "words"), [(0, "0.0 s"), (9.96, "10.0 s"), (99.9, "99.9 s"), (99.96, "1 min 39 s"), (7_300, "2 h 1 min")]
)
def test_a_length_of_time_is_said_as_finely_as_it_matters(length: float, words: str) -> None:
    assert seconds(length) == words


# --- how much of it is shown ------------------------------------------------------------------------------------------


def turn(steps: int, *, number: int = 1, began: float = 0.0, prompt: str = "go") -> Play:
    """A turn of calls with a tool after each."""
    found = []
    for n in range(steps):
        kind = "tool" if n % 2 else "text"
        found.append(Span(kind, f"{kind} {n}", began + 2 * n, 2, "note", marks=(Mark(kind, began + 2 * n, 2),)))
    return Play(number, prompt, began, began + 2 * steps, tuple(found), "completed")


@pytest.mark.no_cover
@law
@given(st.lists(st.tuples(st.integers(0, 400), st.floats(0, 1e5), hostile), min_size=1, max_size=120))
def test_however_much_happened_it_stays_small_and_no_time_is_lost(story: list[tuple[int, float, str]]) -> None:
    played, at = [], 0.0
    for n, (steps, pause, prompt) in enumerate(story, 1):
        played.append(turn(min(steps, 10_000 // len(story)), number=n, began=at, prompt=prompt * 20))
        at = played[-1].ended + pause
    told = timeline(played, "t")
    assert len(told.spans) <= ROWS
    assert len(timeline_html(told).encode()) < 50_000
    worked = sum(play.seconds for play in played)
    assert told.seconds == pytest.approx(worked), "the time between turns is left out, and no other"


@pytest.mark.no_cover
def test_the_worst_that_can_be_is_bounded_too() -> None:
    many = tuple(Mark(what, 0.1 * n, 0.05) for n in range(1000) for what in WHAT)
    crowd = tuple(Span("text", "<" * 60, n, 1, "<" * 90, 1, many) for n in range(ROWS))
    assert len(timeline_html(Timeline("<" * 200, crowd)).encode()) < 76_000, "of which 27 kB are brackets, escaped"
    plain = tuple(Span("text", "x" * 60, n, 1, "y" * 90, 1, many) for n in range(ROWS))
    assert len(timeline_html(Timeline("t" * 200, plain)).encode()) < 50_000


def test_less_of_each_is_shown_the_more_there_is() -> None:
    few = timeline([turn(4), turn(2, number=2, began=100)], "t")
    assert [(span.depth, span.name) for span in few.spans[:2]] == [(0, "turn 1: go"), (1, "text 0")]
    inner = turn(30)
    inside = tuple(span.later(0, 1) for span in turn(40).spans)
    crowded = Play(1, "go", 0, 80, (*inner.spans, *inside), "completed")
    told = timeline([crowded], "t")
    assert len(told.spans) == 30
    assert told.note == "Subagents are one row each."
    one = timeline([turn(400)], "t")
    assert one.spans[0].name == "steps 1 to 17"
    assert one.spans[0].note == "9 calls, 8 tools"
    assert one.note == "400 steps, several in a row."
    several = timeline([turn(20, number=n, began=100 * n) for n in range(1, 31)], "t")
    assert [span.name for span in several.spans[:2]] == ["turn 1: go", "turn 2: go"]
    assert {mark.what for mark in several.spans[0].marks} == {"turn", "text", "tool"}
    lots = timeline([turn(20, number=n, began=100 * n) for n in range(1, 201)], "t")
    assert lots.spans[0].name == "turns 1 to 9"
    assert lots.spans[-1].ended == pytest.approx(200 * 40)


def test_a_turn_says_of_what_it_was_made() -> None:
    assert about(turn(3)) == "6.0 s · completed · 2 calls, 1 tool"


# --- the fold ---------------------------------------------------------------------------------------------------------

st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
facts = st.one_of([st.from_type(kind) for kind in KEPT])


@law
@given(st.lists(st.tuples(st.floats(0, 1e9), facts), max_size=30).map(lambda found: sorted(found, key=lambda e: e[0])))
def test_whatever_a_log_holds_spans_lie_within_their_turn_and_nothing_takes_less_than_no_time(story: list) -> None:  # type: ignore[type-arg]
    asked = sum(isinstance(fact, Asked) for _, fact in story)
    found = plays(story)
    assert len(found) == asked
    for play in found:
        assert all(span.began >= play.began and span.seconds >= 0 for span in play.spans)
        assert all(mark.seconds >= 0 for span in play.spans for mark in span.marks)
        starts = [span.began for span in play.spans]
        assert starts == sorted(starts)
    assert [play.number for play in found if play.number] == list(
        range(1, sum(bool(play.number) for play in found) + 1)
    )
    timeline_html(timeline(found, "t"))


@law
@given(
    st.floats(0, 100), st.floats(0, 100),
    st.lists(st.tuples(st.floats(-1, 120), st.floats(0, 120)), max_size=20).map(tuple),
)  # fmt: skip
def test_the_marks_of_a_call_add_up_to_it(took: float, first: float, silences: tuple[tuple[float, float], ...]) -> None:
    reply = Replied("x", seconds=took, first_byte_seconds=first, silences=silences)
    ((span,),) = (play.spans for play in plays([(0.0, Asked("q")), (200.0, reply)]))
    assert sum(mark.seconds for mark in span.marks) == pytest.approx(took, abs=1e-6)
    at = span.began
    for mark in span.marks:
        assert mark.began == pytest.approx(at, abs=1e-6)
        at += mark.seconds


def test_a_stop_ends_the_call_or_the_wait_that_it_found() -> None:
    stop, final = Interrupted("person"), Final(Outcome.INTERRUPTED, "")
    asked, failed = (0.0, Asked("q")), (2.0, Failed(Fault.TIMEOUT, seconds=2.0))
    in_call = plays([asked, (5.0, stop), (5.0, final)])[0]
    assert [(span.name, span.seconds) for span in in_call.spans] == [("call, stopped by you", 5.0)]
    in_wait = plays([asked, failed, (2.0, Retrying(1, 3, 60.0, Fault.TIMEOUT)), (5.0, stop), (5.0, final)])[0]
    assert [(span.what, span.seconds) for span in in_wait.spans] == [("failed", 2.0), ("pause", 3.0)]
    said = Replied("", (ToolCall("c", "nap", "{}"),), seconds=1.0)
    in_tool = plays(
        [asked, (1.0, said), (1.0, Started("c")), (4.0, stop), (4.0, Observed("c", "", ok=False)), (4.0, final)]
    )
    assert [(span.name, span.seconds, span.note) for span in in_tool[0].spans][1:] == [("nap", 3.0, "failed")]


def test_turns_that_were_taken_back_leave_their_numbers_to_others() -> None:
    done = Final(Outcome.COMPLETED, "")
    story = [(0, Asked("a")), (1, done), (2, Asked("b")), (3, done), (4, Undone(1)), (5, Asked("c")), (6, done)]
    assert [(play.prompt, play.number) for play in plays(story, before=7)] == [("a", 8), ("b", 0), ("c", 9)]


def test_a_turn_is_called_by_what_the_person_said_and_not_by_what_was_told_besides() -> None:
    told = f"{CELLS}\nIn [2]: import warnings\n{END_OF_CELLS}\n\nHow many birds are there?"
    (play,) = plays([(0.0, Asked(told))])
    assert play.prompt == "How many birds are there?"


def test_a_call_that_was_refused_at_once_is_told_and_one_that_was_never_made_is_not() -> None:
    refused = (0.0, Failed(Fault.SERVER_ERROR, "no", seconds=0.002))
    withheld = (0.0, Failed(Fault.PROACTIVE_RATE_LIMIT, "wait"))
    (play,) = plays([(0.0, Asked("q")), refused, withheld])
    assert [span.name for span in play.spans] == ["failed call: server error"]
