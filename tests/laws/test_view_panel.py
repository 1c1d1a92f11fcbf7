"""A turn at work as a panel, as laws: the budget adds up, what is open stays open, hostile words stay words."""

from __future__ import annotations

import json
import re
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.budget import IterationBudget
from hermes_kernel.core.events import (
    Approved,
    Asked,
    Asking,
    CallDelta,
    Calling,
    FellBack,
    Final,
    Interrupted,
    Leased,
    Noticed,
    Observed,
    Outcome,
    Replied,
    Retrying,
    Returned,
    Silence,
    Started,
    Subagent,
    TextDelta,
    ThoughtDelta,
    Waiting,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import Image, ToolCall, Usage
from hermes_kernel.view import Picture, heading_html, see, still
from hermes_kernel.view.turn.meters import budget_of
from hermes_kernel.view.turn.panel import meter_html, panel, spoken_html, status_html, thoughts_html
from tests.laws.test_view import HOSTILE, OURS, tags
from tests.laws.test_view_children import families

PNG = Image("image/png", "iVBORw0KGgo=")
DONE = Final(Outcome.COMPLETED, "Done.")


def seen(events, limit=90):
    return reduce(see, events, Picture(limit))


def shown(events, limit=90, since=None):
    return panel(seen(events, limit), since or {})


def html(events):
    return "".join(piece.html for piece in shown(events).pieces)


def words(told):
    """What is read of some HTML."""
    return " ".join(re.sub(r"<[^>]*>", " ", told).split())


def used(name="read_file", arguments='{"path": "a.txt"}', text="result", call_id="c", **observed):
    return [
        Replied("", (ToolCall(call_id, name, arguments),)),
        Started(call_id),
        Observed(call_id, text, **observed),
    ]


# --- what is going on -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("events", "status", "spoken"),
    [
        ([Calling("m", "e")], "thinking 3 s", "thinking"),
        ([Silence(12.0, 600.0, "queued")], "queued by the provider 12 s", "queued by the provider"),
        ([Silence(41.0, 90.0, "stream")], "silent 41 of 90 s", "silent"),
        ([Retrying(2, 3, 12.2, Fault.RATE_LIMIT)], "retry 2 of 3 in 12 s (rate limit)", "retry 2 of 3 (rate limit)"),
        ([Retrying(2, 3, 9.0, Fault.TIMEOUT), Waiting(8.0)], "retry 2 of 3 in 8 s (timeout)", "retry 2 of 3 (timeout)"),
        ([Replied("", (ToolCall("c", "python", "{}"),)), Started("c")], "tool `python` 3 s", "tool python"),
        ([Noticed("summarising 17,000 tokens, 5 s")], "compressing 3 s · summarising 17,000 tokens", None),
        ([Asking("c", "may I?")], "waiting for you", "waiting for you"),
        ([CallDelta("f`g", 1_200)], "writing a call of `fg`, 1,200 characters", "writing a call of fg"),
        ([TextDelta("x")], "writing", "writing"),
    ],
)
def test_one_line_says_what_is_going_on_and_what_is_read_out_does_not_tick(events, status, spoken):
    moment = shown(events, since={"": 3.4})
    assert moment.status == status
    assert moment.spoken == (spoken or "compressing · summarising 17,000 tokens")


def test_what_ticks_is_hidden_from_whoever_listens_and_what_is_read_out_is_not_seen():
    moment = shown([Replied("", (ToolCall("c", "python", "{}"),)), Started("c")], since={"": 8.0})
    assert status_html(moment).startswith('<div aria-hidden="true">')
    assert "tool <code>python</code> 8 s" in status_html(moment)
    assert 'role="status" aria-live="polite"' in spoken_html(moment)
    assert "8 s" not in spoken_html(moment)


def test_a_silence_is_over_as_soon_as_anything_comes():
    quiet = [Calling("m", "e"), Silence(41.0, 90.0, "stream")]
    for event in (
        TextDelta("x"),
        ThoughtDelta("x"),
        CallDelta("f", 1),
        Calling("m", "e"),
        Replied("x"),
        Retrying(1, 3, 5.0, Fault.TIMEOUT),
        Interrupted("person"),
        DONE,
    ):
        assert shown(quiet).silence
        assert shown([*quiet, event]).silence is None
        assert "silent" not in shown([*quiet, event]).status
    assert shown([*quiet, Silence(0.2, 90.0, "stream")]).status == "thinking"


def test_what_stands_in_a_notebook_in_place_of_widgets_says_nothing_that_is_only_true_at_that_moment():
    moments = [
        [Calling("m", "e")],
        [Calling("m", "e"), TextDelta("x")],
        [Calling("m", "e"), Silence(41.0, 90.0, "stream")],
    ]
    told = {heading_html(seen(events)) for events in moments}
    assert len(told) == 1
    assert "at work when this was shown" in told.pop()
    assert "at work" not in heading_html(seen([DONE]))


def test_whoever_waits_for_the_person_makes_the_panel_ask():
    deep = [Leased("a", 9, "ask"), Subagent("a", Leased("b", 3, "ask below"))]
    assert not shown(deep).asking
    assert shown([*deep, Subagent("a", Subagent("b", Asking("c", "may I?")))]).asking
    assert shown([Asking("c", "may I?")]).asking
    assert not shown([*deep, Subagent("a", Asking("c", "may I?")), Returned("a", 1, Outcome.COMPLETED)]).asking


# --- meters -----------------------------------------------------------------------------------------------------------


@pytest.mark.no_cover
@given(families())
def test_the_parts_of_the_budget_are_the_whole_and_its_words_say_each(told):
    for n in range(1, len(told)):
        meter = shown(told[:n]).budget
        assert sum(part.amount for part in meter.parts) == meter.of == 30
        spent, leased, left = (part.amount for part in meter.parts)
        assert meter.words.startswith(f"{spent} spent")
        assert f"{left} left of 30" in meter.words
        assert (f"{leased} leased to" in meter.words) == bool(leased)


@pytest.mark.parametrize(
    ("spent", "tone", "words"),
    [
        (0, "busy", "0 spent · 40 left of 40"),
        (29, "busy", "29 spent · 11 left of 40"),
        (30, "slow", "30 spent · 10 left of 40, running low"),
        (35, "slow", "35 spent · 5 left of 40, running low"),
        (36, "bad", "36 spent · 4 left of 40, nearly spent"),
        (40, "bad", "40 spent · 0 left of 40, none to spend"),
    ],
)
def test_a_budget_turns_amber_then_red_and_says_so_in_words(spent, tone, words):
    meter = shown([Replied("")] * spent, limit=40).budget
    assert (meter.parts[0].tone, meter.words) == (tone, words)
    assert budget_of(IterationBudget(40, spent)) == meter, "and the same once the turn is kept"


def test_a_budget_of_nothing_is_drawn_too():
    assert "0 left of 0, none to spend" in meter_html(shown([], limit=0).budget)


@pytest.mark.parametrize(
    ("silence", "tone", "words"),
    [
        (Silence(41.0, 90.0, "stream"), "busy", "silent 41 of 90 s"),
        (Silence(68.0, 90.0, "stream"), "slow", "silent 68 of 90 s, soon given up"),
        (Silence(82.0, 90.0, "stream"), "bad", "silent 82 of 90 s, nearly given up"),
        (Silence(95.0, 90.0, "stream"), "bad", "silent 90 of 90 s, nearly given up"),
        (Silence(12.0, 600.0, "queued"), "busy", "queued 12 of 600 s"),
        (Silence(31.0, 180.0, "first_byte"), "busy", "no answer yet 31 of 180 s"),
    ],
)
def test_a_silence_fills_towards_its_limit(silence, tone, words):
    meter = shown([Calling("m", "e"), silence]).silence
    assert meter
    assert (meter.parts[0].tone, f"{meter.label} {meter.words}", meter.of) == (tone, words, silence.limit)
    assert sum(part.amount for part in meter.parts) == silence.limit


@pytest.mark.parametrize("silence", [Silence(1.0, 90.0, "stream"), Silence(5.0, 180.0, "first_byte")])
def test_where_there_is_nothing_to_speak_of_its_place_is_kept_and_nothing_is_read_out(silence):
    assert shown([Calling("m", "e"), silence]).silence is None
    place, meter = meter_html(None), meter_html(shown([]).budget)
    height = re.compile(r"min-height:[\d.]+em")
    assert height.findall(place) == height.findall(meter)
    assert 'aria-hidden="true"' in place


def test_a_meter_says_its_figures_to_whoever_cannot_see_it():
    drawn = meter_html(shown([Replied(""), Leased("a", 8, "x")], limit=90).budget)
    ((_, bar),) = [(tag, attributes) for tag, attributes in tags(drawn) if "role" in attributes]
    assert bar["role"] == "progressbar"
    assert bar["aria-label"] == "budget"
    assert (bar["aria-valuemin"], bar["aria-valuenow"], bar["aria-valuemax"]) == ("0", "9", "90")
    assert bar["aria-valuetext"] == "1 spent · 8 leased to 1 subagent · 81 left of 90"
    assert drawn.count(bar["aria-valuetext"]) == 2, "and beside it, for whoever can"


def test_the_cost_so_far_is_marked_where_it_is_an_estimate():
    assert shown([Replied("", usage=Usage(1, 900, 100, cost=0.0123))]).cost == "1,000 tokens · $0.0123"
    assert shown([Replied("", usage=Usage(1, 900, 100, estimated=True))]).cost == "about 1,000 tokens"


# --- calls ------------------------------------------------------------------------------------------------------------


def test_a_call_is_a_line_that_opens_on_what_it_was_given_and_what_it_gave():
    (piece,) = shown(used(text="a <b>", seconds=1.24)).pieces
    assert piece.key == "row:0"
    summary, inside = piece.html.split("</summary>")
    assert words(summary) == "✓ read_file a.txt · ok · 1.2 s"
    assert "<details" in summary
    assert "open" not in summary
    assert "path: a.txt" in inside
    assert "a &lt;b&gt;" in inside


def test_a_call_that_failed_and_who_allowed_it_are_told_in_words():
    call = ToolCall("c", "terminal", '{"command": "ls"}')
    events = [Replied("", (call,)), Approved("c", allowed=True, by="person", scope="session"), Started("c")]
    told = html([*events, Observed("c", "no such file", ok=False, seconds=0.5)])
    assert words(told).startswith("✗ terminal ls · allowed by person (session) · failed · 0.5 s")


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("person", "refused by person"),
        ("rule", "refused by rule"),
        ("headless", "refused: nobody is there to ask"),
        ("silence", "refused: nobody answered"),
    ],
)
def test_a_call_that_was_refused_says_by_whom(by: str, said: str):
    call = ToolCall("c", "terminal", '{"command": "ls"}')
    told = html([Replied("", (call,)), Approved("c", allowed=False, by=by), Observed("c", "Not run", ok=False)])
    assert words(told).startswith(f"✗ terminal ls · {said} · failed")


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("python", '{"code": "a = 1\\nb = a"}', "a = 1&#10;b = a"),
        ("write_file", '{"path": "x.py", "content": "a\\nb"}', "path: x.py&#10;content:&#10;a&#10;b"),
        ("search", '{"limit": 3, "in": ["a", "b"]}', "limit: 3&#10;in: [&quot;a&quot;, &quot;b&quot;]"),
        ("python", '{"code": ["a"]}', "code: [&quot;a&quot;]"),
        ("search", "not json", "not json"),
        ("search", "[1]", "[1]"),
        ("search", "[" * 100_000, "97,000 characters left out"),
    ],
)
def test_arguments_are_set_to_be_read(name, arguments, said):
    assert said in html(used(name, arguments))


def test_no_arguments_are_too_deep_to_be_told():
    for depth in (*range(400, 1_000, 7), 5_000):
        for nested in ('{"a":' * depth + "1" + "}" * depth, '{"tasks":[{"a":' + "[" * depth + "]" * depth + "}]}"):
            assert "f" in html(used("f", nested))


def test_images_are_shown_with_the_call_unless_the_cell_shows_them_already():
    assert f'src="data:image/png;base64,{PNG.data}"' in html(used("camera", images=(PNG,)))
    assert 'alt="image 1 of 2 from camera"' in html(used("camera", images=(PNG, PNG)))
    assert "<img" not in html(used("python", images=(PNG,)))
    below = [Leased("a", 4, "draw"), *(Subagent("a", event) for event in used("python", images=(PNG,)))]
    assert "<img" in html(below), "a subagent's own Python shows nothing in this cell"


@pytest.mark.parametrize(
    "image", [Image("image/svg+xml", "PHN2Zz4="), Image("text/html", "PHA+"), Image("image/png", '"><script>')]
)
def test_what_is_no_plain_image_is_named_and_not_shown(image):
    events = used("camera", images=(image,))
    for told in (html(events), heading_html(seen([*events, DONE])), still(seen([*events, DONE]))["text/markdown"]):
        assert "<img" not in told
        assert "<script" not in told
        assert f"[{image.mime}, which is not shown]" in told


def test_what_is_over_opens_on_all_of_it_and_its_text_stays_as_it_was():
    done = seen([*used(text="forty-two", images=(PNG,)), DONE])
    for told in (heading_html(done, 1.0), still(done)["text/markdown"]):
        assert "path: a.txt" in told
        assert "forty-two" in told
        assert "<img" in told
    assert still(done)["text/plain"] == "Done.\n\n✓ read_file  a.txt\n[completed · 1 of 90 calls · 1 tool]"


# --- pieces -----------------------------------------------------------------------------------------------------------


@given(families(), st.integers(0, 30), st.integers(0, 400))
def test_nothing_but_the_line_of_a_subagent_at_work_changes_with_time(told, n, seconds):
    picture = seen(told[:n])
    leases = {child.lease: float(seconds) for child in picture.children}
    before, after = panel(picture).pieces, panel(picture, {"": float(seconds), **leases}).pieces
    assert [piece.key for piece in before] == [piece.key for piece in after]
    changed = [a.key for a, b in zip(before, after, strict=True) if a != b]
    assert all(re.fullmatch(r"(?:child:\d+/?)+", key) for key in changed)


@given(families())
def test_a_call_that_is_over_is_never_sent_again(told):
    last = {}
    for n in range(len(told)):
        picture = seen(told[:n])
        now = {piece.key: piece.html for piece in panel(picture).pieces}
        assert len(now) == len(panel(picture).pieces), "keys are unique"
        over = {f"row:{n}" for n, row in enumerate(picture.rows) if row.state in ("ok", "failed")}
        assert all(last[key] == now[key] for key in over & last.keys())
        last = {key: now[key] for key in over}


def test_however_many_calls_there_are_the_pieces_are_few_and_each_call_is_in_one():
    events = [event for n in range(500) for event in used(arguments=json.dumps({"path": f"f{n}."}), call_id=f"c{n}")]
    pieces = shown(events).pieces
    assert len(pieces) < 80
    assert all(sum(f" f{n}." in piece.html for piece in pieces) == 1 for n in range(500))
    assert "10 earlier calls" in pieces[0].html
    assert max(len(piece.html) for piece in pieces) < 2_000


def test_subagents_are_indented_panels_with_a_budget_and_their_latest_calls():
    events = [*used("delegate", call_id="d")[:2], Leased("a", 8, "count the ducks", "d")]
    events += [Subagent("a", event) for n in range(5) for event in used(call_id=f"c{n}", text=f"pond {n}")]
    events += [Subagent("a", Leased("b", 2, "count the geese", "c4")), Subagent("a", Calling("m", "e"))]
    pieces = shown(events, since={"a": 4.0}).pieces
    assert [piece.key for piece in pieces] == [
        *("row:0", "child:0", "child:0/row:2", "child:0/row:3", "child:0/row:4", "child:0/child:0"),
    ]
    assert "count the ducks · thinking 4 s · 2 earlier calls" in pieces[1].html
    assert "5 spent · 2 leased to 1 subagent · 1 left of 8, running low" in pieces[1].html
    assert "pond 4" in pieces[4].html
    margins = [float(re.search(r"margin-left:([\d.]+)em", piece.html)[1]) for piece in pieces[1:]]
    assert margins == [1.25, 1.25, 1.25, 1.25, 2.5]
    over = shown([*events, Returned("a", 6, Outcome.COMPLETED)]).pieces
    assert [piece.key for piece in over] == ["row:0", "child:0"]
    assert "count the ducks · completed · 6 of 8 calls" in over[1].html


def test_of_very_many_subagents_those_at_work_are_shown_and_the_rest_counted():
    events = [Leased(f"s{n}", 1, f"task {n}.", "") for n in range(100)]
    events += [Returned(f"s{n}", 1, Outcome.COMPLETED) for n in range(90)]
    pieces = shown(events).pieces
    assert "and 76 more subagents" in pieces[-1].html
    assert all(f"task {n}." in html(events) for n in range(76, 100))


def test_the_last_notes_are_shown_and_the_others_counted():
    pieces = shown([FellBack(1, Fault.OVERLOADED)] * 9).pieces
    assert [piece.key for piece in pieces] == ["notes", *(f"note:{n}" for n in range(4, 9))]
    assert "4 earlier notes" in pieces[0].html


def test_of_long_reasoning_the_last_is_shown_and_the_rest_counted():
    moment = shown([ThoughtDelta("a" * 9_000), ThoughtDelta("the end <b>")])
    assert moment.thoughts.startswith("… 7,011 characters before …")
    assert "the end &lt;b&gt;" in thoughts_html(moment.thoughts)
    assert shown([ThoughtDelta("short")]).thoughts == "short"


@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_words_of_anybody_become_html_in_a_panel(name, text, task):
    calls = used(name, text, text, images=(Image(name, text), Image("image/png", text)))
    below = [Subagent("a", event) for event in calls]
    events = [*calls, Noticed(text), Leased("a", 4, task, "c"), *below, Leased("b", 4, task), CallDelta(name, 3)]
    events += [Asked(text, budget=90), *events, FellBack(1, Fault.OVERLOADED), Approved("c", allowed=False, by=name)]
    moment = shown(events)
    drawn = [html(events), status_html(moment), spoken_html(moment), meter_html(moment.budget)]
    done = seen([*events, Final(Outcome.REFUSED, "", text)])
    for told in (*drawn, thoughts_html(text), heading_html(done, 1.0), still(done)["text/markdown"]):
        assert {tag for tag, _ in tags(told)} <= OURS | {"img"}
        attributes = [each for _, several in tags(told) for each in several.items()]
        assert not [key for key, _ in attributes if key.startswith("on") or key == "href"]
        assert all(value.startswith("data:image/png;base64,") for key, value in attributes if key == "src")
        assert "\x1b" not in told


def test_nothing_in_what_opens_is_markdown_or_mathematics():
    text = "a\n\n![spy](https://spy.net/p.png) $x$ and $y$ `code` \\(z\\)"
    told = still(seen([*used("terminal", json.dumps({"command": text}), text), DONE]))["text/markdown"]
    inside = told.partition("<details")[2]
    assert "\n" not in inside
    assert not re.search(r"[$`\\]", inside)
