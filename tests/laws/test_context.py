"""What is left of a conversation that did not fit: shorter, whole, and with the prompt at hand word for word."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.compression import groups
from hermes_kernel.core.context import size, squeeze
from hermes_kernel.core.messages import Assistant, Image, Observation, ToolCall, Transcript, User
from hermes_kernel.core.text import brief, scrub
from hermes_kernel.core.tokens import estimate
from tests.laws.worlds import check_whole

lengths = st.integers(1, 3000)


def exchange(number: int, sizes: list[int]) -> Transcript:
    calls = tuple(ToolCall(f"{number}.{n}", "probe", "{}") for n in range(len(sizes)))
    results = tuple(Observation(f"{number}.{n}", "probe", "x" * length) for n, length in enumerate(sizes))
    return (Assistant("" if calls else "answer", calls, thoughts="hm" * 50), *results)


@st.composite
def conversations(draw: st.DrawFn) -> Transcript:
    transcript: Transcript = ()
    for number in range(draw(st.integers(1, 30))):
        if draw(st.booleans()) or not transcript:
            transcript = (*transcript, User(f"question {number}" * draw(st.integers(1, 40))))
        transcript = (*transcript, *exchange(number, draw(st.lists(lengths, min_size=1, max_size=3))))
    return transcript


@settings(max_examples=300, deadline=None)
@given(conversations(), st.integers(1, 5))
def test_squeezing_keeps_calls_beside_results_and_the_last_prompt(transcript: Transcript, attempt: int) -> None:
    smaller = squeeze(transcript, attempt)
    check_whole(smaller)
    assert size(smaller) < size(transcript) or smaller == transcript
    assert [m for m in transcript if isinstance(m, User)][-1] in smaller
    if attempt > 1 and len(transcript) > 40:
        assert size(smaller) < size(transcript)


def test_a_long_conversation_gets_shorter_with_every_attempt() -> None:
    transcript: Transcript = (User("task"),)
    for number in range(40):
        transcript = (*transcript, *exchange(number, [2000]))
    sizes = [size(transcript), *(size(squeeze(transcript, attempt)) for attempt in (1, 2, 3))]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0] / 10
    assert "earlier messages of this conversation" in str(squeeze(transcript, 2))


def test_nothing_to_gain_changes_nothing() -> None:
    assert squeeze((User("q"),), 3) == (User("q"),)
    assert list(groups((Observation("1", "p", "alone"),))) == [(Observation("1", "p", "alone"),)]


def test_images_weigh_what_a_provider_charges_for_them() -> None:
    assert size((User("", (Image("image/png", "AA=="),)),)) > 1000


def test_tokens_are_estimated_by_script() -> None:
    assert estimate("") == 0
    assert estimate("word " * 100) in range(100, 150)
    assert estimate("汉" * 100) in range(90, 130)
    assert estimate("\ud800") > 0


@given(st.text(st.characters(), max_size=30))
def test_scrubbed_text_can_be_encoded_and_good_text_is_left_alone(text: str) -> None:
    clean = scrub(text)
    clean.encode()
    assert scrub(clean) is clean or scrub(clean) == clean


def test_a_surrogate_pair_is_joined_and_a_lone_half_replaced() -> None:
    assert scrub("\ud83d\ude00") == "😀"
    assert scrub("a\ud83d b") == "a\ufffd b"


def test_a_brief_text_is_one_line_of_its_limit() -> None:
    assert brief("a\n b", 10) == "a b"
    assert brief("a" * 20, 10) == "a" * 9 + "…"
    assert brief("abc", 0) == "…"
