"""Skills named in a prompt: ``--skill NAME``, or ``/name`` as its first word. Reads ``skills/**/NAME/SKILL.md``."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from hermes_kernel.errors import HermesError

MOST = 60_000  # characters of one skill
SPOKEN = re.compile(r"\s*/(?P<name>[\w-]+)(?:\s+|$)")


def skills(home: Path) -> dict[str, Path]:
    """The skills there are, by name."""
    found = sorted((home / "skills").glob("**/SKILL.md"))
    return {path.parent.name: path for path in found if not any(part.startswith(".") for part in path.parts[-4:])}


def read_skill(home: Path, name: str) -> str:
    """The text of a skill, introduced.

    Raises:
        HermesError: there is no such skill, or it cannot be read.
    """
    known = skills(home)
    if name not in known:
        close = difflib.get_close_matches(name, known, 3) or list(known)[:8]
        hint = f" There are: {', '.join(close)}." if close else " There are none yet."
        raise HermesError(f"There is no skill {name!r} in {home / 'skills'}.{hint}")
    try:
        text = known[name].read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise HermesError(f"The skill {name!r} cannot be read: {error.strerror}.") from None
    return f"[Skill {name}]\n{text[:MOST].strip()}\n[End of skill]"


def spoken(home: Path, body: str) -> tuple[tuple[str, ...], str]:
    """The skill that `body` begins with, if there is one of that name, and the rest of it."""
    found = SPOKEN.match(body)
    if found is None or found["name"] not in skills(home):
        return (), body
    return (found["name"],), body[found.end() :]
