"""Markdown as HTML for widgets, where no front end stands between a model's words and the page. Pure.

Keeps true: the tags are those of Markdown and no others; an address is a link to the web or to mail, never loaded;
whatever the text, the work is bounded, and what was left out is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from hermes_kernel.core.safe import LINKS, NO_MATH, clean, escape
from hermes_kernel.core.text import scrub

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST = 100_000  # characters that are set at once
MOST = 5_000  # lines of them: a list of as many items takes a fifth of a second
DEEPEST = 20  # quotes and lists in one another; what is deeper a parser would leave out
AWAY = {"rel": "noopener noreferrer nofollow", "target": "_blank"}
NESTS = frozenset({"blockquote_open", "list_item_open"})


def markdown_html(text: str) -> str:
    """`text` as safe HTML in one element: raw HTML is shown as text, images are links, a dollar is a dollar."""
    said = scrub(clean(text))
    kept = "".join(islice(_lines(said[:LONGEST]), MOST))
    left = len(said) - len(kept)
    note = f'<div class="hermes-quiet">… {left:,} more characters are not shown here.</div>' if left else ""
    return f'<div class="hermes-markdown {NO_MATH}">{clean(_set(kept))}{note}</div>'


def _set(text: str) -> str:
    parser = _parser()
    tokens = parser.parse(text)
    if any(each.type in NESTS and each.level >= DEEPEST - 1 for each in tokens):
        return f"<pre>{escape(text)}</pre>"
    return str(parser.renderer.render(list(_harmless(tokens)), parser.options, {}))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": DEEPEST})
    parser.validateLink = _allowed  # type: ignore[method-assign]
    return parser.enable(["table", "strikethrough"])


def _allowed(url: str) -> bool:
    """`url`, already encoded, goes to the web or to mail. Anything else is no link, and stands there as written."""
    return url.lower().startswith(LINKS)


def _harmless(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        token.info = ""  # of a fence: it would become a class
        if token.children:
            token.children = list(_inline(token.children))
        yield token


def _inline(tokens: Sequence[Token]) -> Iterator[Token]:
    """Links that say nothing of where one came from, and images as links; of one within a link, its words alone."""
    inside = 0
    for token in tokens:
        if token.type in ("link_open", "link_close"):
            inside += token.nesting
        if token.type == "link_open":
            token.attrs = {"href": str(token.attrs.get("href", "")), **AWAY}
        if token.type == "image":
            yield from _pictured(token, linked=bool(inside))
        else:
            yield token


def _pictured(image: Token, *, linked: bool) -> Iterator[Token]:
    from markdown_it.token import Token

    words = Token("text", "", 0, content=f"image: {''.join(_said(image.children or ()))}".rstrip(": "))
    if linked:
        yield words
        return
    yield Token("link_open", "a", 1, attrs={"href": str(image.attrs.get("src", "")), **AWAY})
    yield words
    yield Token("link_close", "a", -1)


def _said(tokens: Sequence[Token]) -> Iterator[str]:
    """The words of an image's description, without its marks."""
    for token in tokens:
        if token.type == "image":
            yield from _said(token.children or ())
        else:
            yield " " if token.type in ("softbreak", "hardbreak") else token.content


def _lines(text: str) -> Iterator[str]:
    """Each line with its end: no other character than this one ends one in Markdown."""
    *whole, last = text.split("\n")
    yield from (f"{line}\n" for line in whole)
    yield last
