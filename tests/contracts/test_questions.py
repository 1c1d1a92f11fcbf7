"""How long a question waits, what becomes of it then, and what the model is told: the same for every tool that asks."""

from __future__ import annotations

import asyncio

import pytest

from hermes_kernel.core.events import Approved, Asking
from hermes_kernel.core.question import Question
from hermes_kernel.testing.clock import FastClock
from hermes_kernel.world.stop import Stop
from tests.contracts.toolbox import Nobody, Someone, observed, run_calls, toolbox

LONG = 1e6  # seconds in which nobody answers
CLARIFY = ("clarify", {"question": "Which?", "choices": ["red", "blue"]})
RISKY = ("terminal", {"command": "rm -rf ./nothing-of-the-kind"})


def hurried(tmp_path, person, **settings):
    """Tools for which an hour is a moment."""
    tools = toolbox(tmp_path, person, **settings)
    tools.clock = FastClock(real=0)
    return tools


async def test_without_an_answer_a_question_takes_its_first_choice_and_is_gone(tmp_path):
    person = Someone("too late", LONG)
    tools = hurried(tmp_path, person, answer_seconds=100)
    result = observed(await run_calls(tools, CLARIFY))
    assert result.text == 'Nobody answered: take "red", your first choice, and say in your answer what you assumed.'
    assert (person.cancelled, person.at_once) == (1, 0)
    assert 100 <= tools.clock.elapsed() < 200


async def test_without_an_answer_a_dangerous_call_is_not_run_and_the_model_is_told_why(tmp_path):
    events = await run_calls(hurried(tmp_path, Someone("once", LONG), answer_seconds=100), RISKY)
    (approved,) = [each for each in events if isinstance(each, Approved)]
    assert (approved.allowed, approved.by) == (False, "silence")
    assert "nobody answered when asked to allow it" in observed(events).text


async def test_a_person_is_told_how_long_they_have_and_what_happens_then(tmp_path):
    person = Someone("no")
    events = await run_calls(hurried(tmp_path, person, answer_seconds=7), RISKY, CLARIFY)
    asking = [each for each in events if isinstance(each, Asking)]
    assert [(each.seconds, each.default) for each in asking] == [(7, "no"), (7, "red")]
    assert [(each.seconds, each.default) for each in person.questions] == [(7, "no"), (7, "red")]
    risky, clarify = person.questions
    assert risky.choices == ("once", "this session", "always", "no")
    assert len(risky.meanings) == len(risky.choices)
    assert risky.given == "command: rm -rf ./nothing-of-the-kind"
    assert (risky.free, clarify.free) == (False, True)


async def test_zero_waits_for_ever(tmp_path):
    person = Someone("blue", 0.3)
    tools = hurried(tmp_path, person, answer_seconds=0)
    assert observed(await run_calls(tools, CLARIFY)).text == "blue"
    assert person.questions[0].seconds == 0


async def test_another_setting_holds_from_the_next_question_on(tmp_path):
    person = Someone("blue")
    tools = hurried(tmp_path, person)
    await run_calls(tools, CLARIFY)
    tools.configure(tools.settings.with_(answer_seconds=5))
    await run_calls(tools, CLARIFY)
    assert [each.seconds for each in person.questions] == [3600, 5]


async def test_a_headless_run_never_waits(tmp_path):
    for call, said in ((CLARIFY, "Nobody is there to answer"), (RISKY, "nobody is there to allow it")):
        assert said in observed(await run_calls(hurried(tmp_path, Nobody()), call)).text


async def test_of_two_questions_the_second_has_its_whole_time_from_when_it_is_asked(tmp_path):
    person = Someone("too late", LONG)
    tools = hurried(tmp_path, person, answer_seconds=100)
    await run_calls(tools, CLARIFY, CLARIFY)
    assert (person.most_at_once, person.cancelled) == (1, 2)
    assert tools.clock.elapsed() >= 200


async def test_a_stop_ends_a_question_that_has_time_left(tmp_path):
    person, stop = Someone("too late", LONG), Stop()
    tools = toolbox(tmp_path, person, answer_seconds=500)
    asyncio.get_running_loop().call_later(0.1, stop.press)
    events = await run_calls(tools, CLARIFY, stop=stop)
    assert type(events[-1]).__name__ == "Interrupted"
    assert (person.cancelled, person.at_once) == (1, 0)


@pytest.mark.parametrize("seconds", [1, 3600])
async def test_what_is_answered_in_time_is_the_answer(tmp_path, seconds):
    tools = hurried(tmp_path, Someone("blue"), answer_seconds=seconds)
    assert observed(await run_calls(tools, CLARIFY)).text == "blue"


def test_a_question_is_one_text_for_whoever_has_only_text():
    assert Question("Which?").whole == "Which?"
    assert Question("Allow it?", given="a: 1").whole == "Allow it?\na: 1"
