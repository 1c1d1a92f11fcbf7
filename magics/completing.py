"""Tab after ``%hermes``: commands, for those that name a conversation its id and its title, and for ``config`` the
settings; after ``%%hermes`` the options, and after ``--map`` the tables and lists there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from hermes_kernel.errors import HermesError
from hermes_kernel.looking import conversations
from hermes_kernel.settings import RANGES, SettingsError
from hermes_kernel.view.finds import short
from hermes_kernel.world.store import StoreError
from magics.commands import COMMANDS
from magics.options import OPTIONS
from magics.prompt import visible
from magics.values import frame

if TYPE_CHECKING:
    from IPython.core.completer import SimpleMatcherResult

    from hermes_kernel.world.store import SessionRow
    from magics.desk import Desk

LINE = re.compile(r"\s*%hermes[ \t]+(?:(?P<command>\w+)[ \t]+)?(?P<begun>.*)\Z")
MAPPED = re.compile(r"%%hermes[ \t](?:.*[ \t])?--map(?:[ \t]+|=)(?P<begun>\w*)\Z")
CELL = re.compile(r"%%hermes[ \t](?:.*[ \t])?(?P<begun>--[\w-]*)\Z")
NAMING = frozenset({"show", "resume", "export"})
MOST = 50  # conversations that are offered, the latest


def words(
    before: str, latest: Callable[[], Iterable[SessionRow]], names: Mapping[str, object]
) -> tuple[str, list[str]]:
    """The end of a line that is being written, and what may take its place; nothing where it is no line of ours.
    `names` are the notebook's variables."""
    if mapped := MAPPED.match(before):
        return mapped["begun"], [name for name in tabular(names) if name.startswith(mapped["begun"])]
    if cell := CELL.match(before):
        return cell["begun"], [name for name in OPTIONS if name.startswith(cell["begun"])]
    found = LINE.match(before)
    if found is None:
        return "", []
    command, begun = found["command"], found["begun"]
    if command is None:
        return begun, [name for name in COMMANDS if name.startswith(begun)]
    if command == "config":
        return begun, [name for name in RANGES if name.startswith(begun)]
    if command not in NAMING:
        return "", []
    known = ("last", *(name for row in latest() for name in (short(row.id), row.title) if name))
    return begun, [name for name in dict.fromkeys(known) if name.startswith(begun)]


def tabular(names: Mapping[str, object]) -> list[str]:
    """The variables that have rows: lists, tuples, and frames, known by the module that made them."""
    return [name for name in visible(names) if isinstance(names[name], list | tuple) or frame(names[name])]


def matched(desk: Desk, before: str) -> SimpleMatcherResult:
    """`words` as IPython wants them. What is wrong with the store is said when the command runs."""
    from IPython.core.completer import SimpleCompletion

    def latest() -> Iterable[SessionRow]:
        try:
            return conversations(desk.store, MOST)
        except (HermesError, SettingsError, StoreError):
            return ()

    begun, found = words(before, latest, desk.shell.user_ns)
    completions = [SimpleCompletion(text, type="hermes") for text in found]
    return {"completions": completions, "matched_fragment": begun, "suppress": bool(found)}
