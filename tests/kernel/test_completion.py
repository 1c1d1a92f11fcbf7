"""Tab and Shift-Tab in real kernels: the same in the kernel `hermes` and in a stock one, and never an error."""

from __future__ import annotations

import re

import pytest

NOTEBOOK = """
class Shy:
    touched = False
    @property
    def trap(self):
        Shy.touched = True
    def __repr__(self):
        raise SystemExit('not me')
import pandas as pd
measurements, shy = pd.DataFrame({'price': [1, 2], 'day': ['mon', 'tue']}), Shy()
open('notes.csv', 'w').write('a,b\\n1,2\\n')
open('two words.txt', 'w').write('both')
"""


@pytest.fixture(scope="module")
def there(running):
    folder = running.home / "skills" / "tidy"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: tidy\ndescription: Tidies up.\n---\n\nTidy.\n")
    assert running.run(running.python(NOTEBOOK)).status == "ok"
    return running


def completed(kernel, code: str) -> tuple[list[str], str]:
    reply = kernel.client.complete(code, reply=True, timeout=30)["content"]
    assert reply["status"] == "ok"
    return reply["matches"], code[reply["cursor_start"] : reply["cursor_end"]]


def inspected(kernel, code: str, at: int | None = None) -> str:
    reply = kernel.client.inspect(code, at, reply=True, timeout=30)["content"]
    assert reply["status"] == "ok"
    return reply["data"].get("text/plain", "")


def plain(text: str) -> str:
    """Without colours and columns."""
    return " ".join(re.sub(r"\x1b\[\d+m", "", text).split())


@pytest.mark.parametrize(
    ("code", "word", "begun"),
    [
        ("%hermes sessi", "sessions", "sessi"),
        ("%hermes sessions tr", "tree", "tr"),
        ("%%hermes --bud", "--budget", "--bud"),
        ("%%hermes --model scr", "scripted", "scr"),
        ("%%hermes --tools python,term", "terminal", "term"),
        ("%%hermes --skill ti", "tidy", "ti"),
        ("%%hermes --budget 3\nWhat is $measu", "measurements", "measu"),
        ("%%hermes\nWhat is $measurements.pri", "price", "pri"),
        ("%%hermes\nRead @not", "notes.csv", "not"),
        ("%%hermes\n/ti", "tidy", "ti"),
    ],
)
def test_tab_knows_the_same_in_every_kernel(there, code, word, begun):
    matches, replaced = completed(there, code)
    assert word in matches
    assert replaced == begun


def test_a_file_with_spaces_is_completed_in_quotes(there):
    matches, replaced = completed(there, "%%hermes\nRead @two")
    assert '"two words.txt"' in matches
    assert replaced == "two"


def test_a_prompt_in_our_own_kernel_needs_no_line_above(there):
    if there.name == "hermes":
        assert completed(there, "What is $measu") == (["measurements"], "measu")
        assert "2 rows × 2 columns" in inspected(there, "What is $measurements")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("%hermes skills", "see which skills there are"),
        ("%hermes config stale_days", "days unused after which a skill is stale"),
        ("%%hermes --budget 3\nGo.", "model calls this turn may make"),
        ("%%hermes\nWhat is $measurements", "2 rows × 2 columns"),
        ("%%hermes\nWhat is $measurements.price", "2 values of int64"),
        ("%%hermes\n/tidy", "Tidies up."),
        ("%%hermes\nRead @notes.csv", "notes.csv: 8 bytes\na,b\n1,2"),
    ],
)
def test_shift_tab_tells_what_stands_there(there, code, said):
    assert said in inspected(there, code, 14 if "--budget" in code else len(code))


def test_what_is_none_of_ours_is_inspected_as_ever(there):
    assert "Prints the values" in inspected(there, there.python("print"))
    assert "Ask an agent that works in this notebook" in inspected(there, "%hermes", 4)
    assert "Ask an agent that works in this notebook" in inspected(there, "%%hermes\nGo.", 4)


def test_nothing_of_a_persons_own_is_run_to_know_what_stands_there(there):
    assert "String form: <property object" in plain(inspected(there, "%%hermes\nWhat is $shy.trap"))
    assert completed(there, "%%hermes\nWhat is $shy.tr")[0] == ["trap"]
    if there.name == "hermes":  # where we have no word, a stock kernel asks IPython, which looks closer
        completed(there, "What is $shy.trap.a")
    assert there.value("Shy.touched") == "False"
    assert inspected(there, "%%hermes\nWhat is $shy") == "$shy (Shy) cannot be shown: SystemExit"
    assert there.value("1 + 1") == "2"


def test_tab_is_answered_whatever_a_variable_makes_of_itself(there):
    kind = (
        "class Kind(type):\n    __module__ = property(lambda cls: 1 / 0)\nclass Odd(metaclass=Kind): pass\nodd = Odd()"
    )
    assert there.run(there.python(kind)).status == "ok"
    completed(there, "%%hermes --map ")
    assert completed(there, "%%hermes\nWhat is $od")[0] == ["odd"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("%hermes skills?", "see which skills there are"),
        ("%hermes help?", "see this, or one of these"),
        ("%hermes schedule ?", "%hermes schedule"),
    ],
)
def test_a_question_mark_behind_a_command_asks_for_its_help(there, code, said):
    ran = there.run(code)
    assert ran.status == "ok", ran.error
    assert said in ran.text


@pytest.mark.parametrize("code", ["%hermes?", "%%hermes?"])
def test_a_question_mark_behind_the_magic_shows_its_help(there, code):
    ran = there.run(code)
    assert ran.status == "ok", ran.error
    assert "Ask an agent that works in this notebook" in str(ran.reply["payload"])
    assert there.run("%hermes nosuch?").error.startswith("HermesError: There is no command nosuch.")
