"""What Tab and Shift-Tab know, whatever is written: words that fit what is begun, and help on what stands there."""

from __future__ import annotations

import shlex
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.settings import RANGES
from magics.commands.every import COMMANDS
from magics.options import OPTIONS
from magics.prompt import MARK
from magics.tab.completing import Known, completed
from magics.tab.inspecting import Book, inspected

NAMES = {"df": SimpleNamespace(price=1, _hidden=2), "drows": [1], "_last": 3, "In": []}
ROWS = (SimpleNamespace(id="20260101-abcdef-000000", title="Knots and dunlins"),)
PIECES = st.lists(
    st.sampled_from(
        ["%hermes ", "%%hermes ", "--", "--skill ", "--session ", "--tools a,", "$df", ".", "[0]", "@", "/", '"', "'",
         "\n", " ", "show ", "sessions tree ", "config ", "tidy", "\x1b", "\u202e", "${", "é", "x" * 50]
    ), max_size=12,
).map("".join)  # fmt: skip

BOOK = Book(str.upper, "It asks.")


def value(expression: str) -> object:
    return NAMES[expression]


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    (folder / "report.csv").write_text("a,b\n1,2\n")
    (folder / "two words.txt").write_text("both")
    (folder / "image.bin").write_bytes(b"\0\1")
    (folder / "kept").mkdir()
    for name in ("kept.cassette.jsonl", "kept too.cassette.jsonl", "kept.jsonl", "kept/old.cassette.jsonl"):
        (folder / name).touch()
    return Known(
        NAMES, value, folder, lambda: ("tidy", "rhyme"), lambda: ROWS, lambda: ("gpt-x", "small"),
        lambda: ("python", "terminal"), lambda kind: (f"one-{kind}",),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("written", "begun", "words"),
    [
        ("%hermes sess", "sess", ("sessions",)),
        ("x = 1\n%hermes sess", "sess", ("sessions",)),
        ("%hermes sessions t", "t", ("tree",)),
        ("%hermes sessions tree Kn", "Kn", ("Knots and dunlins",)),
        ("%hermes show Knots and dunlins su", "su", ("summary",)),
        ("%hermes timeline la", "la", ("last",)),
        ("%hermes model sm", "sm", ("small",)),
        ("%hermes skill tidy pi", "pi", ("pin",)),
        ("%hermes jobs ", "", ("one-job",)),
        ("%hermes spec o", "o", ("on", "off")),
        ("%hermes record o", "o", ("on", "off")),
        ("%hermes replay d", "d", ("diff",)),
        ("%hermes replay k", "k", ("kept/", '"kept too.cassette.jsonl"', "kept.cassette.jsonl")),
        ('%hermes replay "kept t', '"kept t', ('"kept too.cassette.jsonl"',)),
        ("%hermes record kept/o", "kept/o", ("kept/old.cassette.jsonl",)),
        ("%%hermes --record o", "o", ("on",)),
        ("%%hermes --replay ", "", ("on", "kept/", '"kept too.cassette.jsonl"', "kept.cassette.jsonl")),
        ("%%hermes --replay=kept.", "kept.", ("kept.cassette.jsonl",)),
        ("%%hermes --replay kept.cassette.jsonl --replay-g", "--replay-g", ("--replay-gaps",)),
        ("%%hermes --bud", "--bud", ("--budget",)),
        ("%%hermes --budget ", "", ()),
        ("%%hermes --no-cells --model g", "g", ("gpt-x",)),
        ("%%hermes --model=g", "g", ("gpt-x",)),
        ("%%hermes --session Kn", "Kn", ()),
        ('%%hermes --session "Kn', '"Kn', ('"Knots and dunlins"',)),
        ("%%hermes --session 'Kn", "'Kn", ("'Knots and dunlins'",)),
        ("%%hermes --session ne", "ne", ("new",)),
        ("%%hermes --tools py", "py", ("python",)),
        ("%%hermes --tools python,", "", ("terminal",)),
        ("%%hermes --tools no", "no", ("none",)),
        ("%%hermes --skill ti", "ti", ("tidy",)),
        ("%%hermes --map d", "d", ("drows",)),
        ("%%hermes --schedule daily --mis", "--mis", ("--misfire",)),
        ("%%hermes --budget 3 What is $d", "d", ("df", "drows")),
        ("%%hermes\nWhat is $d", "d", ("df", "drows")),
        ("%%hermes\nWhat is $df.p", "p", ("price",)),
        ("%%hermes\nIt cost $$d", "", ()),
        ("%%hermes\n/ti", "ti", ("tidy",)),
        ("%%hermes\nthis /ti", "", ()),
        ("%%hermes\nRead @re", "re", ("report.csv",)),
        ("%%hermes\nRead @two", "two", ('"two words.txt"',)),
        ("%%hermes\nMail me@re", "", ()),
        ("%%hermesian\n$d", "", ()),
        ("print('$d", "", ()),
    ],
)
def test_what_is_begun_is_completed(known, written, begun, words):
    assert completed(written, known) == (begun, words)


def test_a_prompt_without_a_line_above_is_the_same_as_one_with_it(known):
    for prompt in ("What is $d", "/ti", "Read @re", "What is $df.p", "nothing"):
        assert completed(prompt, known, prompt=True) == completed(f"%%hermes\n{prompt}", known)


@given(PIECES, st.booleans())
def test_what_is_offered_takes_the_place_of_the_end_and_fits_it(known, written, prompt):
    begun, words = completed(written, known, prompt=prompt)
    assert written.endswith(begun)
    assert all(word.startswith((begun, f'"{begun}', f"'{begun}")) for word in words)


HOSTILE = (
    "a\nb", "a\rb", "a\u2028b", "a\x1b[31mb", "a\u202eb", "a b", "a'b", 'a"b', "a'\"b", "a(b)", "a,b", "a.", "a--b",
    "--budget", "<img src=x onerror=alert(1)>", "a\udcff",
)  # fmt: skip


@pytest.mark.parametrize("mark", ["@", '@"', "@'"])
def test_whatever_a_file_is_called_what_is_offered_names_it_and_ends_where_it_ends(tmp_path, mark):
    for name in HOSTILE:
        (tmp_path / name).write_text("it")
    there = Known(NAMES, value, tmp_path, tuple)
    begun, words = completed(f"%%hermes\nRead {mark}", there)
    read = [MARK.fullmatch(f"{mark}{word}{mark[1:]}") for word in words]
    named = {found["quoted"] or found["single"] or found["file"] for found in read if found}
    assert len(words) == len(named)
    assert named <= set(HOSTILE)
    assert named >= {"a b", "a(b)", "a,b", "a."}
    assert not begun


@pytest.mark.parametrize("option", ["--skill ", "--model ", "--session ", '--skill "', "--session '"])
def test_whatever_a_thing_is_called_it_is_one_value_of_its_option(tmp_path, option):
    rows = tuple(SimpleNamespace(id="20260101-abcdef-000000", title=each) for each in HOSTILE)
    there = Known(NAMES, value, tmp_path, lambda: HOSTILE, lambda: rows, lambda: HOSTILE)
    begun, words = completed(f"%%hermes {option}", there)
    lines = [f"%%hermes {option}".removesuffix(begun) + word for word in words]
    assert {"a b", "a(b)", "a,b"} <= {shlex.split(line)[2] for line in lines}
    assert all(len(shlex.split(line)) == 3 for line in lines)
    assert all(line.isprintable() for line in lines)


def test_names_that_hide_or_break_the_line_are_offered_nowhere(tmp_path):
    rows = tuple(SimpleNamespace(id="20260101-abcdef-000000", title=each) for each in HOSTILE)
    there = Known(NAMES, value, tmp_path, lambda: HOSTILE, lambda: rows, lambda: HOSTILE, tuple, lambda _: HOSTILE)
    for written in (
        "%hermes skill ",
        "%hermes resume ",
        "%hermes model ",
        "%hermes jobs ",
        "%hermes runs stop ",
        "%%hermes\n/",
    ):
        assert all(word.isprintable() for word in completed(written, there).words), written
    assert completed("%%hermes\n/", there).words == ("a--b", "a.")


def test_no_variable_is_asked_what_it_is(known):
    class Trap:
        @property
        def __class__(self) -> type:
            raise RuntimeError

    there = Known({**NAMES, "dtrap": Trap()}, value, known.folder, tuple)
    assert completed("%%hermes --map d", there).words == ("drows",)


@given(PIECES, st.integers(0, 60), st.booleans())
def test_whatever_stands_at_the_cursor_there_is_an_answer(known, code, cursor, prompt):
    assert isinstance(inspected(code, min(cursor, len(code)), known, BOOK, prompt=prompt), str)


def test_at_the_magic_it_says_what_it_is(known):
    assert inspected("x\n%hermes skills", 4, known, BOOK) == "It asks."
    assert inspected("%%hermes\nx", 8, known, BOOK) == "It asks."


def test_every_command_and_every_option_has_its_line(known):
    for name, command in COMMANDS.items():
        assert command.about in inspected(f"%hermes {name}", 9, known, BOOK)
    for name, option in OPTIONS.items():
        assert option.about in inspected(f"%%hermes {name} 3\nGo.", 12, known, BOOK)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("%hermes config stale_days", RANGES["stale_days"].about),
        ("%hermes help sessions", COMMANDS["sessions"].about),
        ("%hermes skill tidy", "TIDY"),
        ("%%hermes --skill tidy", "TIDY"),
        ("%%hermes\nWhat is $drows", "$drows (list), as the model is shown it:\n[1]"),
        ("%%hermes\nWhat is $nothing", ""),
        ("%%hermes\n/tidy", "TIDY"),
        ("%%hermes\nRead @report.csv", "report.csv: 8 bytes\na,b\n1,2\n"),
        ('%%hermes\nRead @"two words.txt"', "two words.txt: 4 bytes\nboth"),
        ("%%hermes\nRead @image.bin", "image.bin: 2 bytes, binary"),
        ("%%hermes\nRead @.", ".: a folder of 7 entries"),
        ("%%hermes\nRead @image.bin...", "image.bin: 2 bytes, binary"),
        ("%%hermes\nRead @./", "./: a folder of 7 entries"),
        ("x = 1\n%hermes status", COMMANDS["status"].about),
        ("%hermes nosuch", ""),
        ("print", ""),
    ],
)
def test_what_stands_at_the_end_is_told(known, code, said):
    told = inspected(code, len(code), known, BOOK)
    assert said in told if said else told == ""
