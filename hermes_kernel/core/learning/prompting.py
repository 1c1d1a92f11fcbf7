"""What of a prompt the person said: without the skills put before it and the account of the cells they ran."""

from __future__ import annotations

import re

from hermes_kernel.core.text import CELLS, END_OF_CELLS

_ACCOUNT = re.compile(rf"(?m:^){re.escape(CELLS)}\n.*?(?:\n{re.escape(END_OF_CELLS)}\s*|\Z)", re.DOTALL)
_SKILL = re.compile(r"(?m:^)\[Skill (?P<name>[^\]\n]{1,200})\]\n.*?(?:\n\[End of skill\]\s*|\Z)", re.DOTALL)
_VIEW = re.compile(r"\n\n(?P<name>[^\n]{1,200}) \([^\n]{1,200}\):\n")


def words_of(prompt: str) -> str:
    """The person's own words in `prompt`."""
    return _SKILL.sub("", _ACCOUNT.sub("", prompt)).strip()


def sentence_of(prompt: str) -> str:
    """The same without the views of variables and files that follow the words which name them."""
    words = words_of(prompt)
    views = (found.start() for found in _VIEW.finditer(words) if f"`{found['name']}`" in words[: found.start()])
    return words[: next(views, len(words))]


def skills_in(prompt: str) -> tuple[str, ...]:
    """The names of the skills that were loaded with `prompt`."""
    return tuple(dict.fromkeys(found["name"].strip() for found in _SKILL.finditer(prompt)))


def named_skills(prompt: str) -> str:
    """`prompt` with only the names of the skills that stand in it: their text can be read where it belongs."""
    return _SKILL.sub(lambda found: f"[Skill {found['name']} was loaded here]\n", prompt).strip()
