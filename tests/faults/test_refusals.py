"""Servers that refuse: what is waited for, what is repaired, what is handed to another model, and what ends the turn at once."""

from __future__ import annotations

import pytest

from hermes_kernel import Agent, Outcome
from hermes_kernel.core.events import Calling, Compressed, Failed, Noticed
from hermes_kernel.testing import (
    HINTS,
    OVERFLOWS,
    FastClock,
    Request,
    Server,
    Step,
    call,
    error_with_200,
    failed_generation,
    filtered,
    forever,
    login_page,
    no_choices,
    out_of_quota,
    overflow,
    rate_limited,
    refused_parameter,
    refused_tool_choice,
    say,
    status,
    unstreamed,
    without_tools,
)
from tests.faults.played import ANSWER, KEY, PROMPT, Played, fallbacks, play, retries

HOPELESS = {
    "401": status(401),
    "401 that echoes the key": status(401, f"Incorrect API key provided: {KEY}."),
    "402": status(402),
    "403": status(403),
    "404": status(404),
    "out of quota": out_of_quota(),
}
PASSING = {"408": 408, "429": 429, "500": 500, "502": 502, "503": 503, "504": 504, "529": 529}
INVALID = {"login page": login_page(), "no choices": no_choices()}


@pytest.mark.parametrize("step", HOPELESS.values(), ids=HOPELESS)
async def test_what_waiting_cannot_cure_fails_at_once_in_one_line(tmp_path, step: Step) -> None:
    got = await play(tmp_path, [forever(step)])
    assert got.outcome is Outcome.FAILED
    assert len(got.requests) == 1
    assert not retries(got)
    assert 0 < len(got.turn.reason) < 400


@pytest.mark.parametrize("step", HOPELESS.values(), ids=HOPELESS)
async def test_what_waiting_cannot_cure_goes_to_the_fallback_without_a_wait(tmp_path, step: Step) -> None:
    got = await play(tmp_path, by_model({"scripted": step, "b": say(ANSWER)}), fallback_models=("b",))
    assert got.text == ANSWER
    assert models(got) == ["scripted", "b"]
    assert not retries(got)


@pytest.mark.parametrize("code", PASSING.values(), ids=PASSING)
async def test_what_may_pass_is_retried_with_growing_waits(tmp_path, code: int) -> None:
    got = await play(tmp_path, [*[status(code)] * 3, say(ANSWER)])
    assert got.text == ANSWER
    assert len(got.requests) == 4
    waits = [event.seconds for event in retries(got)]
    assert len(waits) == 3
    assert waits == sorted(waits)
    assert waits[-1] >= 2 * waits[-2]


@pytest.mark.parametrize("code", PASSING.values(), ids=PASSING)
async def test_what_does_not_pass_is_given_up_after_three_retries(tmp_path, code: int) -> None:
    got = await play(tmp_path, [forever(status(code))])
    assert got.outcome is Outcome.FAILED
    assert len(got.requests) == 4


async def test_waits_double_from_five_seconds_to_two_minutes_with_a_quarter_of_jitter(tmp_path) -> None:
    clock = FastClock(chances=(0.0, 0.999, 0.5))
    got = await play(tmp_path, [forever(status(500))], clock=clock, max_retries=6)
    low, high, *_, last = [event.seconds for event in retries(got)]
    assert low == pytest.approx(5 * 0.75)
    assert high == pytest.approx(10 * 1.25, rel=0.01)
    assert last == pytest.approx(120)


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.parametrize("hint", [hint for hint in HINTS if hint != "none"])
async def test_the_wait_a_server_names_is_the_wait(tmp_path, hint, code: int) -> None:
    got = await play(tmp_path, [rate_limited(37, hint=hint, code=code), say(ANSWER)])
    assert got.text == ANSWER
    (wait,) = retries(got)
    assert 35 <= wait.seconds <= 38
    assert len(got.requests) == 2


async def test_a_wait_longer_than_anyone_has_patience_for_is_not_begun(tmp_path) -> None:
    got = await play(tmp_path, [forever(rate_limited(7200))])
    assert got.outcome is Outcome.FAILED
    assert len(got.requests) == 1
    assert got.turn.reason


async def test_a_rate_limit_without_a_hint_backs_off(tmp_path) -> None:
    got = await play(tmp_path, [rate_limited(0, hint="none"), say(ANSWER)])
    assert [event.seconds for event in retries(got)] == [pytest.approx(5)]


@pytest.mark.parametrize("step", INVALID.values(), ids=INVALID)
async def test_an_invalid_response_goes_to_the_fallback_at_once(tmp_path, step: Step) -> None:
    got = await play(tmp_path, by_model({"scripted": step, "b": say(ANSWER)}), fallback_models=("b",))
    assert got.text == ANSWER
    assert models(got) == ["scripted", "b"]
    assert not retries(got)
    assert len(fallbacks(got)) == 1


@pytest.mark.parametrize("step", INVALID.values(), ids=INVALID)
async def test_an_invalid_response_without_a_fallback_is_retried_and_then_said(tmp_path, step: Step) -> None:
    assert (await play(tmp_path / "a", [step, say(ANSWER)])).text == ANSWER
    got = await play(tmp_path / "b", [forever(step)])
    assert got.outcome is Outcome.FAILED
    assert len(got.requests) == 4


async def test_an_error_under_status_200_is_an_error(tmp_path) -> None:
    got = await play(tmp_path, [error_with_200(), say(ANSWER)])
    assert got.text == ANSWER
    assert len(got.requests) == 2


async def test_an_answer_that_was_not_streamed_is_an_answer(tmp_path) -> None:
    got = await play(tmp_path, [unstreamed(ANSWER)])
    assert got.text == ANSWER
    assert len(got.requests) == 1


@pytest.mark.parametrize("wording", OVERFLOWS)
async def test_a_full_context_is_recognised_in_any_wording(tmp_path, wording: str) -> None:
    got = await play(tmp_path, [overflow(wording), say(ANSWER)])
    assert got.faults in (["context_overflow"], ["payload_too_large"])
    assert got.of(Compressed)
    assert got.text == ANSWER
    assert len(got.requests) == 2


async def test_a_full_context_is_compressed_before_it_is_sent_again(tmp_path) -> None:
    steps = iter([call("price", {"sku": "x" * 4000 + str(n)}) for n in range(14)])

    def script(request: Request) -> Step:
        return overflow() if request.size > 40_000 else next(steps, say(ANSWER))

    got = await play(tmp_path, script, context_window=0)
    assert got.text == ANSWER
    assert "context_overflow" in got.faults
    (before, *_) = [r.size for r in got.requests if r.size > 40_000]
    assert got.requests[-1].size < before


async def test_a_prompt_that_never_fits_ends_with_words_not_with_a_loop(tmp_path) -> None:
    got = await play(tmp_path, [forever(overflow())])
    assert got.outcome is Outcome.FAILED
    assert len(got.requests) <= 5


async def test_a_payload_that_is_too_large_is_made_smaller(tmp_path) -> None:
    got = await play(tmp_path, [status(413), say(ANSWER)])
    assert got.text == ANSWER
    assert got.of(Compressed)


def refusing(field: str, step: Step) -> object:
    return lambda request: step if field in request.body else say(ANSWER)


@pytest.mark.parametrize(
    ("field", "step"),
    [
        ("max_tokens", refused_parameter("max_tokens", use="max_completion_tokens")),
        ("max_completion_tokens", refused_parameter("max_completion_tokens", use="max_tokens")),
        ("stream_options", refused_parameter("stream_options")),
        ("stream_options", refused_parameter("stream_options", code=422)),
    ],
    ids=["max_tokens", "max_completion_tokens", "stream_options", "stream_options-422"],
)
async def test_a_parameter_that_is_refused_is_swapped_once(tmp_path, field, step) -> None:
    got = await play(tmp_path, refusing(field, step), max_tokens=500)
    assert got.text == ANSWER
    assert len(got.requests) <= 2
    assert field not in got.requests[-1].body
    if field != "stream_options":
        assert {"max_tokens", "max_completion_tokens"} & got.requests[-1].body.keys()


async def test_a_swapped_parameter_is_remembered(tmp_path) -> None:
    def script(request: Request) -> Step:
        if "max_tokens" in request.body:
            return refused_parameter("max_tokens", use="max_completion_tokens")
        return say(ANSWER) if request.messages[-1]["role"] == "tool" else call("price", {"sku": "A1"})

    got = await play(tmp_path, script, max_tokens=500)
    assert got.text == ANSWER
    assert ["max_tokens" in request.body for request in got.requests] in ([True, False, False], [False, False])


async def test_a_model_without_tools_is_asked_without_them_or_says_so(tmp_path) -> None:
    got = await play(tmp_path, lambda request: without_tools() if request.body.get("tools") else say(ANSWER))
    assert got.text == ANSWER or "tools" in got.turn.reason
    assert len(got.requests) <= 2


async def test_a_call_the_server_could_not_read_is_not_the_end(tmp_path) -> None:
    script = [failed_generation('<function=price>{"sku": "A1"}</function>'), *[say(ANSWER)] * 2]
    got = await play(tmp_path, script)
    assert got.text == ANSWER


async def test_a_refused_tool_choice_is_not_the_end(tmp_path) -> None:
    got = await play(tmp_path, refusing("tool_choice", refused_tool_choice()))
    assert got.text == ANSWER


async def test_a_filtered_prompt_ends_as_refused(tmp_path) -> None:
    got = await play(tmp_path, [forever(filtered())])
    assert got.outcome is Outcome.REFUSED
    assert got.turn.reason
    assert len(got.requests) == 1


async def test_a_filtered_reply_ends_as_refused(tmp_path) -> None:
    got = await play(tmp_path, [say("I will not", finish="content_filter")])
    assert got.outcome is Outcome.REFUSED
    assert got.text == "I will not"


async def test_a_key_in_an_error_is_not_repeated(tmp_path) -> None:
    got = await play(tmp_path, [status(401, f"Wrong key {KEY}, sorry")])
    assert KEY not in got.turn.reason
    assert all(KEY not in repr(event) for event in got.of(Failed))
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


async def test_an_encoding_the_server_chokes_on_is_repaired_twice_at_most(tmp_path) -> None:
    words = "'utf-8' codec can't encode character '\\ud83d': surrogates not allowed"
    got = await play(tmp_path, [forever(status(400, words))], f"{PROMPT} 😀")
    assert got.outcome is Outcome.FAILED
    assert len(got.requests) <= 3


async def test_faults_of_a_fallback_are_told_as_its_own(tmp_path) -> None:
    script = by_model({"scripted": status(401), "b": status(402)})
    got = await play(tmp_path, script, fallback_models=("b",))
    assert [(event.model, event.fault.value) for event in got.of(Failed)] == [("scripted", "auth"), ("b", "billing")]
    assert got.outcome is Outcome.FAILED


async def test_every_model_of_the_list_is_asked_in_order(tmp_path) -> None:
    script = by_model({"scripted": status(404), "b": login_page(), "c": say(ANSWER)})
    got = await play(tmp_path, script, fallback_models=("b", "c"))
    assert models(got) == ["scripted", "b", "c"]
    assert got.text == ANSWER


def by_model(steps: dict[str, Step]) -> object:
    return lambda request: steps[request.body["model"]]


def models(got: Played) -> list[str]:
    return [request.body["model"] for request in got.requests]


async def test_a_stop_at_the_word_of_what_was_learnt_makes_no_other_request(tmp_path) -> None:
    clock = FastClock()
    with Server([refused_parameter("stream_options"), forever(say(ANSWER))], now=clock.now) as server:
        agent = Agent("any", [], clock=clock, home=tmp_path, base_url=server.url, api_key=KEY, learning=False)
        async with agent:
            events = []
            async for event in agent.stream(PROMPT):
                events.append(event)
                if isinstance(event, Noticed):
                    agent.stop()
    assert agent.turn.outcome is Outcome.INTERRUPTED
    assert sum(isinstance(event, Calling) for event in events) == len(server.requests) == 1
