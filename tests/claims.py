"""What the page about security claims, by which tests each claim is held, and how a protection is taken away."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.examples import DOCS

TABLE = re.compile(r"^\| claim \| held by \|\n\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)
HELD = re.compile(r"\[([^]]+)\]\(\.\./(tests/[\w/]+\.py)\)")


class Claim(NamedTuple):
    """A sentence of the page, and the tests that hold it: how each is called there, and by pytest."""

    part: str
    text: str
    tests: dict[str, str]


class Edit(NamedTuple):
    """In ``file`` the one place that says ``old`` says ``new`` instead."""

    file: str
    old: str
    new: str


class Removal(NamedTuple):
    """A protection that is gone. ``claim`` is how a claim begins, as no other does; ``left`` says what is left without
    it; each of ``tests``, which are called as the page calls them for this claim, must notice."""

    claim: str
    left: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]


def without(claim: str, left: str, edits: Edit | tuple[Edit, ...], *tests: str) -> Removal:
    """A removal in one place; or in several, where each of them alone would protect."""
    return Removal(claim, left, (edits,) if isinstance(edits, Edit) else edits, tests)


def claims() -> list[Claim]:
    """Every claim of the page, in its order."""
    page = (DOCS / "security.md").read_text(encoding="utf-8")
    return [
        Claim(part.splitlines()[0], text, {words: _named(words, file) for words, file in HELD.findall(held)})
        for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]
        for table in TABLE.findall(part)
        for text, held in (row.strip("| ").split(" | ") for row in table.splitlines())
    ]


def _named(words: str, file: str) -> str:
    return f"{file}::test_{words.replace(' ', '_')}"


def meant(removal: Removal) -> Claim:
    """The claim whose protection it takes away.

    Raises:
        ValueError: none begins so, or several.
    """
    found = [claim for claim in claims() if claim.text.startswith(removal.claim)]
    if len(found) != 1:
        raise ValueError(f"{len(found)} claims begin with {removal.claim!r}")
    return found[0]
