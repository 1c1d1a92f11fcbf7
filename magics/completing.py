"""Tab after ``%hermes``: commands, and what may follow each: ids and titles of conversations, settings, skills; after
``%%hermes`` the options, after ``--map`` the tables and lists there are, after ``--skill`` the skills.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from hermes_kernel.errors import HermesError
from hermes_kernel.learning.skills.asked import VERBS
from hermes_kernel.looking import BY, conversations
from hermes_kernel.settings import RANGES, SettingsError
from hermes_kernel.view.finds import short
from hermes_kernel.world.store import StoreError
from magics.commands import COMMANDS
from magics.curator import TAKES
from magics.jobs_completing import COMMANDS as PLANNED
from magics.jobs_completing import There, following
from magics.memory import ACTIONS
from magics.options import OPTIONS
from magics.prompt import visible
from magics.usage import ALL
from magics.values import frame

if TYPE_CHECKING:
    from IPython.core.completer import SimpleMatcherResult

    from hermes_kernel.world.store import SessionRow
    from magics.desk import Desk

LINE = re.compile(r"\s*%hermes[ \t]+(?:(?P<command>\w+)[ \t]+)?(?P<begun>.*)\Z")
MAPPED = re.compile(r"%%hermes[ \t](?:.*[ \t])?--map(?:[ \t]+|=)(?P<begun>\w*)\Z")
CELL = re.compile(r"%%hermes[ \t](?:.*[ \t])?(?P<begun>--[\w-]*)\Z")
NAMING = frozenset({"show", "resume", "export"})
SKILLED = re.compile(r"%%hermes[ \t](?:.*[ \t])?--skill(?:[ \t]+|=)(?P<begun>[\w.-]*)\Z")
WAYS = ("all", "stale", "archived", "held", "disabled", "broken", "pinned", "install", "accept", "reject")
FOLLOWING = {"memory": tuple(ACTIONS), "curator": tuple(filter(None, TAKES)), "usage": (ALL, *BY)}
LATER = re.compile(r"%%hermes[ \t]+--schedule[ \t=](?P<begun>[^\n]*[ \t]\S*)\Z")
SLASHED = re.compile(r"\s*%%hermes[^\n]*\n\s*/(?P<begun>[\w.-]*)\Z")
MOST = 50  # conversations that are offered, the latest


def words(
    before: str,
    latest: Callable[[], Iterable[SessionRow]],
    names: Mapping[str, object],
    skills: Callable[[], Iterable[str]] = tuple,
    there: There = lambda _: (),
) -> tuple[str, list[str]]:
    """The end of a line that is being written, and what may take its place; nothing where it is no line of ours.
    `names` are the notebook's variables, `skills` gives the names of the skills, `there` of the rest."""
    if later := LATER.match(before):
        return following("schedule", later["begun"], there)
    for mark, known in ((SKILLED, skills), (MAPPED, lambda: tabular(names)), (CELL, lambda: OPTIONS)):
        if found := mark.match(before):
            return _fitting(found["begun"], known())
    found = LINE.match(before)
    if found is None:
        return "", []
    command, begun = found["command"], found["begun"]
    if command in PLANNED:
        return following(command, begun, there)
    if command == "skill" and " " in begun:
        return _fitting(begun.rpartition(" ")[2], VERBS)
    return _fitting(begun, _known(command, latest, skills))


def _known(
    command: str | None, latest: Callable[[], Iterable[SessionRow]], skills: Callable[[], Iterable[str]]
) -> Iterable[str]:
    """What may stand behind a command."""
    match command:
        case None:
            return COMMANDS
        case "config":
            return RANGES
        case "skills":
            return WAYS
        case "skill":
            return skills()
        case "help":
            return COMMANDS
        case _ if command in FOLLOWING:
            return FOLLOWING[command]
        case _ if command in NAMING:
            known = ("last", *(name for row in latest() for name in (short(row.id), row.title) if name))
            return dict.fromkeys(known)
    return ()


def _fitting(begun: str, known: Iterable[str]) -> tuple[str, list[str]]:
    return begun, [name for name in known if name.startswith(begun)]


def tabular(names: Mapping[str, object]) -> list[str]:
    """The variables that have rows: lists, tuples, and frames, known by the module that made them."""
    return [name for name in visible(names) if isinstance(names[name], list | tuple) or frame(names[name])]


def matched(desk: Desk, before: str, above: str = "") -> SimpleMatcherResult:
    """`words` as IPython wants them; after a slash at the beginning of a prompt, skills. `above` are the lines above.
    What is wrong with the store is said when the command runs."""
    from IPython.core.completer import SimpleCompletion

    def latest() -> Iterable[SessionRow]:
        try:
            return conversations(desk.store, MOST)
        except (HermesError, SettingsError, StoreError):
            return ()

    def skills() -> Iterable[str]:
        try:
            return desk.agent.learning.skills.names()
        except (HermesError, SettingsError, StoreError):
            return ()

    def there(kind: str) -> Iterable[str]:
        from magics.jobs import named

        try:
            return skills() if kind == "skill" else named(desk, kind)
        except (HermesError, SettingsError, StoreError):
            return ()

    slashed, known = SLASHED.match(above + before), desk.shell.user_ns
    begun, found = _fitting(slashed["begun"], skills()) if slashed else words(before, latest, known, skills, there)
    completions = [SimpleCompletion(text, type="hermes") for text in found]
    return {"completions": completions, "matched_fragment": begun, "suppress": bool(found)}
