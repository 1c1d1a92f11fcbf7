"""A diff as HTML: every line as it stands behind its sign, whatever is in it, and never more than can be looked at."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.safe import clean
from hermes_kernel.view.kept.diffs import LONGEST, MOST, diff_html
from tests.laws.test_rendered import HOSTILE, Read


class Diff(Read):
    """A page in which spans tint lines."""

    def handle_starttag(self, tag, attrs):
        assert tag in {"pre", "span", "div"}
        assert {name for name, _ in attrs} <= {"style", "class"}
        self.open.append(tag)


LINES = st.builds(lambda sign, words: sign + words, st.sampled_from(["+", "-", " ", "@@ "]), st.sampled_from(HOSTILE))


@given(st.lists(LINES, min_size=1, max_size=6))
def test_what_is_read_is_the_diff_and_nothing_else(lines):
    diff = "\n".join(lines)
    page = diff_html(diff)
    assert Diff(page).text.rstrip("\n") == clean(diff).rstrip("\n")


def test_a_line_that_came_and_one_that_went_have_a_tint_and_their_sign():
    page = diff_html("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n same\n")
    assert page.count("color-mix") == 2
    assert ">-old</span>" in page
    assert ">+new</span>" in page
    assert "\n same\n" in page


def test_of_nothing_there_is_nothing():
    assert diff_html("") == ""


def test_what_is_very_long_is_cut_and_says_so():
    page = diff_html("+" + "x" * 1_000_000 + "\n+y" * (MOST + 500))
    assert "… 501 more lines are not shown here." in page
    assert len(page) < 200 * MOST + 2 * LONGEST
