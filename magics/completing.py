"""Tab after ``%hermes``: commands, for those that name a conversation its id and its title, and for ``config`` the
settings; after ``%%hermes`` the options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from hermes_kernel.session import HermesError
from hermes_kernel.settings import RANGES, SettingsError
from hermes_kernel.view.finds import short
from hermes_kernel.world.store import StoreError
from magics.commands import COMMANDS
from magics.options import OPTIONS

if TYPE_CHECKING:
    from IPython.core.completer import SimpleMatcherResult

    from hermes_kernel.world.store import SessionRow
    from magics.desk import Desk

LINE = re.compile(r"\s*%hermes[ \t]+(?:(?P<command>\w+)[ \t]+)?(?P<begun>.*)\Z")
CELL = re.compile(r"%%hermes[ \t](?:.*[ \t])?(?P<begun>--[\w-]*)\Z")
NAMING = frozenset({"show", "resume", "export"})
MOST = 50  # conversations that are offered, the latest


def words(before: str, latest: Callable[[], Iterable[SessionRow]]) -> tuple[str, list[str]]:
    """The end of a line that is being written, and what may take its place; nothing where it is no line of ours."""
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
    names = ("last", *(name for row in latest() for name in (short(row.id), row.title) if name))
    return begun, [name for name in dict.fromkeys(names) if name.startswith(begun)]


def matched(desk: Desk, before: str) -> SimpleMatcherResult:
    """`words` as IPython wants them. What is wrong with the store is said when the command runs."""
    from IPython.core.completer import SimpleCompletion

    def latest() -> Iterable[SessionRow]:
        try:
            return desk.store.sessions(MOST)
        except (HermesError, SettingsError, StoreError):
            return ()

    begun, found = words(before, latest)
    completions = [SimpleCompletion(text, type="hermes") for text in found]
    return {"completions": completions, "matched_fragment": begun, "suppress": bool(found)}
