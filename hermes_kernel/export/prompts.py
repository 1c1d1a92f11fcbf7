"""A prompt as it was asked, and as a cell that asks just that again.

Keeps true: the cell, read by the magics in a fresh notebook, sends the prompt word for word.
"""

from __future__ import annotations

import re

from hermes_kernel.cell import ASKED, is_prompt
from hermes_kernel.core.text import CELLS, END_OF_CELLS, FENCED

ACCOUNT = re.compile(rf"(?m:^){re.escape(CELLS)}\n.*?\n{re.escape(END_OF_CELLS)}\s*", re.DOTALL)
SKILL = re.compile(r"\A\[Skill (?P<name>[^\]\n]*)\]\n.*?\n\[End of skill\]\s*", re.DOTALL)
MEANT = re.compile(r"\$\$|@@|\$(?=[^\W\d])|(?<![\w.@`])@(?=[\"'~\w./])")


def asked(prompt: str) -> str:
    """`prompt` without the account of the cells that were run before it: those belong to another notebook."""
    return ACCOUNT.sub("", prompt, count=1).strip()


def own_words(prompt: str) -> tuple[tuple[str, ...], str]:
    """The names of the skills that go before a prompt, and what the person said."""
    words, names = asked(prompt), []
    while found := SKILL.match(words):
        names.append(found["name"])
        words = words[found.end() :]
    return tuple(names), words


def cell(prompt: str, kernel: str) -> str:
    """The source of a cell that asks `prompt` in a notebook of this kernel: ``python3`` or ``hermes``."""
    body = literal(prompt)
    if kernel == "hermes" and is_prompt(body, {}) and not ASKED.fullmatch(body):
        return body
    return "%%hermes\n" + body


def literal(prompt: str) -> str:
    """`prompt` with each ``$name`` and ``@path`` in it marked as meant literally. Within a fence nothing is looked for,
    so nothing is marked."""
    parts = FENCED.split(prompt.strip())
    return "".join(part if n % 2 else MEANT.sub(lambda found: found[0] * 2, part) for n, part in enumerate(parts))
