"""Conversations as the lines of a list, each with the session that it stands for. Pure; other people's words are made
harmless by whoever fills the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.text import brief
from hermes_kernel.view import clean
from hermes_kernel.view.columns import aligned
from hermes_kernel.view.kept.descent import lines

if TYPE_CHECKING:
    from hermes_kernel.core.search.found import Found
    from hermes_kernel.looking.conversations import Listed
    from hermes_kernel.view.kept.lineage import Tree
    from hermes_kernel.world.store import SessionRow

Option = tuple[str, str]

TITLE, NAME = 48, 24  # characters
HERE = " (here)"  # behind the title of the conversation that the notebook is in
LAST = re.compile(r"(?:^|\s)\w{3,}$")  # of fewer letters begins too much
DAY_AND_TIME = len("2026-11-30 14:02")


def conversations(rows: Iterable[SessionRow], present: str) -> list[Option]:
    """What, when and where."""
    return _options(
        (row.id, _title(row.title, row.id, present), _when(row.active), _name(row.notebook)) for row in rows
    )


def sessions(found: Iterable[Listed], present: str) -> list[Option]:
    """What, when and of which kind."""
    return _options(
        (each.last.id, _title(each.title, each.last.id, present), _when(each.last.active), _name(each.last.kind))
        for each in found
    )


def threads(found: Found, present: str) -> list[Option]:
    """What, when, how much was found there, and where."""
    return _options(
        (
            thread.hits[0].passage.session,
            _title(thread.title, thread.hits[0].passage.session, present),
            _when(thread.hits[0].passage.t),
            counted(len(thread.hits), "find"),
            _name(thread.notebook),
        )
        for thread in found.threads
    )


def relatives(tree: Tree) -> list[Option]:
    """The tree, line by line, without ids: who is chosen is told with theirs."""
    return [
        (f"{line.shape}{line.words}{HERE if line.session == tree.present else ''}", line.session)
        for line in lines(tree)
    ]


def begun(text: str) -> str:
    """What is being typed, as a query: the last word may be the beginning of one."""
    return f"{text}*" if LAST.search(text) and text.count('"') % 2 == 0 else text


def _options(rows: Iterable[Sequence[str]]) -> list[Option]:
    ids, *columns = zip(*rows, strict=True) if (rows := list(rows)) else ((),)
    cells = list(zip(*columns, strict=True))
    return list(zip(aligned(("",) * len(columns), cells), ids, strict=True))


def _when(t: float) -> str:
    return minute(t)[:DAY_AND_TIME]


def _title(title: str, session: str, present: str) -> str:
    return (brief(clean(title), TITLE) or "(no title)") + (HERE if session == present else "")


def _name(name: str) -> str:
    return brief(clean(name), NAME)
