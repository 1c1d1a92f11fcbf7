"""What the panel of conversations asks of the store: a list, or a conversation to be read. For a thread."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_kernel.looking import conversation, lineage, listed
from hermes_kernel.looking import conversations as chats
from hermes_kernel.looking.conversations import folded
from hermes_kernel.view.kept.descent import tree_html, tree_text
from hermes_kernel.view.kept.finds import finds_html, finds_text
from hermes_kernel.view.kept.reading import told_html
from magics.commands import conversations as kept
from magics.commands.table import Page
from magics.panels import found as lines

if TYPE_CHECKING:
    from hermes_kernel.agent import Agent
    from hermes_kernel.core.search.found import Thread
    from hermes_kernel.world.store import SessionRow, Store
    from magics.commands.table import Shown
    from magics.panels.found import Option

CHATS, OURS, ALL = "conversations", "this notebook's", "all kinds"
LONG = 200_000  # characters of a conversation that is opened as a whole


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be listed: at most so many of a kind, those in which something was said, or the relatives of one."""

    kind: str
    most: int
    text: str = ""
    family: str = ""

    @property
    def query(self) -> str:
        """What is looked for."""
        wanted, name = lines.begun(self.text), notebook().replace('"', "")
        return f'{wanted} notebook:"{name}"' if self.kind == OURS and name else wanted


@dataclass(frozen=True, slots=True)
class Seen:
    """What is listed: as a document, line by line, and the finds in those in which something was looked for."""

    shown: Shown
    options: list[Option]
    threads: dict[str, Thread] = field(default_factory=dict)


def seen(agent: Agent, store: Store, wish: Wish) -> Seen:
    """What was wished for.

    Raises:
        HermesError: a filter has a value that means nothing.
        NoSession: the one whose relatives are wanted is gone.
        StoreError: the store cannot be read.
    """
    present = agent.session_id
    if wish.family:
        tree = lineage(store, wish.family, present)
        return Seen(Page(tree_text(tree, kept.HERE), tree_html(tree, kept.HERE), tree), lines.relatives(tree))
    if wish.text:
        found = agent.search(wish.query, wish.most)
        threads = {thread.hits[0].passage.session: thread for thread in found.threads}
        shown = Page(finds_text(found, kept.HERE), finds_html(found, kept.HERE), found)
        return Seen(shown, lines.threads(found, present), threads)
    if wish.kind == ALL:
        return read(kept.all_table(store, listed(store, wish.most)), ALL, present)
    rows = chats(store, wish.most, notebook() if wish.kind == OURS else "")
    return read(kept.table(store, rows), CHATS, present)


def read(shown: Shown, kind: str, present: str) -> Seen:
    """A table of sessions that was read, as a list."""
    rows: list[SessionRow] = shown.value
    return Seen(shown, lines.sessions(folded(rows), present) if kind == ALL else lines.conversations(rows, present))


def opened(store: Store, session: str, place: int) -> tuple[str, bool]:
    """The conversation to be read, around a place in it if there is one, and whether that is what was asked for.

    Raises:
        NoSession: it is gone.
        StoreError: the store cannot be read.
    """
    told = conversation(store, session)
    whole = bool(place) or sum(len(passage.text) for passage in told.passages) <= LONG
    near = told if whole and not place else told.near(place or told.passages[-1].n)
    return told_html(near), whole


def notebook() -> str:
    """What the document is called in which this kernel works, if anybody says."""
    return Path(os.environ.get("JPY_SESSION_NAME", "")).name
