"""Markdown that becomes HTML in a page with nothing in between: whatever it says, only what Markdown is comes of it."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.core.safe import CONTROL
from hermes_kernel.view.rendered import LONGEST, markdown_html

TAGS = {
    "a", "blockquote", "br", "code", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
VALUES = {
    ("a", "href"): r"(?i:https?://|mailto:).*",
    ("a", "rel"): r"noopener noreferrer nofollow",
    ("a", "target"): r"_blank",
    ("div", "class"): r"hermes-markdown tex2jax_ignore mathjax_ignore|hermes-quiet",
    ("ol", "start"): r"\d+",
    ("td", "style"): r"text-align:(?:left|right|center)",
    ("th", "style"): r"text-align:(?:left|right|center)",
}
EMPTY = {"br", "hr"}

HOSTILE = [
    "<script>canary()</script>", "<SCRIPT SRC=http://e/x.js></SCRIPT>", "<img src=x onerror=canary()>",
    "<svg onload=canary()>", "<svg><script>canary()</script></svg>", "<math><mtext><img src=x onerror=canary()>",
    "<iframe src=javascript:canary()>", "<body onload=canary()>", "<a href=javascript:canary()>x</a>",
    "<style>*{display:none}</style>", "<link rel=stylesheet href=http://e/x.css>", "<base href=http://e/>",
    "<meta http-equiv=refresh content='0;http://e'>", "<form action=http://e><input name=a></form>",
    "<object data=http://e/x>", "<embed src=http://e/x>", "<video src=http://e/x onerror=canary()>", "<!-- x -->",
    "<![CDATA[<img src=x>]]>", "<?php x ?>", "<!DOCTYPE html>", "</div></div><h1>out</h1>", "<div style=position:fixed>",
    "[x](javascript:canary())", "[x](JaVaScRiPt:canary())", "[x](java\nscript:canary())", "[x](java&#10;script:canary())",
    "[x](&#106;avascript:canary())", "[x](\x01javascript:canary())", "[x](%20javascript:canary())",
    "[x](data:text/html,<script>canary()</script>)", "[x](vbscript:canary())", "[x](file:///etc/passwd)",
    "[x](blob:http://e/1)", "[x](//e/x)", "[x](/lab?reset)", "[x](#a)", "[x](\\javascript:canary())",
    '[x](http://e/"onclick="canary())', "[x](http://e 'a\" onmouseover=\"canary()')", "[x](<javascript:canary()>)",
    "[x][1]\n\n[1]: javascript:canary()", "[x][1]\n\n[1]: http://e \"t' onclick='canary()\"", "<javascript:canary()>",
    "<http://e/<script>>", "![x](http://e/x.png)", "![x](data:image/svg+xml,<svg/onload=canary()>)",
    "![<img src=x>](http://e)", '!["onerror=canary()](http://e)', "[![a](http://e/i)](http://e/l)",
    "![![[a](http://e)](http://f)](http://g)", "```js onload=canary()\n<img src=x>\n```", '~~~"><script>\nx', "`<b>`",
    "``` ` <script>", "    <script>x</script>", "| <script> | [x](javascript:a) |\n|:--|--:|\n| <b> | `|` |",
    "&lt;script&gt;canary()&lt;/script&gt;", "&#60;script&#62;canary()", "a\u202egnp.exe", "&#x202e;gnp.exe", "&#8238;x",
    "\x1b[31mred\x1b]0;title\x07", "\x9b31m", "\x00<script>", "&#0;&#x1b;[0m", "\ud800<b>\udfff", "$$\\href{javascript:a}{x}$$",
    "\\(\\require{html}\\style{x}{y}\\)", "# <script>\n\n***\n\n> <b>", "1234567890. a", "-1. a", "<!--[if IE]><script></script>",
    "<scr<script>ipt>", "<a/onclick=canary()//href=x>", "<x onclick=canary()>", "\u2028<script>\u2029", "{{constructor}}",
]  # fmt: skip

SAMPLE = 8_000  # characters of a text whose steps are counted
BOUNDED = {
    "a megabyte on a line": "word " * 200_000,
    "brackets": "[" * 10_000,
    "links that are not closed": "[a](b" * 10_000,
    "links that are": "[a](http://b) " * 100_000,
    "images": "![" * 10_000,
    "quotes": ">" * 10_000 + "a",
    "quotes, deeper by the line": "\n".join(">" * deep for deep in range(1_000)),
    "a list": "- x\n" * 100_000,
    "lists in lists": "\n".join(f"{'  ' * deep}- x" for deep in range(1_000)),
    "items on a line": "* " * 10_000 + "a",
    "emphasis": "*a **b _c " * 50_000,
    "stars": "*" * 100_000,
    "ticks": "".join("`" * many + "a" for many in range(600)),
    "tags": "<a " * 100_000,
    "declarations": "<![CDATA[" * 5_000,
    "entities": "&amp;" * 100_000,
    "names of links": "[a]: http://x\n" * 20_000 + "[a] " * 20_000,
    "a wide table of short rows": "|" + "a|" * 2_000 + "\n|" + "-|" * 2_000 + "\n" + "|\n" * 1_000,
    "prices": "$1 " * 100_000,
    "lines of a paragraph": "a\n" * 100_000,
    "fences": "```\n" * 100_000,
}


class Read(HTMLParser):
    """The elements of a page as a browser sees them: none that is not allowed, each one closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.links: list[str] = []
        self.open: list[str] = []
        self.deepest_link = 0
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS, tag
        for name, value in attrs:
            assert re.fullmatch(VALUES[tag, name], value, re.DOTALL), (tag, name, value)
        if tag not in EMPTY:
            self.open.append(tag)
        if tag == "a":
            self.links.append(dict(attrs)["href"])
            assert dict(attrs).keys() == {"href", "rel", "target"}
            assert self.open.count("a") == 1

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_hostile_text_is_more_than_words(text):
    page = markdown_html(text)
    Read(page)
    assert not CONTROL.search(page)
    page.encode()


PIECES = st.sampled_from(
    [
        *HOSTILE,
        "\n",
        "\n\n",
        "> ",
        "- ",
        "1. ",
        "| a | b |\n|--|--|\n",
        "[",
        "](",
        ")",
        "`",
        "**",
        "words",
        "<",
        ">",
        '"',
        "'",
        "=",
    ]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=12).map("".join))
def test_nor_is_anything_of_several_together(text):
    page = markdown_html(text)
    Read(page)
    assert not CONTROL.search(page)


@given(st.text(alphabet="abc<>&\"'`*_[]()$", min_size=1))
def test_words_stay_the_words_they_were(text):
    assert Read(markdown_html(f"~~~\n{text}\n~~~")).text == f"{text}\n\n"


def test_what_markdown_is_for_is_there():
    page = markdown_html("# Title\n\n*a* **b** `c` ~~d~~\n\n- one\n- two\n\n3. three\n\n> said\n\n```py\nx < 1\n```\n")
    for piece in (
        "<h1>Title</h1>", "<em>a</em> <strong>b</strong> <code>c</code> <s>d</s>", "<li>one</li>", '<ol start="3">',
        "<blockquote>", "<pre><code>x &lt; 1\n</code></pre>",
    ):  # fmt: skip
        assert piece in page


def test_a_table_keeps_its_columns_on_their_sides():
    page = markdown_html("| name | n |\n|:--|--:|\n| a | 1 |")
    assert '<th style="text-align:left">name</th>' in page
    assert '<td style="text-align:right">1</td>' in page


def test_a_link_to_the_web_or_to_mail_is_one_and_tells_nobody_where_it_was_found():
    read = Read(markdown_html('[a](https://x.org/a?b=1&c=2) [b](mailto:a@x.org) <http://x.org> [c](HTTP://X.ORG "t")'))
    assert read.links == ["https://x.org/a?b=1&c=2", "mailto:a@x.org", "http://x.org", "HTTP://X.ORG"]


@pytest.mark.parametrize("target", ["javascript:a", "data:text/html,x", "//e/x", "/lab", "notes.md", "%20http://e"])
def test_any_other_stands_there_as_it_was_written(target):
    read = Read(markdown_html(f"see [this]({target})"))
    assert read.links == []
    assert read.text.strip() == f"see [this]({target})"


def test_an_address_in_the_text_is_no_link_of_itself():
    assert Read(markdown_html("see http://x.org or x.org")).links == []


def test_an_image_is_a_link_that_says_what_it_would_show():
    read = Read(markdown_html("![a *small* `plot`](https://x.org/p.png)"))
    assert read.links == ["https://x.org/p.png"]
    assert read.text.strip() == "image: a small plot"


def test_an_image_without_words_says_that_it_is_one():
    assert Read(markdown_html("![](https://x.org/p.png)")).text.strip() == "image"


def test_within_a_link_an_image_is_its_words_and_the_link_stays_where_it_goes():
    read = Read(markdown_html("[![state](https://x.org/b.svg)](https://x.org/ci)"))
    assert (read.links, read.text.strip()) == (["https://x.org/ci"], "image: state")


def test_two_prices_are_no_formula():
    assert 'class="hermes-markdown tex2jax_ignore mathjax_ignore"' in markdown_html("from $5 to $6")


@pytest.mark.no_cover
@pytest.mark.parametrize("name", BOUNDED)
def test_the_work_is_bounded_whatever_the_text(name):
    text = BOUNDED[name]
    assert steps(text[:SAMPLE]) < 300 * SAMPLE
    page = markdown_html(text)
    assert len(page) < 8 * LONGEST
    Read(page)


def steps(text: str) -> int:
    """Functions that are called until it is rendered: the same on every machine, and four times as many for a text
    twice as long where the work grows with the square of it."""
    count = 0

    def called(_frame: object, event: str, _what: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(called)
    try:
        markdown_html(text)
    finally:
        sys.setprofile(None)
    return count


def test_what_is_left_out_is_said():
    read = Read(markdown_html("word " * 200_000))
    assert read.text.rstrip().endswith("… 900,000 more characters are not shown here.")
    assert (
        Read(markdown_html("- x\n" * 100_000)).text.rstrip().endswith("… 380,000 more characters are not shown here.")
    )


def test_nothing_is_left_out_because_it_is_too_deep():
    deep = "\n".join(f"{'  ' * each}- level {each}" for each in range(40))
    assert "level 39" in Read(markdown_html(deep)).text
    assert "end" in Read(markdown_html(">" * 500 + "end")).text
