"""``%%hermes`` and ``%hermes`` as IPython sees them: a magic for the help and the commands, and a cell rewritten to an
``await``, because IPython awaits no magic.
"""

from __future__ import annotations

import asyncio
import atexit
import re
import sys
from collections.abc import Awaitable, Callable, Collection
from functools import cached_property, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from IPython.core.completer import context_matcher
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from traitlets.config import Config

from magics.cells import Cells
from magics.comms import Comms
from magics.replies import Replies
from magics.tab.shifting import Inspection
from magics.traits import Configured, sound
from magics.watching import Watching

if TYPE_CHECKING:
    from types import FrameType

    from IPython.core.completer import CompletionContext, SimpleMatcherResult
    from IPython.core.interactiveshell import InteractiveShell

    from hermes_kernel.settings import Settings
    from magics.desk import Desk

CELL = re.compile(r"[ \t]*%%hermes(?![\w?])[ \t]*(?P<line>.*)")
AWAITED = re.compile(r"\s*%hermes[ \t]+(?P<command>retry|compress|nudge|review)\b[ \t]*(?P<line>[^\n]*)\s*\Z")
HELPED = re.compile(r"\s*%hermes[ \t]+(?P<command>\w+)[ \t]*\?{1,2}\s*\Z")
ASKED = re.compile(r"\s*%hermes[ \t]+(?P<line>\w+[ \t]+\S[^\n]*\?)\s*\Z")  # else IPython shows help on its last word
WATCHED = frozenset({"home", "schedule_watch", "store_url", "spec", "replay"})
"""Settings on which it depends whether jobs are watched over, and which."""
SILENT = ";"  # at the end of a line: IPython shows nothing of it
HERE = "get_ipython().magics_manager.registry['HermesMagics']"


def cell(play: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """`play`, which a cell awaits. As long as it does not hear an interrupt itself, ipykernel cancels the cell."""

    @wraps(play)
    async def played(*given: Any) -> None:
        try:
            await play(*given)
        except asyncio.CancelledError as error:
            from magics.verdict import cancelled

            raise cancelled(error) from None

    return played


@magics_class
class HermesMagics(Configured, Magics):
    """Settings of this notebook's agent: ``%config HermesMagics.max_iterations = 20``; ``%hermes config`` lists all."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self.past = Cells(shell)
        self.comms, self.replies = Comms(shell), Replies(shell)
        self.matcher = _matcher(self)
        self.watching = Watching(self._settings)
        self.inspection = Inspection(shell, lambda: self.desk)
        super().__init__(shell=shell, config=Config())  # a trait at a time would refuse what is sound with a later one
        if given := sound(shell.config):
            self.desk.configure(**given)

    @cached_property
    def desk(self) -> Desk:
        """Where person and agent meet, imported when it is first needed."""
        from magics.desk import Desk

        return Desk(self._shell, self.past, self._changed)

    def preload(self) -> None:
        """Import what the first turn needs; for a thread, while a person is still typing."""
        for name in ("magics.desk", "magics.asking", "hermes_kernel.parts", "openai"):
            import_module(name)

    def close(self) -> None:
        """Leave: nothing of this goes on."""
        self.watching.close()
        self.inspection.end()
        self.comms.end()
        self.replies.end()
        self.past.close()
        if "desk" in self.__dict__:
            self.desk.close()

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
        ``--skill NAME``, ``--as VAR``, ``--timeout S``, ``--map VAR`` (ask for each row), ``--workers N``,
        ``--again A,B`` (rows, anew), ``--schedule WHEN`` (a job for later), ``--record FILE``, ``--replay FILE``,
        ``--replay-gaps``, ``--replay-tools``, ``--no-cells``, ``--plain``, ``--quiet``.

        ``%hermes COMMAND``: status, budget, usage, timeline, new, sessions, search, show, resume, branch, title,
        export, sql, compress, nudge, review, undo, retry, model, tools, mcp, memory, skills, skill, curator, schedule,
        jobs, runs, loops, record, replay, spec, config, doctor, help. ``%hermes help`` explains each.
        """
        if cell is not None:
            from magics.asking import ask

            return ask(self.desk, line, cell)
        from magics.commands.every import run

        shown = run(self.desk, line)
        return None if line.rstrip().endswith(SILENT) else shown

    def completed(self, written: str, *, prompt: bool) -> tuple[str, tuple[str, ...]]:
        """The end of a cell that is being written, and what may take its place."""
        from magics.tab.known import offered

        return offered(self.desk, written, prompt=prompt)

    @cell
    async def ask(self, line: str, body: str) -> None:
        """A ``%%hermes`` cell."""
        from magics.asking import ask

        await ask(self.desk, line, body)

    @cell
    async def retry(self, line: str) -> None:
        """A ``%hermes retry`` cell."""
        from magics.asking import retry

        await retry(self.desk, line)

    @cell
    async def compress(self, line: str) -> None:
        """A ``%hermes compress`` cell."""
        from magics.commands.compressing import compress

        await compress(self.desk, line)

    @cell
    async def nudge(self, line: str) -> None:
        """A ``%hermes nudge`` cell."""
        from magics.commands.looks import look

        await look(self.desk, "nudge", line)

    @cell
    async def review(self, line: str) -> None:
        """A ``%hermes review`` cell."""
        from magics.commands.looks import look

        await look(self.desk, "review", line)

    def refuse(self) -> None:
        """A ``%%hermes`` cell within another cell.

        Raises:
            HermesError: always.
        """
        from hermes_kernel.errors import HermesError

        raise HermesError("%%hermes must be the first line of a cell of its own. In code, ask an `Agent`.")

    def leave(self) -> None:
        """A cell that was interrupted while it was prepared.

        Raises:
            KeyboardInterrupt: always.
        """
        from magics.verdict import stopped

        raise stopped("Interrupted before anything of the cell ran.")

    def _changed(self, names: Collection[str]) -> None:
        """These settings are others now."""
        if WATCHED.intersection(names):
            self.watching.again()

    def _settings(self) -> Settings:
        """Those in force, without a desk where nobody has needed one yet."""
        if "desk" in self.__dict__:
            return self.desk.settings
        from hermes_kernel.settings import Settings

        return Settings.load()


def _matcher(magics: HermesMagics) -> Callable[[CompletionContext], SimpleMatcherResult]:
    """What IPython asks at Tab: what may stand after ``%hermes``."""

    @context_matcher(identifier="hermes")
    def match(context: CompletionContext) -> SimpleMatcherResult:
        from magics.tab.known import matched

        above = "".join(context.full_text.splitlines(keepends=True)[: context.cursor_line])
        return matched(magics.desk, context.text_until_cursor, above)

    return cast("Callable[[CompletionContext], SimpleMatcherResult]", match)


def rewrite(lines: list[str]) -> list[str]:
    """A cell for the agent, as an await that runs it. Everything else is left as it is."""
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    found = CELL.match(lines[first]) if lines else None
    if found is not None and _within_a_cell():
        return [f"{HERE}.refuse()\n"]
    if found is not None:
        return [f"await {HERE}.ask({found['line'].strip()!r}, {''.join(lines[first + 1 :])!r})\n"]
    if not lines or "%hermes" not in lines[0]:
        return lines
    if alone := AWAITED.match("".join(lines)):
        return [f"await {HERE}.{alone['command']}({alone['line'].strip()!r})\n"]
    if helped := HELPED.match("".join(lines)):
        return [f"get_ipython().run_line_magic('hermes', 'help {helped['command']}')\n"]
    asked = ASKED.match("".join(lines))
    return [f"get_ipython().run_line_magic('hermes', {asked['line']!r})\n"] if asked else lines


def _within_a_cell() -> bool:
    """A cell runs this cell (``%%capture``, ``run_cell``): IPython cannot await anything there."""
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - no event tells of it
    while frame is not None and frame.f_code.co_name != "run_cell_async":
        frame = frame.f_back
    return frame is not None


# IPython asks transformers without side effects whether a cell is complete; `%%hermes` goes on to an empty line.
rewrite.has_side_effects = True  # type: ignore[attr-defined]


def load(shell: InteractiveShell) -> None:
    """Register everything with `shell`; once, however often it is loaded."""
    if "HermesMagics" in _manager(shell).registry:
        return
    magics = HermesMagics(shell)
    shell.register_magics(magics)
    shell.input_transformers_cleanup.insert(0, rewrite)  # the others take ``>>>`` and ``In [1]:`` for a prompt's marks
    shell.Completer.custom_matchers.append(magics.matcher)
    atexit.register(magics.close)
    magics.replies.begin()
    magics.comms.begin()
    magics.inspection.begin()
    magics.watching.start()


def unload(shell: InteractiveShell) -> None:
    """Take everything back."""
    magics = _manager(shell).registry.pop("HermesMagics", None)
    if magics is None:
        return
    shell.input_transformers_cleanup.remove(rewrite)
    shell.Completer.custom_matchers.remove(magics.matcher)
    shell.configurables.remove(magics)
    for kind in ("line", "cell"):
        _manager(shell).magics[kind].pop("hermes", None)
    atexit.unregister(magics.close)
    magics.close()


def _manager(shell: InteractiveShell) -> Any:
    return shell.magics_manager
