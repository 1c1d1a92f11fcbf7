"""What a prompt becomes before it is sent: only ``$name`` and ``@path`` mean anything, nothing is called, all is bounded."""

from __future__ import annotations

import base64

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_kernel.errors import HermesError
from magics.options import OPTIONS, parse
from magics.prompt import Prompt
from magics.values import MOST, frame, view


class Thing:
    """Has everything that can go wrong."""

    ready = "yes"
    calls = 0

    def act(self) -> None:
        Thing.calls += 1

    @property
    def broken(self) -> str:
        raise RuntimeError("no\nmore")


class Unshowable:
    def __repr__(self) -> str:
        raise ValueError("not today")


def expand(body: str, names=None, folder=None) -> str:
    return Prompt(names or {}, folder).expand(body)


@given(st.text(alphabet=st.characters(blacklist_characters="$@", blacklist_categories=("Cs",)), max_size=200))
def test_text_without_marks_is_sent_as_it_is(text):
    assert expand(text) == text.strip()


@given(st.text(alphabet="ab{}[]()%!\\ \n'\"#&<>", max_size=100))
def test_braces_and_other_signs_are_literal(text):
    assert expand(text, {"a": 1, "b": 2}) == text.strip()


@example("x" * 100_000)
@example(["x" * 1_000] * 10)
@given(
    st.recursive(
        st.integers() | st.text() | st.binary() | st.none(),
        lambda each: st.lists(each, max_size=80) | st.dictionaries(st.text(), each, max_size=80),
    )
)
def test_a_view_of_anything_is_bounded(value):
    assert len(view(value)) <= MOST + 50


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        ("$n apples", "3 apples"),
        ("$n, $n.", "3, 3."),
        ("costs $5 or US$", "costs $5 or US$"),
        ("$$n and $$$n", "$n and $3"),
        ("$thing.ready", "yes"),
        ("$rows[0]['a b']", "7"),
        ("$rows[-1]", "{'a b': 7}"),
        ("$größe", "12"),
        ("mail me@home.org", "mail me@home.org"),
        ("@nobody is no file", "@nobody is no file"),
        ("@@notes.txt", "@notes.txt"),
        ("```\n$undefined @missing.txt\n```", "```\n$undefined @missing.txt\n```"),
        ("$n ``` $n", "3 ``` 3"),
    ],
)
def test_marks_are_replaced_where_they_stand(body, sent, tmp_path):
    names = {"n": 3, "thing": Thing(), "rows": [{"a b": 7}], "größe": 12}
    assert expand(body, names, tmp_path) == sent


def test_nothing_is_called(tmp_path):
    sent = expand("$thing.act()", {"thing": Thing()}, tmp_path)
    assert sent.startswith(("<bound method", "`thing.act`()"))
    assert Thing.calls == 0


class Leaving:
    def __repr__(self):
        raise SystemExit(3)

    @property
    def away(self):
        raise SystemExit(4)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("$nope", "There is no variable $nope. ($$ is a literal dollar.)"),
        ("$thign", "There is no variable $thign. Did you mean $thing? ($$ is a literal dollar.)"),
        ("$thing.raedy", "$thing has no attribute raedy. Did you mean ready?"),
        ("$thing.broken", "$thing.broken cannot be read: RuntimeError: no more."),
        ("$rows[9]", "$rows[9] cannot be read: IndexError: list index out of range."),
        ("$odd", "$odd cannot be shown: ValueError: not today."),
        ("$gone", "$gone cannot be shown: SystemExit: 3."),
        ("$gone.away", "$gone.away cannot be read: SystemExit: 4."),
    ],
)
def test_a_variable_that_cannot_be_shown_is_named(body, said, tmp_path):
    with pytest.raises(HermesError) as raised:
        expand(body, {"thing": Thing(), "rows": [], "odd": Unshowable(), "gone": Leaving()}, tmp_path)
    assert str(raised.value) == said


def test_a_table_is_told_by_shape_types_and_first_rows(tmp_path):
    frame = pd.DataFrame({"month": ["Jan", "Feb"] * 500, "ducks": range(1000)})
    sent = expand("Describe $df.", {"df": frame}, tmp_path)
    assert sent.startswith("Describe `df`.\n\ndf (pandas.DataFrame):\n1,000 rows × 2 columns\ncolumns:\n  month: ")
    assert "  ducks: int64" in sent
    assert len(sent) < 600


def test_a_wide_table_and_a_large_array_are_bounded():
    assert len(view(pd.DataFrame(np.zeros((10, 500))))) <= MOST + 50
    assert view(np.zeros((1000, 1000))).startswith("array of shape (1000, 1000), float64")
    assert view(pd.Series(range(10_000), name="n")).startswith("10,000 values of int64, name 'n'")


def test_a_frame_of_a_kind_of_its_own_is_looked_at_as_a_frame():
    class Places(pd.DataFrame):
        pass

    places = Places({"city": ["Bern"] * 1000})
    assert frame(places)
    assert view(places).startswith("1,000 rows × 1 columns\ncolumns:\n  city: ")


def test_files_folders_and_pictures_go_with_the_prompt(tmp_path):
    (tmp_path / "notes.txt").write_text("buy milk")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "b.csv").write_text("x")
    picture = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    (tmp_path / "two words.png").write_bytes(picture)
    prompt = Prompt({}, tmp_path)
    sent = prompt.expand("Read @notes.txt, look into @data/ and at @'two words.png'.")
    assert sent.startswith("Read `notes.txt`, look into `data/` and at `two words.png` (image 1).")
    assert "notes.txt (file):\nbuy milk" in sent
    assert "data/ (folder):\nb.csv" in sent
    assert prompt.images[0].mime == "image/png"
    assert base64.b64decode(prompt.images[0].data) == picture


@pytest.mark.parametrize(
    ("body", "named", "folder", "ends"),
    [
        ("@..", "..", ".", ""),
        ("@..?", "..", ".", "?"),
        ("@...", "..", ".", "."),
        ("@../", "../", ".", ""),
        ("@../.", "../", ".", "."),
        ("@../..", "../..", "..", ""),
        ("@../../up/..", "../../up/..", "..", ""),
        ("@.", ".", "here", ""),
        ("@./", "./", "here", ""),
        ("@sub", "sub", "here/sub", ""),
        ("@sub...", "sub", "here/sub", "..."),
        ("@sub/.", "sub/", "here/sub", "."),
        ("@sub/..", "sub/..", "here", ""),
    ],
)
def test_dots_that_name_a_folder_do_not_end_a_sentence(body, named, folder, ends, tmp_path):
    (tmp_path / "up" / "here" / "sub").mkdir(parents=True)
    (tmp_path / "up" / "outside.txt").touch()
    listed = "\n".join(sorted(each.name for each in (tmp_path / "up" / folder).iterdir()))
    assert expand(body, {}, tmp_path / "up" / "here") == f"`{named}`{ends}\n\n{named} (folder):\n{listed}"


def test_a_large_or_a_binary_file_is_bounded(tmp_path):
    (tmp_path / "big.txt").write_text("word " * 200_000)
    (tmp_path / "raw.bin").write_bytes(bytes(range(256)) * 100)
    sent = expand("@big.txt @raw.bin", {}, tmp_path)
    assert len(sent) < 101_000
    assert "the file has 1,000,000 bytes in all" in sent
    assert "[a binary file of 25,600 bytes]" in sent


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("@missing.txt", "There is no file missing.txt in"),
        ("@'no such'", "There is no file no such in"),
        ("@~nobody-at-all/x", "~nobody-at-all/x cannot be read: RuntimeError"),
        ("@" + "long" * 1000, "longlong.*… cannot be read: OSError"),
    ],
)
def test_a_file_that_is_not_there_is_named(body, said, tmp_path):
    with pytest.raises(HermesError, match=said):
        expand(body, {}, tmp_path)


def test_a_prompt_without_end_is_refused_by_its_size():
    with pytest.raises(HermesError, match="30,000,000 characters; 20,000,000 is the limit"):
        expand("x" * 30_000_000)


def test_options_end_where_the_prompt_begins():
    read = parse("--model 'my model' --tools a,b --timeout=1.5 --no-cells --skill x --skill y tell me --all")
    assert (read.model, read.tools, read.timeout, read.cells, read.skills) == (
        "my model",
        ("a", "b"),
        1.5,
        False,
        ("x", "y"),
    )
    assert read.words == "tell me --all"
    read = parse("--record 'my week.jsonl' --replay=on --replay-gaps --replay-tools on")
    assert (read.record, read.replay, read.replay_gaps, read.replay_tools) == ("my week.jsonl", "on", True, True)
    assert read.words == "on"
    assert parse("--tools none").tools == ()
    assert parse("").tools is None


@given(st.sampled_from(sorted(OPTIONS)), st.text(max_size=20))
def test_an_option_is_read_or_refused_by_its_name(name, rest):
    try:
        parse(f"{name} {rest}")
    except HermesError as error:
        assert "\n" not in str(error) or "\n" in rest
