"""What is suspicious in a text, named for a person to judge."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """``kind`` is a word (``injection``, ``invisible``, ``separator``, ``path``, ``script``, ``secret``,
    ``frontmatter``, ``size``); ``what`` a sentence a person understands; ``excerpt`` the place, cleaned and brief;
    ``line`` counts from 1, 0: none."""

    kind: str
    what: str
    excerpt: str = ""
    line: int = 0
