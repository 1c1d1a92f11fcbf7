"""Long conversations through small windows, by the rules alone: pass after pass they stay sound, within bounds and complete."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from hermes_kernel.core.compression import (
    Keep,
    Plan,
    accepted,
    digest,
    pieces,
    planned,
    prune,
    request,
    size,
    sound,
    spliced,
    stands_for,
    summary_text,
)
from hermes_kernel.core.messages import Assistant, Observation, ToolCall, Transcript, User
from tests.laws.conversations import TEXTS, last_prompt, summaries

WINDOW = 8_000
KEEP = Keep(2, 20, WINDOW // 5)
Summarise = Callable[[Transcript, Plan], str]


def turn(dice: random.Random, number: int) -> Transcript:
    """A question, some calls, an answer; about a thousand tokens."""
    words = TEXTS[number % len(TEXTS)] * 3
    calls = tuple(ToolCall(f"{number}.{n}", "probe", '{"n": 1}') for n in range(dice.randrange(1, 4)))
    results = tuple(Observation(c.id, c.name, words + f"\nFACT-{number}-{n}\n" + words) for n, c in enumerate(calls))
    return User(f"question {number}: {words}"), Assistant("", calls), *results, Assistant(f"answer {number}")


def facts(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"FACT-\d+-\d+", text)))


def carrying(transcript: Transcript, plan: Plan) -> str:
    """A summariser that writes down every fact of the record and of the part it is given."""
    record = plan.previous
    for piece in pieces(transcript, plan, 1_500):
        told = facts(request(piece, record, "", 500))
        record = accepted(
            "Here you are:\n\n## Facts to keep word for word\n" + "\n".join(f"- {fact}" for fact in told), 9_000
        )
    return record


def saying_little(_transcript: Transcript, _plan: Plan) -> str:
    return "## State now\n- It goes on."


def compressed(transcript: Transcript, summarise: Summarise) -> Transcript:
    pruned = prune(transcript, KEEP.last)
    plan = planned(pruned, KEEP)
    assert plan is not None
    shorter = spliced(pruned, pruned, plan, summarise(pruned, plan))
    assert shorter is not None
    return shorter


def lived(turns: int, summarise: Summarise) -> tuple[Transcript, int, int]:
    """A conversation compressed whenever it fills half of the window, its messages in all, and the passes."""
    dice = random.Random(7)
    transcript: Transcript = ()
    passes = count = 0
    for number in range(turns):
        more = turn(dice, number)
        transcript, count = (*transcript, *more), count + len(more)
        if size(transcript) <= WINDOW // 2:
            continue
        prompt, newest = last_prompt(transcript), transcript[-1]
        transcript, passes = compressed(transcript, summarise), passes + 1
        assert sound(transcript) == ""
        assert size(transcript) < WINDOW // 2
        assert last_prompt(transcript) is prompt
        assert transcript[-1] is newest
        (summary,) = summaries(transcript)
        assert stands_for(summary) + len(transcript) - 1 == count
    return transcript, count, passes


@pytest.mark.no_cover
@pytest.mark.parametrize("summarise", [digest, saying_little])
def test_a_conversation_of_any_length_stays_sound_and_in_its_window(summarise: Summarise) -> None:
    transcript, count, passes = lived(700, summarise)
    assert count > 3_000
    assert 50 < passes < 350
    assert size(transcript) < WINDOW * 0.6


def test_what_a_summariser_writes_down_is_there_after_many_passes() -> None:
    transcript, _, passes = lived(60, carrying)
    assert passes > 5
    (summary,) = summaries(transcript)
    gone = facts(summary_text(summary))
    assert len(gone) > 60
    seen = facts(summary_text(summary) + "".join(m.text for m in transcript))
    assert {fact.split("-")[1] for fact in seen} == {str(number) for number in range(60)}
