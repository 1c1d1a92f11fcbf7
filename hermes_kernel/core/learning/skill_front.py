"""The head of a SKILL.md: its name, description and tags, read from a part of YAML that cannot grow when it is read.

Anchors, aliases, tags and merged keys are refused by name, wherever they stand. What else is not understood is for a
full reader to say. Knows nothing of folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LARGEST = 20_000
"""Characters of a head; the original reads the first 4,000 of the file, and the largest it came with has 1,100."""
DESCRIPTION = 1_024
"""Characters of a description that count: the standard's limit."""
TAGS = 20

KEY = re.compile(r"""(?P<quote>["']?)(?P<key>[^\W\d][\w.-]*)(?P=quote)[ \t]*:(?:[ \t]+(?P<value>.*))?$""")
BEGIN = re.compile(r"---[ \t]*\n")
END = re.compile(r"\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
BLOCK = re.compile(r"[|>][-+0-9]{0,2}[ \t]*(?:#.*)?$")
COMMENT = re.compile(r"(?:^|[ \t]+)#.*")
SIGN = re.compile(r"[&*!](?!\s|$)|<<[ \t]*:|\?(?:\s|$)")
FLOWING = re.compile(r"""(?:^|[\[{,:])[ \t]*[&*!](?=[\w!<"'])|<<[ \t]*:""")
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\n[ \t]*)|(.))", re.DOTALL)
ESCAPED = {
    "n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "a": "\a", "b": "\b", "v": "\v", "f": "\f", "_": "\xa0",
    "N": "\x85", "L": "\u2028", "P": "\u2029", " ": " ", '"': '"', "/": "/", "\\": "\\",
}  # fmt: skip
SIGNS = frozenset("&*!<?")
KINDS = {"&": "an anchor", "*": "an alias", "!": "a tag", "<": "a merged key", "?": "a key that is no word"}


class Refused(ValueError):
    """The head has what no skill needs and what can be made to grow; one line says what and where."""


class Unread(ValueError):
    """The head is more than is understood here."""


@dataclass(frozen=True, slots=True)
class Front:
    """What a SKILL.md says of itself. ``name`` and ``description`` are one line each, "" where it does not say;
    ``body`` is what stands below the head."""

    name: str
    description: str
    tags: tuple[str, ...]
    body: str


def front(text: str) -> Front:
    """The head of `text`, and its body; where there is no head all is body.

    Raises:
        Refused: the head has no end, is huge, or has anchors, aliases, tags or merged keys.
        Unread: what it says of name or description is none of the forms known here.
    """
    head, body = parted(text)
    lines = head.split("\n")
    forbidden(lines)
    blocks = _blocks(lines)
    name, described = (_scalar(blocks[key]) if key in blocks else "" for key in ("name", "description"))
    return Front(name, described[:DESCRIPTION], _tags(lines), body)


def parted(text: str) -> tuple[str, str]:
    """The lines of a head without the ``---`` around them, and what stands below.

    Raises:
        Refused: it begins and does not end, or is huge.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    begun = BEGIN.match(text)
    if begun is None:
        return "", text
    found = END.search(text, begun.end() - 1, begun.end() + LARGEST + 5)
    if found is None:
        huge = len(text) > LARGEST
        raise Refused(f"its head has more than {LARGEST:,} characters" if huge else "no line --- ends its head")
    return text[begun.end() : found.start()], text[found.end() :]


def forbidden(lines: Sequence[str]) -> None:
    """Refuse what makes one node of YAML stand for another or for a program's object. Quoted text, blocks of text and
    what goes on over lines is only text.

    Raises:
        Refused: the first that there is, with its line.
    """
    if not SIGNS.intersection("".join(lines)):
        return
    above, flowing = -1, False
    for number, line in enumerate(lines, 2):  # the first line of the file is ``---``
        text = line.lstrip(" \t-")
        if not text or text[0] == "#":
            continue
        indent = len(line) - len(text)
        if 0 <= above < indent:
            if flowing:
                _no(FLOWING.search(text), number)
            continue
        found = KEY.match(text)
        value = (found["value"] or "") if found else text
        _no(SIGN.match(value) or SIGN.match(text), number)
        above, flowing = (indent, value[0] in "[{") if value else (-1, False)
        if flowing:
            _no(FLOWING.search(value), number)


def first_line(body: str) -> str:
    """What may stand for a description that is not there: the first line of prose, or else the first heading."""
    lines = [" ".join(line.split()) for line in body.split("\n", 200)[:200]]
    prose = (line for line in lines if line and line[0] not in "#`-=|>")
    return next(prose, next((line.lstrip("# ") for line in lines if line.strip("# ")), ""))[:DESCRIPTION]


def _no(found: re.Match[str] | None, line: int) -> None:
    if found:
        sign = found[0].lstrip("[{,: \t")[:1]
        raise Refused(f"line {line} of its head has {KINDS[sign]} of YAML ({sign}), which no skill may have")


def _blocks(lines: Sequence[str]) -> dict[str, list[str]]:
    """The lines of each key of the first level: its value, then what is indented below."""
    blocks: dict[str, list[str]] = {}
    at: list[str] | None = None
    for line in lines:
        if not line.strip() or line[0] in " \t-":
            if at is not None:
                at.append(line)
            continue
        if line[0] == "#":
            continue
        found = KEY.match(line)
        if found is None or found["key"] in blocks:
            raise Unread(line[:80])
        at = blocks[found["key"]] = [found["value"] or ""]
    return blocks


def _scalar(lines: Sequence[str]) -> str:
    """A text in any of the ways in which YAML writes one, as one line."""
    value = lines[0].strip()
    if BLOCK.match(value):
        return _line("\n".join(lines[1:]))
    if value[:1] in ('"', "'"):
        return _line(_quoted("\n".join([value, *lines[1:]]).strip()))
    bare = [COMMENT.sub("", line).strip() for line in lines]
    text = _line("\n".join(bare))
    first = next((line for line in bare if line), "")
    if first[:1] in ("[", "{") or first.startswith("- ") or (not bare[0] and KEY.match(first)):
        raise Unread(first[:80])
    return "" if text in ("~", "null") else text


def _quoted(text: str) -> str:
    if text[0] == "'":
        found = re.fullmatch(r"'((?:[^']|'')*+)'\s*(?:#[^\n]*)?", text)
        if found is None:
            raise Unread(text[:80])
        return found[1].replace("''", "'")
    found = re.fullmatch(r'"((?:[^"\\]|\\.)*+)"\s*(?:#[^\n]*)?', text, re.DOTALL)
    if found is None:
        raise Unread(text[:80])
    return ESCAPE.sub(_unescaped, found[1])


def _unescaped(found: re.Match[str]) -> str:
    digits = found[1] or found[2] or found[3]
    if digits:
        number = int(digits, 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    if found[4]:
        return ""
    if found[5] not in ESCAPED:
        raise Unread(found[0])
    return ESCAPED[found[5]]


def _line(text: str) -> str:
    return " ".join(text.split())


def _tags(lines: Sequence[str]) -> tuple[str, ...]:
    """The words of the first ``tags:`` there is, at the first level or within ``metadata``: a list in either form, or
    one text with commas."""
    for number, line in enumerate(lines):
        found = KEY.match(line.strip())
        if found and found["key"] == "tags":
            value = COMMENT.sub("", found["value"] or "").strip()
            listed = value.strip("[]").split(",") if value else _items(lines[number + 1 :])
            words = (_line(each.strip(" \t\"'")) for each in listed)
            return tuple(word[:64] for word in words if word)[:TAGS]
    return ()


def _items(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        text = line.strip()
        if not text.startswith("- "):
            return
        yield COMMENT.sub("", text[2:])
