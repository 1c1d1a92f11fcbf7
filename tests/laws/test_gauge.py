"""Tokens by script: what holds of the counts whatever the text, and of the estimate whatever a server tells."""

from __future__ import annotations

import base64
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hermes_kernel.core.gauge import RATES, Counts, Gauge, counts, weighed
from hermes_kernel.core.messages import Assistant, Image, Observation, ToolCall, User
from hermes_kernel.core.tokens import estimate
from tests.bench.sayings import SCRIPTS

law = settings(deadline=None)
amounts = st.integers(0, 100_000)
some = st.builds(Counts, amounts, amounts, amounts, amounts, amounts, st.integers(0, 9), st.integers(0, 900))
lies = st.integers(-(10**15), 10**15)


def of(rates, made, fixed=0):
    """What a server with these rates counts."""
    return round(fixed + sum(rate * count for rate, count in zip(rates, made.each(), strict=True)))


@law
@given(st.text(max_size=300))
def test_no_character_is_counted_twice_or_negative(text):
    found = counts(text)
    assert all(count >= 0 for count in found.each())
    assert sum(found.each()) == len(text) - 3 * text.count("    ")
    assert estimate(text) >= (text != "")


@law
@given(some, some)
def test_counts_add_up_and_take_away_no_more_than_there_is(one, other):
    assert one + other - other == one
    assert one - one == Counts() == Counts() - other
    assert one + Counts() == one


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("the quick brown fox", "letters"),
        ("{}[]();12345", "marks"),
        (base64.b64encode(bytes(range(200))).decode(), "dense"),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "dense"),
        ("Не хватает памяти", "alphabet"),
        ("được không những người", "alphabet"),
        ("漢字かなカナ한글ไทย🎉", "cjk"),
        ("/usr/lib/python3/dist-packages/package/module/and/further/down", "letters"),
        ("a_name_of_the_kind_that_some_people_like_to_give_to_tests", "letters"),
    ],
)
def test_every_script_is_known_for_what_it_is(text, kind):
    found = counts(text)
    assert getattr(found, kind) > 0.75 * len(text)


def test_encoded_bytes_are_found_within_other_text():
    blob = base64.b64encode(Random(1).randbytes(300)).decode()
    assert counts(f"here: {blob} and there: {blob}").dense == 2 * len(blob.rstrip("="))


def test_a_message_weighs_what_is_sent_of_it():
    picture = Image("image/png", "QUJD" * 1000)
    assert weighed() == Counts()
    assert weighed(User("abc", (picture,))) == Counts(letters=3, images=1, messages=1)
    assert weighed(Observation("1", "plot", "abc", images=(picture, picture))) == Counts(3, images=2, messages=1)
    said = Assistant("abc", (ToolCall("1", "run", '{"a": 1}'),), thoughts="never sent " * 100, extra='{"r": "x"}')
    assert weighed(said) == counts("abc") + counts('run {"a": 1}') + Counts(messages=2)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("dear", [0.5, 0.8, 1.0, 1.3, 2.0])
def test_after_three_calls_the_estimate_is_within_a_tenth_of_what_is_told(script, dear):
    random, gauge, messages = Random(script), Gauge(), []
    rates = [rate * dear for rate in RATES]
    for call in range(6):
        messages += [User(SCRIPTS[script](random)), Assistant(SCRIPTS[script](random))]
        told = of(rates, weighed(*messages), 1800)
        assert call < 3 or gauge.tokens(weighed(*messages)) == pytest.approx(told, rel=0.1)
        gauge = gauge.learned(weighed(*messages), told)
        assert gauge.tokens(weighed(*messages)) == told


def test_what_is_learnt_of_one_script_is_known_when_there_is_more_of_it():
    random, gauge, messages = Random(5), Gauge(), []
    rates = [rate * factor for rate, factor in zip(RATES, (1, 0.8, 1.2, 1.6, 0.6, 1, 1), strict=True)]
    for call in range(40):
        messages += [User(SCRIPTS[random.choice(list(SCRIPTS))](random))]
        gauge = gauge.learned(weighed(*messages), of(rates, weighed(*messages), 1800))
        assert call < 39 or gauge.rates[:5] == pytest.approx(rates[:5], rel=0.2)
    assert gauge.tokens(Counts()) == pytest.approx(1800, rel=0.35)


@law
@given(some, some, st.floats(0.5, 2))
def test_after_a_compression_what_stays_is_estimated_by_its_share(old, new, dear):
    rates = [rate * dear for rate in RATES]
    told = of(rates, old, 2000)
    gauge = Gauge(tuple(rates)).learned(old, told)
    assume(gauge.told)
    stays = old - new
    assert gauge.tokens(stays) == pytest.approx(of(rates, stays, 2000), rel=0.02, abs=20)


@law
@given(st.lists(st.tuples(some, lies), max_size=8), some, some)
def test_no_usage_makes_the_estimate_absurd(told, transcript, more):
    gauge = Gauge()
    for made, tokens in told:
        gauge = gauge.learned(made, tokens)
    assert all(prior / 4 <= rate <= prior * 4 for rate, prior in zip(gauge.rates, RATES, strict=True))
    assert 0 <= gauge.tokens(transcript) <= gauge.tokens(transcript + more)
    assert gauge.tokens(transcript) <= 1_000_000 + 4 * of(RATES, transcript) + 4 * max(
        (of(RATES, made) for made, _ in told), default=0
    ) + 100_000 * len(told)


@pytest.mark.parametrize("tokens", [0, -5, 10**15, 12, 900])
def test_usage_that_cannot_be_true_is_not_learnt_from(tokens):
    much = weighed(*[User(SCRIPTS["English"](Random(n))) for n in range(90)])
    taught = Gauge().learned(much, 20_000)
    more = much + Counts(letters=40_000)
    assert Gauge().learned(much, tokens) == Gauge()
    assert taught.learned(more, tokens) == taught


def test_a_server_that_cuts_the_prompt_does_not_make_text_cheaper():
    gauge = Gauge()
    for size in range(4_000, 40_000, 4_000):
        gauge = gauge.learned(Counts(letters=size), min(size // 4, 4096))
    assert gauge.rates == pytest.approx((0.25, *RATES[1:]), rel=0.01)
    assert gauge.tokens(Counts(letters=40_000)) == pytest.approx(10_000, rel=0.15)


def test_tools_that_come_and_go_move_the_estimate_and_no_rates():
    made = Counts(letters=8000)
    gauge = Gauge().learned(made, 3000)
    more = gauge.learned(made + Counts(letters=400), 9_100)
    fewer = more.learned(made + Counts(letters=800), 3_200)
    assert gauge.rates == more.rates == fewer.rates
    assert more.tokens(made + Counts(letters=400)) == 9_100
    assert fewer.tokens(made + Counts(letters=800)) == 3_200


def test_a_call_without_tools_spoils_no_estimate_after_it():
    random, gauge, said = Random(7), Gauge(), []
    for call in range(12):
        said += [User(SCRIPTS["Vietnamese"](random)), Assistant(SCRIPTS["code"](random))]
        made, tools = weighed(*said), 0 if call == 6 else 3000
        told = of([1.2 * rate for rate in RATES], made, 200 + tools)
        assert call < 3 or call in (6, 7) or gauge.tokens(made) == pytest.approx(told, rel=0.1)
        gauge = gauge.learned(made, told)


def test_pictures_are_learnt_as_pictures():
    gauge = Gauge().learned(Counts(100), 500)
    for n in range(1, 4):
        gauge = gauge.learned(Counts(100, images=n), 500 + 300 * n)
    assert gauge.tokens(Counts(100, images=4)) == pytest.approx(1700, rel=0.03)
    assert gauge.tokens(Counts(500, images=3)) - gauge.tokens(Counts(100, images=3)) == pytest.approx(88, abs=2)
