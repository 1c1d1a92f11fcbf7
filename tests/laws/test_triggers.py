"""What makes a turn worth a skill review, and what does not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.events import (
    Approved,
    Asked,
    Event,
    Final,
    Interrupted,
    Observed,
    Opened,
    Outcome,
    Replied,
    Started,
    Undone,
)
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.learning.correcting import corrects
from hermes_kernel.core.learning.prompting import named_skills, sentence_of, skills_in, words_of
from hermes_kernel.core.learning.triggers import Trigger, triggers
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.text import CELLS, END_OF_CELLS
from hermes_kernel.core.turn import Turn, recall

LEAST = 5


def step(
    called: str, /, ok: bool = True, *, flaw: str = "", refused: bool = False, **arguments: Any
) -> tuple[Any, ...]:
    """A call and how it went."""
    return called, ok, json.dumps(arguments), flaw, refused


def facts(prompt: str, *steps: tuple[Any, ...], outcome: Outcome = Outcome.COMPLETED, note: str = "") -> list[Event]:
    """A turn of one call after the other."""
    told: list[Event] = [Asked(prompt, note=note)]
    for n, (name, ok, arguments, flaw, refused) in enumerate(steps):
        call = ToolCall(f"c{n}", name, arguments, flaw)
        told.append(Replied("", (call,), Finish.TOOL_CALLS))
        told += [Approved(call.id, allowed=False, by="person")] if refused else [Started(call.id)]
        told.append(Observed(call.id, "result", ok))
    if outcome is Outcome.INTERRUPTED:
        told.append(Interrupted())
    return [*told, Replied("Done."), Final(outcome, "Done.")]


def turn(*turns: Sequence[Event]) -> Turn:
    return recall([Opened("s"), *(fact for each in turns for fact in each)])


def why(*turns: Sequence[Event], again: bool = False) -> str:
    found = triggers(turn(*turns), LEAST, again=again)
    return found.why if found else ""


WORK = [step("python", code=f"work({n})") for n in range(LEAST)]


def test_a_task_of_many_tool_calls_is_worth_a_review_and_one_of_fewer_is_not() -> None:
    assert why(facts("clean it", *WORK)) == "it took 5 tool calls"
    assert why(facts("clean it", *WORK[:-1])) == ""


def test_calls_that_only_look_make_no_skill() -> None:
    assert why(facts("what is in it?", *[step("read_file", path=f"{n}") for n in range(20)])) == ""
    assert why(facts("what is in it?", *[step("read_file", path=f"{n}") for n in range(4)], WORK[0]))


def test_an_answer_without_tools_makes_none() -> None:
    assert why(facts("what is a mean?")) == ""
    assert why() == ""


@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.COMPLETED])
def test_a_turn_that_did_not_complete_makes_none(outcome: Outcome) -> None:
    assert why(facts("clean it", *WORK, outcome=outcome)) == ""


def test_a_turn_in_which_a_skill_was_written_is_not_reviewed() -> None:
    assert why(facts("clean it", *WORK, step("skill_manage", name="cleaning"))) == ""
    assert why(facts("clean it", *WORK, step("skill_manage", ok=False, name="cleaning"))), "that failed"


def test_an_error_that_was_overcome_with_the_same_tool_is_a_recovery() -> None:
    assert why(facts("read it", step("python", ok=False, code="a"), step("python", code="b"))) == (
        "an error of `python` was overcome"
    )
    assert why(facts("read it", step("python", code="b"), step("python", ok=False, code="a"))) == "", "not overcome"


def test_an_error_that_was_overcome_with_another_tool_for_the_same_goal_is_a_recovery() -> None:
    failed = step("terminal", ok=False, command="unzip lake/sales-2024.zip")
    assert why(facts("read it", failed, step("python", code="ZipFile('lake/sales-2024.zip')")))
    assert why(facts("read it", failed, step("python", code="print(42)"))) == ""
    assert why(facts("read it", failed, step("price", n=1))) == "", "a call without words has no goal"


def test_what_a_person_refused_or_could_not_be_read_is_no_error_to_recover_from() -> None:
    again = step("terminal", command="ls")
    assert why(facts("tidy up", step("terminal", ok=False, refused=True, command="rm"), again)) == ""
    assert why(facts("tidy up", step("terminal", ok=False, flaw="not JSON", command="rm"), again)) == ""


def test_a_way_that_was_found_after_several_others_had_failed_is_not_obvious() -> None:
    failed = [step("terminal", ok=False, command="aaaa"), step("python", ok=False, code="bbbb")]
    assert why(facts("read it", *failed, step("fetch", url="cccc"))) == "a way was found after 2 others had failed"
    assert why(facts("read it", *failed)) == "", "none was found"
    assert why(facts("read it", failed[0], failed[0], step("fetch", url="cccc"))) == "", "the same way twice"


def test_a_correction_of_work_is_worth_a_review_and_one_of_words_is_not() -> None:
    work, talk = facts("the mean, please", step("python", code="mean()")), facts("hello")
    assert why(work, facts("No, use the median.")) == "the person corrected what was done"
    assert why(talk, facts("No, call me Ann.", step("python", code="x"))) == "the person corrected what was done"
    assert why(talk, facts("No, call me Ann.")) == "", "that is for the memory"
    assert why(work, facts("thank you")) == ""
    assert why(facts("No, use the median.", step("python", code="x"))) == "", "there is nothing before it to correct"


def test_what_the_model_is_told_beside_a_prompt_does_not_hide_a_correction() -> None:
    work = facts("the mean, please", step("python", code="mean()"))
    assert why(work, facts("No, use the median.", note="[Skills have changed.]"))
    assert why(work, facts("Thank you.", note="No, use the median.")) == ""


def test_a_turn_that_was_taken_back_is_a_correction_too() -> None:
    redone = facts("the median, please", step("python", code="median()"))
    assert why(redone, again=True) == "the person corrected what was done"
    assert why(redone) == ""


@pytest.mark.parametrize("where", ["view", "prompt", "before"])
def test_a_skill_that_was_loaded_and_did_not_serve_is_to_be_patched(where: str) -> None:
    prompt = "[Skill cleaning]\nDrop nothing.\n[End of skill]\n\nclean it"
    seen = step("skill_view", name="cleaning")
    first = facts(prompt if where == "prompt" else "clean it", *([] if where == "prompt" else [seen]), WORK[0])
    corrected = triggers(turn(first, facts("No, keep the zeros.")), LEAST)
    assert corrected == Trigger("the person corrected what was done", ("cleaning",))
    failed = facts(prompt, step("python", ok=False, code="a"), step("python", code="b"))
    assert triggers(turn(failed), LEAST) == Trigger("an error of `python` was overcome", ("cleaning",))
    well = facts(prompt, *WORK)
    assert triggers(turn(well), LEAST) == Trigger("it took 5 tool calls", ()), "it served"


def test_a_view_of_no_skill_names_none() -> None:
    first = facts("clean it", step("skill_view", name=3), step("skill_view", ok=False, name="gone"), WORK[0])
    assert triggers(turn(first, facts("No, keep the zeros.")), LEAST) == Trigger("the person corrected what was done")


def test_a_conversation_that_goes_on_from_a_compressed_one_is_judged_by_what_stands_in_it() -> None:
    work = turn(facts("clean it", *WORK))
    inside = recall([Opened("t", transcript=work.transcript), *facts("No, keep the zeros.")])
    assert triggers(inside, LEAST) == Trigger("the person corrected what was done")


def test_nothing_in_an_interrupted_or_undone_turn_is_a_trigger() -> None:
    assert triggers(recall([Opened("s"), *facts("clean it", *WORK), Undone()]), LEAST) is None


CORRECTIONS = (
    "No, use the median.", "no - plot it by month instead", "That's wrong, the index starts at 1", "You forgot the legend",
    "That is not what I asked.", "Use the median instead.", "From now on round to two digits.", "not quite: keep zeros",
    "Please don't use pandas for that", "I meant the other table", "Actually, use the median", "Instead of a bar chart, use lines",
    "Nein, nimm den Median", "Das ist falsch: es fehlen Zeilen", "Künftig bitte mit Legende", "Nimm den Median statt",
    "Non, utilise la médiane", "C'est faux, il manque des lignes", "No, usa la mediana por favor", "eso no es lo que pedí",
    "è sbagliato, usa la mediana", "isso está errado", "Нет, возьми медиану", "неправильно, считай заново",
    "不对，应该用中位数", "应该用中位数", "違います、中央値を使って", "아니요, 중앙값을 써", "Nie, użyj mediany", "Nee, gebruik de mediaan",
)  # fmt: skip
OTHERS = (
    "No, thanks.", "no problem, go on", "No rows should be lost, right?", "No", "no.", "Plot the sales by month", "",
    "Which is wrong, A or B?", "Nothing else, thank you", "What went wrong in the last run?", "Nein danke, das reicht",
    "No, that's all.", "Is that right?", "Do not worry", "non merci", "No need", "Note that the file is large", "stop",
    "Now do the same for 2024", "novel approach?", "Don't you think it rises?", "Notice the peak", "Nothing is wrong, plot it",
    "I wanted to ask about the mean", "Quería preguntar algo", "Actually what time is it?", "What should I use instead?",
    "Was heißt statt dessen?",
)  # fmt: skip


@pytest.mark.parametrize("words", CORRECTIONS)
def test_a_correction_is_known_in_several_languages(words: str) -> None:
    assert corrects(words)


@pytest.mark.parametrize("words", OTHERS)
def test_not_every_no_is_a_correction(words: str) -> None:
    assert not corrects(words)


def test_what_stands_far_down_in_a_prompt_corrects_nothing() -> None:
    assert not corrects("Look at this log. " * 40 + "From now on use the median.")


def test_the_persons_own_words_are_found_behind_cells_and_skills() -> None:
    prompt = (
        f"{CELLS}\nx = 1\n{END_OF_CELLS}\n\n[Skill a]\nNo, do this.\n[End of skill]\n\n"
        "[Skill b]\nNo.\n[End of skill]\n\nNo, use x."
    )
    assert words_of(prompt) == "No, use x."
    assert skills_in(prompt) == ("a", "b")
    assert "No, do this" not in named_skills(prompt)
    assert "[Skill a was loaded here]" in named_skills(prompt)


def test_what_a_person_said_ends_where_the_views_of_what_was_named_begin() -> None:
    said = "Compare `df` with `a b.csv`.\n\nother (list):\nis mine."
    views = "df (pandas.DataFrame):\n4 rows\n\na b.csv (file):\nx,y"
    assert sentence_of(f"{CELLS}\nx = 1\n{END_OF_CELLS}\n\n{said}\n\n{views}") == said
    assert sentence_of(said) == said


@given(st.text(), st.booleans())
def test_no_text_can_break_it(text: str, again: bool) -> None:
    words_of(text)
    sentence_of(text)
    named_skills(text)
    found = triggers(turn(facts("clean it", *WORK), facts(text, step("python", code=text))), LEAST, again=again)
    assert found is None or found.why


@given(st.text(max_size=200))
def test_arguments_that_are_no_object_have_no_goal(text: str) -> None:
    odd = ("fetch", False, text, "", False)
    assert why(facts("read it", odd, ("python", True, "[1]", "", False))) in ("", "an error of `fetch` was overcome")
