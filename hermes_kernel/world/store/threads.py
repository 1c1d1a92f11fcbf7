"""What is known of each session without reading it: its name, where it came from, when it was last active, and among
which facts of the database its own are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hermes_kernel.core.events import Asked, Continued, Kept, Opened, Titled
from hermes_kernel.core.text import brief
from hermes_kernel.world.store.views import ACCOUNT

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TITLE = 80  # characters of a first prompt that stand for a title
NOTHING = -1

KNOWN = """
SELECT session, parent, title, notebook, model, last, asked, latest, first_number, last_number
FROM store.threads WHERE session IN (SELECT unnest(?::VARCHAR[]))
"""


class Head(NamedTuple):
    """One session. ``title`` is its own or the first prompt that stands; ``last`` is seconds since 1970-01-01 UTC;
    ``asked`` and ``latest`` are the places of its last prompt and its last fact, the numbers those of its facts in the
    database."""

    session: str
    parent: str = ""
    title: str = ""
    notebook: str = ""
    model: str = ""
    last: float = float("-inf")
    asked: int = NOTHING
    latest: int = NOTHING
    first_number: int = NOTHING
    last_number: int = NOTHING


def told(head: Head, n: int, t: float, fact: Kept | None, number: int = NOTHING) -> Head:
    """`head` after one more fact; one of a later version of this program is None."""
    head = head._replace(last=max(head.last, t), latest=max(head.latest, n))
    if number != NOTHING:
        first = number if head.first_number == NOTHING else min(head.first_number, number)
        head = head._replace(first_number=first, last_number=max(head.last_number, number))
    match fact:
        case Opened(_, _, model, _, parent, notebook):
            return head._replace(parent=parent, model=model, notebook=notebook)
        case Titled(title):
            return head._replace(title=title)
        case Continued():
            return head._replace(title="")  # the session in which it goes on is called so now
        case Asked(text):
            return head._replace(asked=n, title=head.title or called(text))
        case _:
            return head


def unnamed(head: Head, prompts: Iterable[str]) -> Head:
    """`head` without a title that is only one of these prompts."""
    return head._replace(title="") if head.title in map(called, prompts) else head


def called(prompt: str) -> str:
    """What a session is called that nobody has named: the first prompt that stands, without the account of cells before
    it."""
    return brief(re.sub(ACCOUNT, "", prompt, count=1, flags=re.DOTALL), TITLE)


def known(connection: DuckDBPyConnection, sessions: Iterable[str]) -> dict[str, Head]:
    """Those of `sessions` that the database knows."""
    rows = connection.execute(KNOWN, [list(sessions)]).fetchall()
    return {head.session: head for head in map(Head._make, rows)}


def keep(connection: DuckDBPyConnection, heads: Sequence[Head]) -> None:
    """Have the database know these as they are now. Within a transaction."""
    drop(connection, [head.session for head in heads])
    columns = [list(column) for column in zip(*heads, strict=True)]
    connection.execute(f"INSERT INTO store.threads SELECT {', '.join(['unnest(?)'] * len(columns))}", columns)


def drop(connection: DuckDBPyConnection, sessions: Sequence[str]) -> None:
    """Have the database know nothing of these. Within a transaction."""
    connection.execute("DELETE FROM store.threads WHERE session IN (SELECT unnest(?::VARCHAR[]))", [list(sessions)])
