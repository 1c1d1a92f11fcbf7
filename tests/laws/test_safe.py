"""What a model's Markdown may not do to a page, where `test_view` does not look: an escape stays one."""

from __future__ import annotations

import pytest

from hermes_kernel.core.safe import sanitise


@pytest.mark.parametrize("text", [r"a \` b", r"C:\\dir", r"\\\` twice"])
def test_a_backslash_before_a_mark_stays_as_it_is_written(text: str) -> None:
    assert sanitise(text) == text


def test_a_backtick_that_is_escaped_opens_no_code() -> None:
    assert "<b>" not in sanitise(r"\`<b>`")


def test_code_with_a_tag_in_it_holds_no_link_no_image_and_no_emphasis() -> None:
    shown = sanitise("`<b> [x](javascript:a) ![i](http://e/x.png) **b**`")
    assert shown == (
        "<code>&lt;b&gt; &#91;x&#93;(javascript:a) !&#91;i&#93;(http://e/x.png) &#42;&#42;b&#42;&#42;</code>"
    )


@pytest.mark.parametrize(
    "formula",
    ["$$x^2$$", "a $$x$$ b", "$$\nx = 1\n$$", "\\\\[x\\\\]", "\\begin{align}\nx\n\\end{align}", "$x$ and $y$"],
)
def test_a_formula_that_ends_stays_one(formula):
    assert sanitise(formula) == formula


@pytest.mark.no_cover
def test_what_begins_a_formula_without_an_end_is_seen_through_in_linear_time():
    for hostile in ("$$ ", "\\\\[", "\\begin{a}", "$$a", "$$\n> "):
        assert sanitise(hostile * 100_000)
