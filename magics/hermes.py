"""``%%hermes`` and ``%hermes`` as IPython sees them: a magic for the help and the commands, and a cell rewritten to an
``await``, because IPython awaits no magic.
"""

from __future__ import annotations

import atexit
import re
from typing import TYPE_CHECKING, Any

from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from traitlets import observe

from hermes_kernel.core.turn import Turn
from hermes_kernel.view import clean, sanitise
from magics import commands
from magics.desk import Desk, readable
from magics.options import parse
from magics.table import PlainTable, Table
from magics.traits import SETTINGS, Configured, sound

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

CELL = re.compile(r"%%hermes(?![\w?])[ \t]*(?P<line>.*)")
RETRY = re.compile(r"\s*%hermes[ \t]+retry\b[ \t]*(?P<line>[^\n]*)\s*\Z")
HERE = "get_ipython().magics_manager.registry['HermesMagics']"


@magics_class
class HermesMagics(Configured, Magics):
    """Settings of this notebook's agent: ``%config HermesMagics.max_iterations = 20``; ``%hermes config`` lists all."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.desk = Desk(shell)
        super().__init__(shell=shell, config=sound(shell.config))

    @no_var_expand
    @line_cell_magic
    def hermes(self, line: str, cell: str | None = None) -> Any:
        """Ask an agent that works in this notebook, or look after it.

        ::

            %%hermes [options]
            What is in $df, and which month sold best? Compare with @notes.txt

        The prompt is the rest of the cell. ``$name`` shows the agent a variable, ``@path`` a file, ``$$`` is a dollar.
        The turn is in ``_`` afterwards: its ``text``, ``outcome``, ``tool_calls``, ``usage``.

        Options: ``--model M``, ``--budget N`` (model calls), ``--session ID|new|last``, ``--tools a,b|none``,
        ``--skill NAME``, ``--as VAR``, ``--timeout S``, ``--no-cells``, ``--plain``, ``--quiet``.

        ``%hermes COMMAND``: status, budget, usage, new, branch, resume, sessions, undo, retry, model, tools, config,
        doctor, help. ``%hermes help`` says what each does.
        """
        if cell is not None:
            return self.desk.ask(parse(line), cell)
        with readable():
            table = commands.run(self.desk, line)
            return _plain(table) if self.desk.settings.plain else table

    async def ask(self, line: str, body: str) -> None:
        """A ``%%hermes`` cell."""
        await self.desk.ask(parse(line), body)

    async def retry(self, line: str) -> None:
        """A ``%hermes retry`` cell."""
        await self.desk.retry(parse(line))

    @observe(*SETTINGS)
    def _configured(self, change: Any) -> None:
        if change.new is not None:
            self.desk.configure(**{change.name: change.new})


def rewrite(lines: list[str]) -> list[str]:
    """A cell for the agent, as an await that runs it. Everything else is left as it is."""
    found = CELL.match(lines[0]) if lines else None
    if found is not None:
        return [f"await {HERE}.ask({found['line'].strip()!r}, {''.join(lines[1:])!r})\n"]
    alone = RETRY.match("".join(lines)) if lines and "%hermes" in lines[0] else None
    return [f"await {HERE}.retry({alone['line'].strip()!r})\n"] if alone else lines


# IPython asks transformers without side effects whether a cell is complete; `%%hermes` goes on to an empty line.
rewrite.has_side_effects = True  # type: ignore[attr-defined]


def load(shell: InteractiveShell) -> None:
    """Register everything with `shell`; once, however often it is loaded."""
    if "HermesMagics" in shell.magics_manager.registry:
        return
    magics = HermesMagics(shell)
    shell.register_magics(magics)
    shell.input_transformers_cleanup.append(rewrite)
    atexit.register(magics.desk.close)
    formatter: Any = shell.display_formatter
    formatter.formatters["text/markdown"].for_type(Turn, lambda turn: sanitise(turn.text))
    formatter.formatters["text/plain"].for_type(Turn, lambda turn, printer, _: printer.text(_words(turn)))


def unload(shell: InteractiveShell) -> None:
    """Take everything back."""
    magics = shell.magics_manager.registry.pop("HermesMagics", None)
    if magics is None:
        return
    shell.input_transformers_cleanup.remove(rewrite)
    shell.configurables.remove(magics)
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("hermes", None)
    atexit.unregister(magics.desk.close)
    magics.desk.close()


def _words(turn: Turn) -> str:
    return clean(turn.text) or f"[{turn.outcome or 'no turn yet'}]"


def _plain(table: Table) -> Table:
    return PlainTable(table.columns, table.rows, table.value, table.note)
