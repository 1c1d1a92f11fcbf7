"""The tree of a lineage, as laws: whatever is said of parents it ends, is bounded, and has nobody twice."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.safe import CONTROL
from hermes_kernel.view.kept.descent import ASKED, PRESENT, lines, tree_html, tree_text
from hermes_kernel.view.kept.lineage import EACH, FAR, MOST, Kin, tree, walk
from tests.laws.test_finds import HOSTILE

IDS = tuple("abcdefghij")
NAMES = st.sampled_from(IDS)
KINDS = st.sampled_from(["chat", "chat", "subagent", "map", "run", "nudge", "review", "<script>alert(1)</script>"])
KIN = st.builds(
    Kin, NAMES, st.one_of(st.just(""), NAMES, st.just("gone")), KINDS, st.one_of(st.just("Cranes"), HOSTILE),
    st.floats(0, 4e9), st.one_of(st.just(""), NAMES),
)  # fmt: skip
FAMILIES = st.lists(KIN, max_size=14, unique_by=lambda kin: kin.session)


class Elements(HTMLParser):
    """The elements of a page and what they have."""

    def __init__(self, html):
        super().__init__()
        self.found, self.given, self.open = set(), set(), []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        self.given |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@settings(deadline=None)
@given(FAMILIES, NAMES)
def test_whatever_is_said_of_parents_nobody_stands_in_it_twice_and_who_is_asked_for_does(known, asked):
    made = tree(known, asked)
    often = Counter(node.kin.session for node in walk(made.nodes))
    assert set(often.values()) == {1}
    assert asked in often
    assert made.known == tuple(known)


@settings(deadline=None)
@given(FAMILIES, NAMES)
def test_everybody_stands_below_a_parent_or_beside_whom_they_go_on_from(known, asked):
    made = tree(known, asked)
    parents = {kin.session: kin.parent for kin in known}
    for node in walk(made.nodes):
        for n, below in enumerate(node.below):
            if below.how == "goes on":
                assert parents[below.kin.session] == node.below[n - 1].kin.session
            else:
                assert parents[below.kin.session] == node.kin.session


@settings(deadline=None)
@given(FAMILIES, NAMES)
def test_children_are_named_or_counted(known, asked):
    made = tree(known, asked)
    nodes = {node.kin.session: node for node in walk(made.nodes)}
    for session, node in nodes.items():
        children = [kin.session for kin in known if kin.parent == session != kin.session]
        named = sum(child in nodes for child in children)
        assert named + sum(count for _, count in node.counts) == len(children)


@settings(deadline=None)
@given(FAMILIES, NAMES, NAMES)
def test_other_peoples_words_stay_words_on_one_line(known, asked, present):
    made = tree(known, asked, present)
    text, page = tree_text(made, "%hermes"), Elements(tree_html(made, "%hermes"))
    assert not CONTROL.search(text)
    assert len(text.splitlines()) == len(lines(made)) + 1
    assert page.found <= {"div", "ul", "li", "details", "summary", "code", "b"}
    assert page.given <= {"class", "style", "open"}
    assert page.open == []


@settings(deadline=None)
@given(FAMILIES, NAMES)
def test_the_order_in_which_they_are_told_makes_no_difference(known, asked):
    assert tree(known, asked).nodes == tree(known[::-1], asked).nodes


def test_a_conversation_among_its_relatives_reads_so():
    known = [
        Kin("first", title="", last=0, further="second"),
        Kin("second", "first", title="Cranes", last=300),
        Kin("branch", "first", title="Herons", last=100),
        Kin("helper", "branch", "subagent", "Count them", 60),
        Kin("map", title="", kind="map", parent="second", last=200),
        *(Kin(f"nudge{n}", "second", "nudge", last=400) for n in range(2)),
        Kin("review", "second", "review", last=400),
        Kin("later", "second", title="Geese", last=500),
    ]
    assert tree_text(tree(known, "branch", "later"), "%hermes") == (
        "first  compressed · 1970-01-01 00:00 UTC\n"
        "└─ branch  branch · Herons · 1970-01-01 00:01 UTC ← asked for\n"
        "   └─ helper  subagent · Count them · 1970-01-01 00:01 UTC\n"
        "second  goes on · Cranes · 1970-01-01 00:05 UTC\n"
        "├─ later  branch · Geese · 1970-01-01 00:08 UTC ← this conversation\n"
        "└─ 1 row of the map, 2 nudges, 1 review\n"
        "9 sessions, 5 of them by name. Read one with `%hermes show ID`."
    )


def test_ten_thousand_rows_of_a_map_are_one_line():
    known = [Kin("map", kind="map", title="Birds"), *(Kin(f"row{n}", "map", "map") for n in range(10_000))]
    made = tree(known, "map")
    assert [line.text for line in lines(made)] == ["map  map · Birds ← asked for", "└─ 10,000 rows of the map"]
    named = tree(known, "row77")
    assert [line.session for line in lines(named)] == ["map", "row77", ""]
    assert lines(named)[-1].text == "└─ 9,999 rows of the map"


def test_a_compressed_conversation_stands_at_one_level_however_often_it_was():
    known = [Kin(f"s{n:03}", f"s{n - 1:03}" if n else "", last=n, further=f"s{n + 1:03}") for n in range(90)]
    made = tree(known, "s089", "s089")
    assert len(made.nodes) == 90
    assert lines(made)[-1].text.endswith(PRESENT)


def test_many_branches_are_counted_behind_the_latest():
    known = [Kin("root"), *(Kin(f"b{n:04}", "root", last=n) for n in range(5_000))]
    made = tree(known, "root", "b0007")
    assert [node.kin.session for node in made.nodes[0].below] == [f"b{n:04}" for n in range(5_000 - EACH, 5_000)]
    assert made.nodes[0].counts == (("more", 5_000 - EACH),)
    there = tree(known, "b0007")
    assert there.nodes[0].below[0].kin.session == "b0007"
    assert ASKED in lines(there)[1].text


def test_a_tree_is_bounded_in_length_and_depth():
    line = [Kin(f"s{n:05}", f"s{n - 1:05}" if n else "", last=n) for n in range(20_000)]
    made = tree(line, "s10000", "s00000")
    assert made.shown == 2 * FAR + 1
    assert made.nodes[0].kin.session == f"s{10_000 - FAR:05}"
    bush = [Kin("0"), *(Kin(f"{n}", f"{(n - 1) // 9}") for n in range(1, 9_000))]
    assert tree(bush, "5").shown == MOST


def test_a_parent_that_was_deleted_still_joins_its_children():
    made = tree([Kin("a", "gone", last=0), Kin("b", "gone", last=60)], "b", "b")
    assert tree_text(made, "hermes-kernel").splitlines()[:3] == [
        "gone  deleted",
        "├─ a  branch · (no title) · 1970-01-01 00:00 UTC",
        "└─ b  branch · (no title) · 1970-01-01 00:01 UTC ← this conversation",
    ]
