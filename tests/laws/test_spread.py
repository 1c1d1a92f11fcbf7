"""Facts side by side: all of them are there, as words, whoever wrote them."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.view import clean
from hermes_kernel.view.kept.spread import columns, grid, heading, spread, thing

TEXT = st.text(st.one_of(st.sampled_from("<>&\"'\u202e\x1b"), st.characters(codec="utf-8")), max_size=40)
FACTS = st.lists(st.tuples(TEXT, TEXT), max_size=4)


class Read(HTMLParser):
    """The words on a page, and the elements there are."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words, self.tags, self.open = "", set(), 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open += 1
        assert {name for name, _ in attrs} <= {"style", "class", "aria-hidden"}

    def handle_endtag(self, tag):
        self.open -= 1

    def handle_data(self, data):
        self.words += data


@given(TEXT, TEXT, FACTS, st.sampled_from(["", "bad", "slow"]))
def test_every_fact_is_there_as_words(name, beside, facts, tone):
    read = Read(spread([thing(name, beside, facts, tone)]))
    assert read.open == 0
    assert read.tags <= {"div", "strong", "span"}
    for said in (name, beside, *(fact for _, fact in facts)):
        assert clean(said).replace("\r", "") in read.words.replace("\r", "")


def test_what_says_nothing_takes_no_room():
    assert grid([("name", "")]) == ""
    assert ">due<" not in grid([("due", ""), ("", "now")])
    assert "●" in heading("a", "b", "bad")
    assert "●" not in heading("a", "b")


def test_columns_are_as_wide_as_they_are_told_and_wrap():
    made = columns(("<b>x</b>", "0 0 9em"), ("", "1 1 15em"))
    assert made.count("<div") == 3
    assert "flex:0 0 9em" in made
    assert "flex-wrap:wrap" in made
