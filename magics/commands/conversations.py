"""``%hermes`` commands about kept conversations: list, find, read, go on, name, take along, question."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.figures import minute
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.looking import (
    Answer,
    answer,
    conversation,
    conversations,
    how_to_list,
    lineage,
    listed,
    none,
    summarised,
    whole,
)
from hermes_kernel.view.kept.descent import tree_html, tree_text
from hermes_kernel.view.kept.finds import finds_html, finds_text, short
from hermes_kernel.view.kept.reading import Conversation, told_html, told_text, turns
from hermes_kernel.world.folder import here, named
from hermes_kernel.world.store import NoSession
from hermes_kernel.world.store.naming import BEGINNING
from magics.commands.table import Page, Shown, Table, facts
from magics.options import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_kernel.looking.conversations import Listed
    from hermes_kernel.world.store import SessionRow, Store
    from magics.desk import Desk

HERE = "%hermes"  # what a person writes before a command
BACK = "The conversation is back; the notebook's variables are what they are now."
NOTHING = "Nothing has been said in this conversation yet. `%hermes sessions` lists those there are."
DIGITS = 9  # of a number that a person writes
LISTED = 20  # sessions, unless a number is asked for
TITLE = 60  # characters of a title in a list
TREE = "tree"
READ = {"summary": summarised, "all": whole}
COLUMNS = ("session", "title", "outcome", "calls", "last active")


def sessions(desk: Desk, rest: str) -> Shown:
    """The conversations last active, the latest first; all sessions, those of subagents and of maps among them; or the
    relatives of one."""
    if rest.partition(" ")[0] == TREE:
        return relatives(desk, rest[len(TREE) :].strip())
    most, everything = wanted(rest)
    if everything:
        return all_table(desk.store, listed(desk.store, most))
    return table(desk.store, conversations(desk.store, most))


def wanted(rest: str) -> tuple[int, bool]:
    """How many lines are wanted by what follows ``sessions``, and whether of all kinds.

    Raises:
        HermesError: it is neither a number nor ``all``.
    """
    words = rest.split()
    return count("sessions", " ".join(word for word in words if word != "all")) or LISTED, "all" in words


def table(store: Store, found: Sequence[SessionRow]) -> Table:
    """Conversations as a document."""
    rows = tuple((short(each.id), *_about(each, each.title, each.calls)) for each in found)
    return Table(COLUMNS if rows else (), rows, list(found), "" if rows else none(store, f"{HERE} sessions all"))


def all_table(store: Store, found: Sequence[Listed]) -> Table:
    """Sessions of all kinds as a document, whose value has each row of a map as well."""
    rows = tuple(
        (short(each.last.id), *_about(each.last, each.title, each.calls), each.last.kind, short(each.last.parent))
        for each in found
    )
    note = how_to_list(found, f"{HERE} sql {{}}") if rows else none(store, f"{HERE} sessions all")
    return Table((*COLUMNS, "kind", "from") if rows else (), rows, [row for each in found for row in each.rows], note)


def _about(row: SessionRow, title: str, calls: int) -> tuple[Any, ...]:
    return (brief(title, TITLE), row.outcome or "open", calls, minute(row.active))


def relatives(desk: Desk, name: str) -> Shown:
    """The relatives of a conversation, of this one unless another is named."""
    present = desk.agent.session_id
    try:
        found = lineage(desk.store, name or present, present)
    except NoSession:
        if name:
            raise
        raise HermesError(NOTHING) from None
    return Page(tree_text(found, HERE), tree_html(found, HERE), found)


def search(desk: Desk, rest: str) -> Shown:
    """What was said, in all conversations."""
    if not rest:
        raise HermesError(
            'search takes what is to be found: words, "a phrase", prefix*, -without, role:user after:2026-01.'
        )
    found = desk.agent.search(rest)
    return Page(finds_text(found, HERE), finds_html(found, HERE), found)


def show(desk: Desk, rest: str) -> Shown:
    """A conversation to read: this session of it, its turns, the messages around a place, its summary and what that
    stands for, or all of it since before it was compressed."""
    name, part = _place(rest)
    read = READ.get(part, conversation)
    try:
        told = read(desk.store, name or desk.agent.session_id)
    except NoSession:
        if name:
            raise
        raise HermesError(NOTHING) from None
    if part == "turns":
        return _turns(told)
    near = told.near(int(part)) if part.isdecimal() else told
    folded = not part.isdecimal()
    return Page(told_text(near, folded=folded), told_html(near, folded=folded), near.passages)


def resume(desk: Desk, rest: str) -> Shown:
    """Go on with an earlier conversation."""
    turn = desk.agent.resume(rest or "last")
    return facts(("session", turn.session_id), ("turns", len(turn.starts)), value=turn, note=BACK)


def branch(desk: Desk, rest: str) -> Shown:
    """Go on with a copy of this conversation."""
    if not desk.agent.turn.transcript and not rest:
        raise HermesError("There is nothing to branch from: this conversation is empty.")
    parent = desk.agent.session_id
    desk.agent.branch(count("branch", rest) or None)
    return facts(("new session", desk.agent.session_id), ("branched from", parent), value=desk.agent.session_id)


def title(desk: Desk, rest: str) -> Shown:
    """Name this conversation."""
    desk.agent.title(rest)
    return facts(("session", desk.agent.session_id), ("title", rest), value=rest)


def export(desk: Desk, rest: str) -> Shown:
    """Write a conversation to a file, whose ending says how."""
    from hermes_kernel.export import FORMATS, export, format_of, save, save_over

    words = split(rest)
    force = "--force" in words
    *name, file = [word for word in words if word != "--force"] or [""]
    form = format_of(file)
    if not form:
        raise HermesError(
            f"export takes a file that ends in {', '.join(f'.{each}' for each in FORMATS)}: export [ID] FILE."
        )
    session = desk.store.find(" ".join(name)) if name else desk.agent.session_id
    text, path = export(desk.store.records(session), form), here() / named(file)
    try:
        (save_over if force else save)(text, path)
    except FileExistsError as error:
        raise HermesError(str(error)) from None
    except OSError as error:
        raise HermesError(brief(f"{path} was not written: {error.strerror or error}", 300)) from None
    return facts(("session", session), ("written to", str(path)), value=path)


def sql(desk: Desk, rest: str) -> Shown:
    """Ask the database."""
    if not rest:
        raise HermesError("sql takes a SELECT over sessions, messages, tool_calls, calls or facts.")
    found = answer(desk.store, rest)
    note = f"The first {len(found.rows):,} rows; there are more." if found.more else ""
    return Table(found.columns, found.shown(), _frame(found), note)


def _place(rest: str) -> tuple[str, str]:
    """What conversation is named, and what of it is to be shown. A short number by itself is a place in this one."""
    name, _, part = rest.rpartition(" ")
    if part in ("turns", *READ) or (part.isdecimal() and len(part) <= DIGITS and (name or len(part) < BEGINNING)):
        return name.strip(), part
    return rest, ""


def _turns(told: Conversation) -> Shown:
    found = turns(told.passages)
    rows = tuple(
        (each.number, each.place, brief(each.prompt, 80), each.results, brief(each.answer, 80)) for each in found
    )
    note = f"`{HERE} branch N` goes on with a copy up to turn N." if rows else ""
    return Table(("turn", "place", "prompt", "results", "answer"), rows, found, note)


def count(name: str, rest: str) -> int:
    """The number after a command, 0 where there is none."""
    if rest and not (rest.isdecimal() and len(rest) <= DIGITS and int(rest)):
        raise HermesError(f"{name} takes a number from 1, not {brief(rest, 40)!r}.")
    return int(rest or 0)


def _frame(found: Answer) -> Any:
    """Rows as a DataFrame where there is pandas, else as tuples in a list."""
    if find_spec("pandas") is None:
        return list(found.rows)
    import pandas as pd

    return pd.DataFrame(found.rows, columns=list(found.columns))
