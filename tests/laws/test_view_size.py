"""What a finished turn leaves in a notebook, as laws: small whatever happened, honest about what is left out."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import reduce

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hermes_kernel.core.events import (
    Approved,
    Compressed,
    FellBack,
    Final,
    Leased,
    Observed,
    Outcome,
    Replied,
    Returned,
    Started,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import Image, ToolCall, Usage
from hermes_kernel.view import Picture, heading_html, heading_plain, see, still
from hermes_kernel.view.turn.detail import Extract, cut, extract, quoted, weight

MOST = 50_000  # bytes
SPITEFUL = st.sampled_from(['"', "<&", "\n", "a", "💥", "漢", "`$", "\\", "x y ", "\x1b["])
LENGTHS = st.sampled_from([0, 1, 40, 3_000, 50_000])


def seen(events):
    return reduce(see, events, Picture(90))


def size(bundle) -> int:
    return len(json.dumps(bundle, ensure_ascii=False).encode())


@dataclass(frozen=True)
class Busy:
    """A turn of any number of calls, with long arguments and results, subagents, notes and reasoning."""

    words: str
    long: int
    code: bool
    calls: int
    subagents: int
    notes: int
    outcome: Outcome

    def events(self):
        text = (self.words * self.long)[: self.long]
        name, arguments = ("python", json.dumps({"code": text})) if self.code else (text, json.dumps({"a": text}))
        yield Replied("", thoughts=text * 4)
        for n in range(self.calls):
            call = ToolCall(f"c{n}", name, arguments)
            yield from [Replied("", (call,)), Approved(call.id, allowed=False, by=text), Started(call.id)]
            yield Observed(call.id, text, ok=n % 3 > 0, seconds=1.0)
        for n in range(self.subagents):
            yield Leased(f"s{n}", 3, text, "c0" if n % 2 else "")
            yield Returned(f"s{n}", 1, Outcome.REFUSED, Usage())
        yield from [Compressed((), 9, 8, note=text), FellBack(1, Fault.OVERLOADED)] * self.notes
        yield Final(self.outcome, "Done.", text)


BUSY = st.builds(
    *(Busy, SPITEFUL, LENGTHS, st.booleans(), st.sampled_from([0, 1, 2, 7, 60])),
    *(st.sampled_from([0, 1, 8, 100]), st.sampled_from([0, 1, 200]), st.sampled_from(Outcome)),
)


@given(BUSY)
@example(Busy('<&"', 50_000, False, 500, 8, 0, Outcome.COMPLETED))
@example(Busy("💥", 3_000, False, 60, 100, 0, Outcome.BUDGET_EXHAUSTED))
@settings(max_examples=30, deadline=None)
def test_a_finished_turn_is_small_whatever_happened_in_it(busy):
    picture = seen(busy.events())
    live = {"text/html": heading_html(picture, 12.0), "text/plain": heading_plain(picture)}
    assert size(live) < MOST
    assert size(still(picture)) < MOST


def test_the_size_does_not_grow_with_an_answer_beyond_the_answer():
    answer = "word <b> & `code`\n\n" * 4_000
    done = Final(Outcome.COMPLETED, answer)
    assert size({"text/html": heading_html(seen([Replied(answer), done])), "text/plain": ""}) < 1_000
    bundle = still(seen([Replied(answer), done]))
    assert size(bundle) - len(bundle["text/plain"]) - len(bundle["text/markdown"]) < len(answer)


def calls(count, text="result", arguments='{"path": "a.txt"}', **observed):
    for n in range(count):
        yield Replied("", (ToolCall(f"c{n}", "read_file", arguments),))
        yield Started(f"c{n}")
        yield Observed(f"c{n}", text, **observed)


DONE = Final(Outcome.COMPLETED, "Done.")


def test_of_very_many_calls_the_first_and_the_last_are_shown_and_the_others_counted():
    picture = seen([*calls(500, ok=False), DONE])
    for shown in (heading_plain(picture), heading_html(picture, 1.0)):
        told = re.search(r"… (\d+) more calls \((\d+) failed\) …", shown)
        assert told
        assert int(told[1]) == int(told[2]) == 500 - shown.count("a.txt") // (2 if "<pre" in shown else 1)
        assert shown.count("a.txt", shown.index(told[0])) > 10


def test_subagents_and_notes_that_are_left_out_are_counted_by_kind():
    events = [
        *calls(1),
        *(Leased(f"s{n}", 1, f"count the ducks of pond {n}", "c0") for n in range(300)),
        *[FellBack(1, Fault.OVERLOADED)] * 300,
        DONE,
    ]
    told = re.search(r"… (\d+) more subagents, (\d+) more notes …", heading_plain(seen(events)))
    assert told
    lines = heading_plain(seen(events)).splitlines()
    assert int(told[1]) == 300 - sum("pond" in line for line in lines)
    assert int(told[2]) == 300 - sum("next model" in line for line in lines)


def test_shares_shrink_as_there_are_more_calls_and_short_texts_stay_whole():
    kept = [heading_html(seen([*calls(n, "y" * 4_000), DONE])).count("y") / n for n in (1, 4, 16, 64)]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] >= 4_000
    assert kept[-1] > 20
    mixed = [*calls(1, "z" * 150), *calls(30, "y" * 4_000), DONE]
    assert heading_html(seen(mixed)).count("z") >= 150


def test_what_is_left_out_of_a_result_is_said_in_characters():
    html = heading_html(seen([*calls(1, "a" * 30_000 + "the error"), DONE]))
    assert "26,009 characters left out" in html
    assert "the error" in html


def test_images_are_kept_up_to_a_bound_and_counted_beyond_it():
    image = Image("image/png", "A" * 1_500_000)
    html = heading_html(seen([*calls(4, images=(image,)), DONE]))
    assert html.count("<img ") == 2
    assert html.count("1 image left out") == 2


@given(st.text(max_size=400), st.integers(0, 300))
def test_an_extract_knows_how_much_is_left_out(text, limit):
    found = extract(text, limit)
    assert len(found.head) + len(found.tail) + found.left == len(text)
    assert text.startswith(found.head)
    assert text.endswith(found.tail)


@given(st.text(alphabet='ab\n"<&💥漢$`', max_size=600), st.integers(0, 500), st.integers(70, 900))
def test_a_cut_extract_fits_and_still_knows_how_much_is_left_out(text, limit, room):
    shorter = cut(extract(text, limit), room)
    assert weight(quoted(str(shorter))) <= room
    assert len(shorter.head) + len(shorter.tail) + shorter.left == len(text)
    assert text.startswith(shorter.head)
    assert text.endswith(shorter.tail)


@pytest.mark.parametrize(
    ("text", "said"), [(Extract("ab"), "ab"), (Extract("a", "b", 1_200), "a\n… 1,200 characters left out …\nb")]
)
def test_an_extract_is_read_as_one_text(text, said):
    assert str(text) == said
