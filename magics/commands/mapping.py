"""``%%hermes --map df``: the cell is asked once for each row of a table, shown as a bar, and the whole is a value."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.text import brief, dotted
from hermes_kernel.errors import HermesError
from hermes_kernel.mapping import MapResult, Progress, RowOutcome
from hermes_kernel.mapping.rows import SCALAR, rows_of
from hermes_kernel.mapping.template import MARK, WHOLE
from hermes_kernel.view.sights import Bar
from hermes_kernel.world.folder import here
from magics.options import Options
from magics.painting.sighted import Watching
from magics.prompt import Prompt, visible
from magics.verdict import heard, stopped

if TYPE_CHECKING:
    from magics.desk import Desk

LEFT, RIGHT = "\ue000", "\ue001"  # around the number of a mark that is a row's to fill; nobody types them
HELD = re.compile(f"{LEFT}(\\d+){RIGHT}")


async def run_map(desk: Desk, options: Options, body: str) -> MapResult:
    """Ask once for each row of the variable that `options` names. What comes of it is in ``_`` and in the variable of
    ``--as``, also when it was stopped.

    Raises:
        HermesError: it could not be asked, or no row was answered. One or two lines say why.
        KeyboardInterrupt: it was stopped.
    """
    rows = heard(lambda: _rows(desk.shell.user_ns, options.map))
    text = "\n".join(part for part in (options.words, body) if part)
    template, images = heard(lambda: expanded(text, rows, desk.shell.user_ns, here()))
    if images:
        raise HermesError("A prompt for many rows cannot hold an image: name the file in the text instead.")
    for name, given in (("--session", options.session), ("--skill", options.skills)):
        if given:
            raise HermesError(f"{name} does not go with --map: each row is a conversation of its own.")
    async with desk.stoppable() as press:
        await desk.warmed(press)
        with desk.asking(options):
            result = await _shown(desk, options, template, rows, press.press)
    desk.hand_over(result, options.name)
    return _judged(result, press.by)


async def _shown(desk: Desk, options: Options, template: str, rows: Any, press: Any) -> MapResult:
    """The map to its end, its progress shown."""
    wishes = {
        "workers": options.workers,
        "budget": options.budget,
        "timeout": options.timeout,
        "tools": _tools(desk, options.tools or ()),
        "again": options.again,
    }
    seen = _Seen(lambda bar: desk.watching(bar, press, options))
    try:
        result = await desk.agent.mapper.map(template, rows, seen.see, **wishes)
        seen.end(result)
        return result
    finally:
        seen.close()


class _Seen:
    """What is seen of a map, from its first news on."""

    def __init__(self, begin: Callable[[Bar], Watching]) -> None:
        self._begin = begin
        self._bar = Bar(0)
        self._shown: Watching | None = None

    def see(self, far: Progress) -> None:
        """It is as far as this."""
        self._bar = Bar(far.of, far.done, far.failed, far.kept, far.calls)
        self._shown = self._shown or self._begin(self._bar)
        self._shown.show(self._bar)

    def end(self, result: MapResult) -> None:
        """It has come to its end."""
        if self._shown is not None:
            self._shown.show(_ended(self._bar, result))

    def close(self) -> None:
        """Nothing more will be shown."""
        if self._shown is not None:
            self._shown.close()


def _ended(seen: Bar, result: MapResult) -> Bar:
    """What is to be said of a map that is over."""
    left = RowOutcome.NOT_ASKED in result.counts
    again = ",".join(result.left)
    advice = f"`--again {again}` asks them anew" if again else ""
    note = dotted(result.note, advice)
    return replace(seen, ended="not finished" if left else "done", note=note)


def _judged(result: MapResult, stopped_by: str) -> MapResult:
    if stopped_by:
        raise stopped("Interrupted. What was answered is kept: run the cell again to go on with the other rows.")
    if result.failed and RowOutcome.COMPLETED not in result.counts:
        why = next((row.reason for row in result.failed if row.reason), "")
        raise HermesError(f"No row was answered. {brief(why, 200)}".strip())
    return result


def expanded(body: str, rows: Any, names: Mapping[str, Any], folder: Path) -> tuple[str, int]:
    """A cell as a template: what names a column is left for the rows to fill, other ``$names`` and ``@files`` are put
    in once, for all rows. Also how many images it named.

    Raises:
        HermesError: as `Prompt.expand`.
    """
    columns = set(_columns(rows)) | {WHOLE}
    held: list[str] = []

    def hold(mark: re.Match[str]) -> str:
        name = mark["word"] or mark["any"]
        if mark["dollar"] or (name not in columns and name in names):
            return mark[0]
        held.append(mark[0])
        return f"{LEFT}{len(held) - 1}{RIGHT}"

    prompt = Prompt(names, folder)
    said = prompt.expand(MARK.sub(hold, body.replace(LEFT, "").replace(RIGHT, "")))
    return HELD.sub(lambda mark: held[int(mark[1])], said.replace("$", "$$")), len(prompt.images)


def _columns(rows: Any) -> list[str]:
    """The columns of a table in a notebook, which can be looked at twice."""
    known = rows_of(rows).columns
    if known or not isinstance(rows, list):
        return list(known)
    return [*dict.fromkeys(str(name) for row in rows if isinstance(row, Mapping) for name in row)] or [SCALAR]


def _rows(names: Mapping[str, Any], name: str) -> Any:
    """The table that a variable holds. What can be read only once is read here."""
    if name not in names:
        close = difflib.get_close_matches(name, visible(names), 1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise HermesError(f"There is no variable {brief(name, 60)} to map over.{hint}")
    table = names[name]
    return list(table) if isinstance(table, (tuple, set, frozenset, range, Iterator)) else table


def _tools(desk: Desk, wanted: tuple[str, ...]) -> list[Any]:
    """Functions of the notebook by their names; the others are the map's to know."""
    from hermes_kernel.world.tools.tool import tools_in

    own = {tool.name: tool for tool in tools_in(desk.shell.user_ns)}
    return [own.get(name, name) for name in wanted]
