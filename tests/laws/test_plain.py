"""A fact written is the fact read, and logs of other versions do no harm."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.events import KEPT, Asked, Compressed, Failed, Final, Kept, Outcome, Replied, TextDelta, is_kept
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.messages import Assistant, Image, Observation, ToolCall, Usage, User
from hermes_kernel.core.plain import dump, load

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
st.register_type_strategy(str, texts)
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
facts = st.one_of([st.from_type(kind) for kind in KEPT])


@settings(max_examples=400, deadline=None)
@given(facts)
def test_every_fact_comes_back_from_json_as_it_was(fact: Kept) -> None:
    assert is_kept(fact)
    assert load(json.loads(json.dumps(dump(fact)))) == fact


def test_what_only_passes_is_not_kept() -> None:
    assert not is_kept(TextDelta("x"))


def test_a_line_says_what_differs_from_the_default_and_no_more() -> None:
    assert dump(Asked("q")) == {"fact": "Asked", "text": "q"}
    assert dump(Failed(Fault.AUTH, wait=2.0)) == {"fact": "Failed", "fault": "auth", "wait": 2.0}


def test_a_stream_that_was_quiet_takes_no_more_room_than_before() -> None:
    assert "silences" not in dump(Replied("x", seconds=3.0))
    silent = dump(Replied("x", seconds=9.0, silences=((1.0, 4.0), (5.5, 2.0))))
    assert silent["silences"] == [[1.0, 4.0], [5.5, 2.0]]
    assert load(silent) == Replied("x", seconds=9.0, silences=((1.0, 4.0), (5.5, 2.0)))
    assert load(dump(Replied("x"))) == Replied("x", silences=())


def test_messages_say_who_spoke() -> None:
    transcript = (
        User("q", (Image("image/png", "AA=="),)),
        Assistant("", (ToolCall("1", "probe", "{}"),)),
        Observation("1", "probe", "ok"),
    )
    plain = dump(Compressed(transcript, 9, 3))
    assert [message["role"] for message in plain["transcript"]] == ["user", "assistant", "observation"]
    assert load(plain) == Compressed(transcript, 9, 3)


def test_a_kind_of_a_later_version_is_passed_over_and_its_fields_are_dropped() -> None:
    assert load({"fact": "Dreamt", "of": "sheep"}) is None
    assert load({}) is None
    assert load({"fact": "Final", "outcome": "completed", "text": "x", "mood": 1}) == Final(Outcome.COMPLETED, "x")


def test_a_missing_default_is_filled_in() -> None:
    assert load({"fact": "Replied", "text": "x", "usage": {"calls": 1}}) == Replied("x", usage=Usage(1))


@pytest.mark.parametrize(
    "plain",
    [
        {"fact": "Final"},
        {"fact": "Final", "outcome": "glorious", "text": ""},
        {"fact": "Replied", "text": "", "usage": 3},
    ],
)
def test_nonsense_is_refused_by_name(plain: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"Final|Replied|glorious"):
        load(plain)
