"""A model's words made harmless for every renderer: raw HTML is shown as text, links are plain, nothing is loaded.

Notebook front ends run HTML in the Markdown of a trusted cell, scripts included, and each parses Markdown its own way;
so code is passed on as code only where all of them agree that it is code.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

LINKS = ("http://", "https://", "mailto:")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
TAG = re.compile(r"<(?=[A-Za-z/!?])")
ACTIVE = re.compile(r"[\\`*_\[\]~$]")
PRICE = (
    "\0"  # a dollar that is none of a formula's, until the marks are made; no such character is left in what is shown
)
DOLLARS = re.compile(
    r"\\[\\`]"
    r"|(?<!`)(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`)"
    r"|\]\(\s*<?[^\s<>)]*"
    r"|(?:https?://|mailto:)\S*"
    r"|\$\$[^$]+\$\$|\$\$"
    r"|(?<!\\)\$(?![\s$])(?:(?!\]\()[^$\n`])*(?<![\s\\])\$(?!\d)"
    r"|(?P<dollar>\\?\$)"
)
FORMULA = re.compile(r"(?<!\\)\$\$|\\\\\[|\\begin\{([a-z]*\*?)\}")
"""What begins a formula that may go on over lines and, where nothing ends it, over whatever else is in the document."""
LONGEST = 4_000  # characters of a formula
BROKEN = re.compile(r"\n(?:[ \t]*(?:\n|[>#|=`~*+-]|\d+[.)])|[ ]{4}|\t)")
"""A line by which a paragraph ends: a renderer may see only a part of a formula that goes on behind it."""
FENCE = re.compile(r"^([ \t]*)(`{3,}(?=[^`\n]*$)|~{3,})(.*)$")
MARKS = re.compile(
    r"\\[\\`]"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?P<code>[^\n]*?)(?<!`)(?P=ticks)(?!`)"
    r"|<(?P<auto>(?:https?://|mailto:)[^\s<>]+)>"
    r"|\\?(?P<tag><(?=[A-Za-z/!?]))"
    r"|(?P<image>!\[)"
    r"|(?P<link>\]\()(?=(?P<target>\s*<?[^\s<>)]{0,200}))"
    r"|(?P<define>^[ \t>*+\-\d.)]*\[)(?=(?:[^\]\\]|\\.){1,999}+\]:)",
    re.MULTILINE,
)


DOLLAR = "<span>&#36;</span>"
NO_MATH = "tex2jax_ignore mathjax_ignore"
"""Classes of HTML in which a dollar is a dollar: notebooks set whatever stands between two of them as mathematics."""


def escape(text: str) -> str:
    """`text` for HTML, between tags and inside a quoted attribute alike."""
    return html.escape(clean(text), quote=True)


def clean(text: str) -> str:
    """`text` without control characters, which move cursors, recolour terminals, reverse text. Lines and tabs stay."""
    return CONTROL.sub("", text)


def inert(text: str) -> str:
    """`text` for a line of Markdown: every mark and tag in it is a mere character. A dollar has an element of its own,
    for mathematics is looked for once the page is made, and never across elements."""
    return ACTIVE.sub(_character, html.escape(clean(text), quote=False))


def _character(found: re.Match[str]) -> str:
    return DOLLAR if found[0] == "$" else f"&#{ord(found[0])};"


def sanitise(markdown: str) -> str:
    """`markdown` as it may be shown: the same words, the same code, no HTML but ours, links to the web and mail only.

    Images become links, for loading one tells its server who reads. Fences left open are closed. Of two prices on a
    line notebooks make a formula; here a formula is what Pandoc takes for one.
    """
    done: list[str] = []
    prose: list[str] = []
    lines = iter(clean(markdown).split("\n"))
    for line in lines:
        opening = FENCE.match(line)
        if opening is None:
            prose.append(line)
            continue
        done += [*_prose(prose), *_code(opening, lines)]
        prose = []
    return "\n".join([*done, *_prose(prose)])


def _prose(lines: list[str]) -> list[str]:
    if not lines:
        return []
    text = "\n".join(lines)
    if text.count("$") > 1:
        text = DOLLARS.sub(lambda found: PRICE if found["dollar"] else found[0], text)
    return [_whole(MARKS.sub(_mark, text)).replace(PRICE, DOLLAR)]


def _whole(text: str) -> str:
    """`text` in which every formula that is begun is ended, in one paragraph. What begins another is a mere character:
    nbconvert looks for its end even in the code below, and takes what follows that for Markdown."""
    done: list[str] = []
    at = 0
    while found := FORMULA.search(text, at):
        end = _end(text, found)
        done += [text[at : found.start()], inert(found[0]) if end < 0 else text[found.start() : end]]
        at = end if end >= 0 else found.end()
    return "".join([*done, text[at:]])


def _end(text: str, begun: re.Match[str]) -> int:
    """Where the formula ends, or -1."""
    closing = {"$$": "$$", r"\\[": r"\\]"}.get(begun[0], rf"\end{{{begun[1]}}}")
    closes = text.find(closing, begun.end(), begun.end() + LONGEST)
    if closes < 0 or text[closes - 1] == "\\":
        return -1
    over = closes + len(closing)
    if "\n" not in text[begun.start() : closes]:
        return over
    indent = text[text.rfind("\n", 0, begun.start()) + 1 : begun.start()]
    broken = len(indent) > 3 or indent.strip() or BROKEN.search(text, begun.start(), closes + 1)
    return -1 if broken else over


def _mark(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "code" | "ticks":
            return _span(found[0], found["code"])
        case "auto":
            return found["auto"]
        case "tag":
            return "&lt;"
        case "image":
            return "image: ["
        case "link" | "target":
            return "](" if _allowed(found["target"]) else "]\\("
        case "define":
            return found["define"].replace("[", "\\[")
    return found[0]


def _span(whole: str, code: str) -> str:
    """A code span; as our own HTML where it holds a tag or begins a formula, because renderers disagree on what ends a
    span. Markdown goes on within that, so its marks are written as mere characters."""
    return f"<code>{inert(code.strip())}</code>" if TAG.search(code) or FORMULA.search(code) else whole


def _allowed(target: str) -> bool:
    """A link's destination as a browser would read it goes to the web or to mail."""
    plain = re.sub(r"[\s<\\]", "", html.unescape(target)).lower()
    return plain.startswith(LINKS)


def _code(opening: re.Match[str], lines: Iterator[str]) -> list[str]:
    """The lines of a fence, its end added where it is missing."""
    indent, fence, info = opening.groups()
    body: list[str] = []
    for line in lines:
        words = line.strip()
        if words.startswith(fence) and not words.strip(fence[0]):
            break
        body.append(line)
    if not indent or not TAG.search("\n".join(body)):
        return [indent + fence + info.replace("<", ""), *body, indent + fence]
    first, *rest = (html.escape(line, quote=False) for line in body)
    return [f"{indent}<pre><code>{first.strip()}", *rest, f"{indent}</code></pre>"]
