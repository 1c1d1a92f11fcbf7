"""What is done when no model can be asked: the facts instead of a summary, and less and less of them until it fits."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.compression import Keep, accepted, digest, planned, reduced, size, sound, spliced, summary_text
from hermes_kernel.core.compression.digesting import NOTICE
from hermes_kernel.core.compression.weight import tokens
from hermes_kernel.core.messages import Assistant, Message, Observation, ToolCall, Transcript, User
from tests.laws.conversations import PICTURE, conversations, last_prompt, summaries

KEEP = Keep(2, 20, 2_000)


def step(number: int, result: str, *, ok: bool = True, path: str = "", said: str = "") -> Transcript:
    call = ToolCall(f"c{number}", "read_file", json.dumps({"path": path or f"src/part_{number}.py"}))
    return Assistant(said, (call,)), Observation(call.id, call.name, result, ok)


def work(steps: int, characters: int = 400) -> Transcript:
    return (
        User("Build the parser for /data/export.csv"),
        *(m for n in range(steps) for m in step(n, "x y " * (characters // 4))),
    )


def digested(transcript: Transcript, keep: Keep = KEEP, most: int = 1500) -> str:
    plan = planned(transcript, keep)
    assert plan is not None
    return digest(transcript, plan, most)


@settings(max_examples=100, deadline=None)
@given(conversations(), st.integers(150, 2000))
def test_a_digest_is_bounded_and_its_splice_is_sound_and_smaller(transcript: Transcript, most: int) -> None:
    plan = planned(transcript, KEEP)
    if plan is None:
        return
    text = digest(transcript, plan, most)
    assert text.startswith(NOTICE)
    assert tokens(text) <= most
    shorter = spliced(transcript, transcript, plan, text)
    assert shorter is not None
    assert sound(shorter) == ""


def test_a_digest_says_what_was_asked_done_seen_and_what_went_wrong() -> None:
    transcript = (
        User("Read data.csv and plot it"), *step(1, "a,b\n1,2", path="data.csv"),
        *step(2, "No such file: b.csv", ok=False, path="/tmp/b.csv", said="I look for the other file."),
        Assistant("b.csv is missing; only data.csv can be plotted."), User("Then plot data.csv. " + "Long words. " * 40),
        *step(3, "[… 90,000 characters in all; the middle is left out; all of it is in /tmp/results/c3.txt; read_file shows parts …]"),
        Assistant("Here is the plot."), *work(20, 4000),
    )  # fmt: skip
    text = digested(transcript, Keep(0, 4))
    assert text.split("\n", 1)[0] == NOTICE
    for line in (
        "- Asked: Read data.csv and plot it",
        "- Asked: Then plot data.csv. Long words.",
        '- read_file {"path": "data.csv"} → a,b 1,2',
        '- read_file {"path": "/tmp/b.csv"} → failed',
        '- Failed: read_file {"path": "/tmp/b.csv"}: No such file: b.csv',
        "- The assistant said: b.csv is missing; only data.csv can be plotted.",
        "- The assistant said: Here is the plot.",
        "- File: data.csv",
        "- File: /tmp/results/c3.txt",
    ):
        assert line in text
    assert "session_search" in text


def test_names_in_code_are_not_taken_for_files() -> None:
    transcript = (User("Use np.array and 3.14, see https://example.org/a.html or a/b.py."), *work(40))
    files = [line for line in digested(transcript, Keep(0, 4), 4000).split("\n") if line.startswith("- File: ")]
    assert "- File: a/b.py" in files
    assert not any("np" in line or "3.14" in line for line in files)


def test_many_calls_are_counted_and_the_newest_told() -> None:
    text = digested(work(200), most=4000)
    assert "- Earlier calls: read_file × 1" in text
    assert '"src/part_189.py"' in text
    assert '"src/part_3.py"' not in text


def test_a_digest_keeps_the_summary_it_takes_the_place_of() -> None:
    first = digested(work(40))
    plan = planned(work(40), KEEP)
    assert plan is not None
    once = spliced(work(40), work(40), plan, first + "\n\n## Decisions and why\n- CSV, for the person wants it.")
    assert once is not None
    text = digested((*once, Assistant("The parser stands."), *work(40)))
    assert text.count(NOTICE) == 1
    assert text.count("## Done so far") == 1
    assert "- CSV, for the person wants it." in text
    assert accepted(text) != ""


def test_a_result_that_has_lost_its_call_is_told_all_the_same() -> None:
    alone: Transcript = (*(Observation(str(n), "probe", f"reading {n}") for n in range(300)), User("q"))
    assert "- probe → reading 299" in digested(alone, Keep(0, 0, 0))


def test_a_secret_is_not_in_a_digest() -> None:
    call = ToolCall("1", "terminal", '{"command": "export API_KEY=sk-proj-abcdefghijklmnopqrstuvwx0123456789"}')
    assert "sk-proj" not in digested(
        (User("go"), Assistant("", (call,)), Observation("1", "terminal", "ok"), *work(30))
    )


def test_a_line_that_does_not_fit_is_told_in_part() -> None:
    transcript = tuple(User(f"{n} " + "请把数据整理成表格" * 100) for n in range(40))
    text = digested(transcript, Keep(0, 1), 200)
    assert "- Asked: 38 请把" in text or "- Asked: 38 请" in text
    assert tokens(text) <= 200


@settings(max_examples=100, deadline=None)
@given(conversations(), st.integers(1, 5), st.sampled_from([KEEP, Keep(), Keep(0, 3, 200)]))
def test_the_last_resort_is_sound_smaller_or_the_same_and_keeps_the_last_prompt(
    transcript: Transcript, attempt: int, keep: Keep
) -> None:
    smaller = reduced(transcript, attempt, keep)
    assert sound(smaller) == ""
    assert smaller is transcript or size(smaller) < size(transcript)
    prompt = last_prompt(transcript)
    assert last_prompt(smaller) is prompt
    assert len(summaries(smaller)) <= max(len(summaries(transcript)), 1)
    for message in smaller:
        if isinstance(message, Assistant):
            assert all(isinstance(json.loads(call.arguments), dict) for call in message.calls if not call.flaw)
    if prompt and isinstance(last := transcript[-1], Assistant) and not last.calls:
        assert isinstance(smaller[-1], Assistant)
        assert smaller[-1].text == last.text, "an answer that is going on was seen, and is gone on with"


def test_each_attempt_takes_more() -> None:
    transcript = (*work(30, 4000), Assistant("so far so good"), User("go on"), *work(30, 4000)[1:])
    sizes = [size(transcript), *(size(reduced(transcript, attempt, KEEP)) for attempt in (1, 2, 3))]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[3] < sizes[2] / 2 < sizes[0] / 4


def test_an_attempt_that_gains_little_goes_on_at_once() -> None:
    talk: list[Message] = []
    for n in range(200):
        talk += [User(f"question {n} " * 40), Assistant(f"answer {n} " * 40)]
    assert size(reduced(tuple(talk), 1, KEEP)) < size(tuple(talk)) / 2


@pytest.mark.parametrize(
    "kind", ["results", "arguments", "many arguments", "cut off", "answers", "pictures", "summary"]
)
def test_the_last_attempt_makes_room_whatever_fills_the_window(kind: str) -> None:
    huge = "word " * 40_000
    middle: dict[str, Transcript] = {
        "results": (Assistant("", tuple(ToolCall(str(n), "p", "{}") for n in range(9))), *(Observation(str(n), "p", huge) for n in range(9))),
        "arguments": (Assistant("", (ToolCall("1", "p", json.dumps({"content": huge})),)), Observation("1", "p", "ok")),
        "many arguments": (Assistant("", (ToolCall("1", "p", json.dumps({"all": ["word"] * 40_000})),)), Observation("1", "p", "ok")),
        "cut off": (Assistant("", (ToolCall("1", "p", huge, flaw="cut off"),)), Observation("1", "p", "not run", ok=False)),
        "answers": (Assistant(huge),),
        "pictures": (User("", (PICTURE,) * 50), Assistant("I see.")),
        "summary": (User("[Summary of 9 earlier messages, a record.]\n\n" + huge, summary=True), Assistant("Yes.")),
    }  # fmt: skip
    transcript = (User("begin"), *middle[kind], User("and now?"))
    smaller = reduced(transcript, 3, KEEP)
    assert size(smaller) <= KEEP.tokens + 400
    assert sound(smaller) == ""
    assert smaller[-1] == User("and now?")
    assert not [m for m in smaller if isinstance(m, User) and not (m.text or m.images)]
    assert kind != "summary" or summary_text(summaries(smaller)[0]).startswith("word word")


def test_calls_side_by_side_that_are_too_many_stay_all_the_same() -> None:
    cut_off = ToolCall("99", "p", '{"content": "' + "word " * 9000, flaw="cut off")
    asked = (*(ToolCall(str(n), "p", "{}") for n in range(99)), cut_off)
    transcript: Transcript = (
        User("q"),
        Assistant("", asked),
        *(Observation(c.id, "p", f"{c.id} word " * 4000) for c in asked),
    )
    smaller = reduced(transcript, 3, KEEP)
    assert sound(smaller) == ""
    assert len(smaller) == len(transcript)
    assert size(smaller) < 100 * 100


def test_an_answer_that_is_going_on_stays_word_for_word_however_long_it_is() -> None:
    begun = Assistant("word " * 4_000)
    for attempt in (1, 2, 3):
        assert reduced((*work(30, 4000), User("tell me all"), begun), attempt, KEEP)[-1] == begun


def test_nothing_to_take_is_the_same_conversation() -> None:
    for transcript in ((), (User("q " * 90_000),), (Assistant("hello"), User("q"))):
        assert reduced(transcript, 3, KEEP) is transcript
    assert size(reduced((Assistant("word " * 90_000),), 1, KEEP)) < 3_000
