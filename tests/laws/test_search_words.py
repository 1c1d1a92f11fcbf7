"""Text as units: whatever a person copies out of a text is found in it again."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.search.query import Query, Term
from hermes_kernel.core.search.rank import matches, needle
from hermes_kernel.core.search.words import LONGEST, WHOLE, fold, pairs, row, units

LETTERS = "abcXYZ019_ßéüłđıİǅøœΣςάйЁ中文字用りガﾊﾟ한국ไทยမြန်ខ្មែរहिन्दीعَرבּרｆｕ①½ﷺ🚀👍🏽 \n\t.,-'/:*\"\\+`{}\u0301\u0323\u200d\u00ad\u3099"
texts = st.one_of(st.text(st.sampled_from(LETTERS)), st.text())
words = st.text(st.sampled_from("abcdeXYZ01éüłøσжщ"), min_size=1, max_size=12)
han = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=30)


def found(query: str, text: str) -> bool:
    """Whether `text` has `query` as one word or phrase."""
    names = tuple(unit.text for unit in units(query))
    return bool(names) and matches(row(text)[0], Query(((Term(names),),)))


@given(texts)
def test_a_line_is_its_units_and_their_parts(text: str):
    line, length = row(text)
    told = list(units(text))
    assert length == len(told)
    stretches = line.split("\n")
    assert stretches[0].split() == [unit.text for unit in told]
    assert [stretch.split() for stretch in stretches[1:]] == [list(unit.parts) for unit in told if unit.parts]
    assert not line or line == "\n".join("".join(f" {name} " for name in stretch.split()) for stretch in stretches)


@given(texts)
def test_units_stand_where_they_say_in_order_and_apart(text: str):
    composed = unicodedata.normalize("NFC", text)
    end = 0
    for unit in units(text):
        assert end <= unit.start < unit.end <= len(composed)
        assert fold(composed[unit.start : unit.end])
        end = unit.end


@given(texts)
def test_folding_twice_is_folding_once(text: str):
    assert fold(fold(text)) == fold(text)
    assert all(fold(unit.text) == unit.text for unit in units(text))


@given(texts)
def test_a_unit_is_short_and_has_no_space_in_it(text: str):
    for unit in units(text):
        assert 0 < len(unit.text) <= LONGEST
        assert unit.text.split() == [unit.text]
        assert all(part.split() == [part] for part in unit.parts)


@given(texts)
def test_composed_or_decomposed_a_text_has_the_same_units(text: str):
    names = [unit.text for unit in units(text)]
    assert [unit.text for unit in units(unicodedata.normalize("NFD", text))] == names


@given(st.lists(words, min_size=1, max_size=8))
def test_every_word_and_every_run_of_words_is_found_in_any_case(said: list[str]):
    text = ", ".join(said)
    for start in range(len(said)):
        for end in range(start + 1, min(start + 4, len(said) + 1)):
            run = " ".join(said[start:end])
            assert found(run, text)
            assert found(run.upper(), text)
            assert found(run.swapcase(), text)


@given(st.lists(words, min_size=1, max_size=8))
def test_a_word_is_found_without_its_accents_and_an_accent_more_does_no_harm(said: list[str]):
    text = " ".join(said)
    for word in said:
        bare = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
        assert found(bare, text)
        assert found(word[0] + "\u0301" + word[1:], text)


@given(st.lists(words, min_size=1, max_size=8))
def test_every_beginning_of_a_word_finds_it(said: list[str]):
    line, _ = row(" ".join(said))
    for unit in units(" ".join(said)):
        for length in range(2, len(unit.text) + 1):
            assert needle(Term((unit.text[:length],), prefix=True)) in line


@given(han, st.data())
def test_any_stretch_of_a_script_without_spaces_is_found(text: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assert found(text[start:end], f"vor{text}nach")


@given(han, words)
def test_a_word_glued_to_a_script_without_spaces_is_found(text: str, word: str):
    assert found(word, f"{text}{word}{text}")
    assert found(f"{text[-1]}{word}{text[0]}", f"{text}{word}{text}")


@given(st.lists(st.text(st.sampled_from("abcxyz"), min_size=2, max_size=6), min_size=2, max_size=5), st.booleans())
def test_an_identifier_is_found_whole_and_in_parts_and_its_parts_side_by_side(parts: list[str], snake: bool):
    name = "_".join(parts) if snake else parts[0] + "".join(part.title() for part in parts[1:])
    text = f"x = frame.{name}(1)"
    assert found(name, text)
    assert found(name.upper() if snake else name.lower(), text)
    assert all(found(part, text) for part in parts)
    assert found(" ".join(parts[:2]), text)
    assert found(f"frame.{name}", text)


@given(texts)
def test_the_pairs_of_a_line_are_its_phrases_of_two(text: str):
    line, _ = row(text)
    names = [unit.text for unit in units(text)]
    listed = list(pairs(line))
    assert listed[: max(len(names) - 1, 0)] == [" ".join(pair) for pair in pairwise(names)]
    assert all(needle(Term(tuple(pair.split(" ")))) in line for pair in listed)


def test_what_is_data_rather_than_a_name_has_no_parts_and_counts_by_its_beginning():
    blob = "aB" * 500
    (unit,) = units(blob)
    assert unit.text == blob.lower()[:LONGEST]
    assert unit.parts == ()
    assert unit.end == len(blob)
    (name,) = units("aB" * (WHOLE // 2))
    assert name.parts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("read_csv", "read_csv | read csv"),
        ("fooBar", "foobar | foo bar"),
        ("HTTPServer2", "httpserver2 | http server2"),
        ("parseURLs", "parseurls | parse urls"),
        ("GPUs", "gpus"),
        ("Base64Decoder", "base64decoder | base64 decoder"),
        ("größeMax", "grossemax | grosse max"),
        ("__init__", "init"),
        ("_private", "private"),
        ("___", ""),
        ("5GB", "5gb"),
        ("3.14", "3 14"),
        ("/home/x/data.csv", "home x data csv"),
        ("what's", "what s"),
        ("2026-11-30T18:00:05", "2026 11 30 t 18 00 05"),
        ("使用pandas读取", "使 用 pandas 读 取"),
        ("ｶﾞｷﾞ", "ガ ギ"),
        ("ﾞ", ""),
        ("a ـ b", "a b"),
        ("か\u3099", "が"),
        ("Đà Nẵng", "da nang"),
        ("İSTANBUL ıstanbul", "istanbul istanbul"),
        ("Straße STRASSE ſ", "strasse strasse s"),
        ("Ærø smørrebrød", "aero smorrebrod"),
        ("ΟΔΟΣ οδός", "οδοσ οδοσ"),
        ("Ёлка", "елка"),
        ("ＡＢＣ１２３", "abc123"),
        ("ﬁnal", "final"),
        ("हिन्दी", "हिन्दी"),
        ("مُحَمَّد محمد", "محمد محمد"),
        ("שָׁלוֹם שלום", "שלום שלום"),
        ("Dampf\u00adschiff", "dampfschiff"),
        ("👍🏽🚀", "👍 🏽 🚀"),
        ("½ ﷺ", "12 صلىاللهعليهوسلم"),
    ],
)
def test_what_the_units_of_a_text_are(text: str, names: str):
    whole, _, parts = names.partition(" | ")
    told = list(units(text))
    assert [unit.text for unit in told] == whole.split()
    assert [part for unit in told for part in unit.parts] == parts.split()
