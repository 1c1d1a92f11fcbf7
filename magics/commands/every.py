"""What ``%hermes COMMAND`` does: a small function for each, in one table. What each returns is shown and is a value."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.settings import RANGES
from magics.commands import conversations, standing
from magics.commands.standing import nothing
from magics.commands.table import Shown, Table, facts
from magics.options import usage as options
from magics.panels.faces import faced
from magics.verdict import readable

if TYPE_CHECKING:
    from magics.desk import Desk


HELP = frozenset({"--help", "-h"})
PLAIN = "--plain"


class Command(NamedTuple):
    """One command: what may follow it, what it does, and the function that does it."""

    takes: str
    about: str
    do: Callable[[Desk, str], Shown]


def run(desk: Desk, line: str) -> Shown:
    """Do what `line` asks for; nothing asked for shows the help. ``--plain`` at its end: as text only.

    Raises:
        HermesError: there is no such command, or it cannot be done. One line says which and what is allowed.
    """
    words, plain = _plainly(line.strip().rstrip(";"))  # IPython shows nothing of a line that ends so
    name, _, rest = words.partition(" ")
    rest = rest.strip()
    if rest in HELP:
        name, rest = "help", name
    with readable():
        shown = find(name or "help").do(desk, rest)
        return shown.plain() if plain or desk.settings.plain else faced(desk, name, rest, shown)


def _plainly(line: str) -> tuple[str, bool]:
    """A line without ``--plain`` at its end, and whether it stood there."""
    words = line.removesuffix(PLAIN)
    return (words.rstrip(), True) if words != line and (not words or words[-1].isspace()) else (line, False)


def find(name: str) -> Command:
    """The command called `name`.

    Raises:
        HermesError: there is none.
    """
    if name not in COMMANDS:
        close = difflib.get_close_matches(name, COMMANDS, 1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise HermesError(f"There is no command {brief(name, 40)}.{hint} There are: {', '.join(COMMANDS)}.")
    return COMMANDS[name]


def _new(desk: Desk, rest: str) -> Table:
    nothing("new", rest)
    desk.agent.new()
    return facts(("new session", desk.agent.session_id), value=desk.agent.session_id)


def _undo(desk: Desk, rest: str) -> Table:
    taken = desk.agent.undo(conversations.count("undo", rest) or 1)
    return facts(("turns taken back", taken), ("turns left", len(desk.agent.turn.starts)), value=taken)


def _retry(_desk: Desk, _rest: str) -> Table:
    raise HermesError("%hermes retry runs a turn, so it stands alone in its cell.")


def _compress(_desk: Desk, _rest: str) -> Table:
    raise HermesError("%hermes compress asks a model, so it stands alone in its cell.")


def _look(_desk: Desk, _rest: str) -> Table:
    raise HermesError("%hermes nudge and %hermes review ask a model, so each stands alone in its cell.")


def _model(desk: Desk, rest: str) -> Table:
    if rest:
        desk.configure(model=rest)
    settings = desk.agent.settings
    return facts(
        ("model", settings.model or "(chosen at the first turn)"),
        ("endpoint", settings.base_url or "(chosen at the first turn)"),
        ("fallbacks", ", ".join(settings.fallback_models) or "none"),
        value=settings.model,
    )


def _tools(desk: Desk, rest: str) -> Table:
    nothing("tools", rest)
    desk.offer()
    specs = desk.agent.tools.specs()
    return Table(("tool", "what it does"), tuple((spec.name, brief(spec.description, 100)) for spec in specs), specs)


def _config(desk: Desk, rest: str) -> Table:
    name, equals, value = (part.strip() for part in rest.partition("="))
    if equals:
        desk.configure(**{name: value})
    elif name and name not in RANGES:
        desk.settings.with_(**{name: ""})
    shown = [row for row in desk.settings.shown() if not name or row.name == name]
    rows = tuple((row.name, row.value, row.source, row.allowed, row.about) for row in shown)
    return Table(("setting", "value", "set by", "allowed", "what it is"), rows, desk.settings)


def _help(_desk: Desk, rest: str) -> Table:
    if rest:
        found = find(rest)
        if rest == "schedule":
            from magics.commands.jobs import forms

            return Table(("write", "to"), forms(), (rest,))
        return Table(("write", "to"), ((f"%hermes {rest} {found.takes}".strip(), found.about),), (rest,))
    commands = [(f"%hermes {name} {command.takes}".strip(), command.about) for name, command in COMMANDS.items()]
    cell = [("%%hermes [options]", "ask: the prompt is the rest of the cell; $name shows a variable, @path a file")]
    rows = (*cell, *((f"    {name}", about) for name, about in options()), *commands)
    return Table(("write", "to"), rows, tuple(COMMANDS))


def _at(place: str) -> Callable[[Desk, str], Shown]:
    """The function at ``module.name`` of these commands, imported when it is first needed."""
    module, _, name = place.partition(".")

    def do(desk: Desk, rest: str) -> Shown:
        shown: Shown = getattr(import_module(f"magics.commands.{module}"), name)(desk, rest)
        return shown

    return do


COMMANDS: dict[str, Command] = {
    "status": Command(
        "", "see the session, the model, how full its window is and how the last turn ended", standing.status
    ),
    "budget": Command(
        "[N]", "see what the last turn used of its model calls, or set how many there are", standing.budget
    ),
    "usage": Command(
        "[all|kind|model|day|session [N days]]",
        "see the tokens of this conversation, or of everything there is",
        _at("usage.usage"),
    ),
    "timeline": Command(
        "[ID] [turn N|all]",
        "see when the last turn did what, another one, or the whole conversation",
        _at("timeline.timeline"),
    ),
    "new": Command("", "begin another conversation", _new),
    "sessions": Command(
        "[N] [all] | tree [ID]",
        "list the latest conversations, all sessions, or the relatives of one",
        conversations.sessions,
    ),
    "search": Command("QUERY", "find what was said, in all conversations", conversations.search),
    "show": Command(
        "[ID] [turns|PLACE|summary|all]",
        "read a conversation, its turns, around a place in it; its summary; all of it since before it was compressed",
        conversations.show,
    ),
    "resume": Command("ID|last", "go on with an earlier conversation", conversations.resume),
    "branch": Command("[N]", "go on with a copy of this conversation, up to its turn N", conversations.branch),
    "title": Command("TEXT", "name this conversation", conversations.title),
    "export": Command("[ID] FILE", "write a conversation to a .md, .jsonl or .ipynb file", conversations.export),
    "sql": Command("SELECT …", "ask the database: sessions, messages, tool_calls, calls, facts", conversations.sql),
    "compress": Command("[FOCUS]", "summarise the older part of this conversation now; alone in its cell", _compress),
    "nudge": Command("", "look back now for what is worth remembering; alone in its cell", _look),
    "review": Command("", "look back now whether the last task is worth a skill; alone in its cell", _look),
    "undo": Command("[N]", "take back the last turns", _undo),
    "retry": Command("", "take back the last turn and ask again; alone in its cell", _retry),
    "model": Command("[NAME]", "see or change the model", _model),
    "tools": Command("", "list the tools the model is offered", _tools),
    "mcp": Command(
        "[add NAME COMMAND|URL]",
        "see the MCP servers whose tools are offered; add, remove, restart, tools",
        _at("mcp.mcp"),
    ),
    "memory": Command(
        "[add|edit|remove|history|undo|accept|reject …]",
        "see and change what is remembered of you",
        _at("memory.memory"),
    ),
    "skills": Command(
        "[WORDS|all|stale|archived|held|install PATH|accept ID|reject ID]",
        "see which skills there are",
        _at("skills.skills"),
    ),
    "skill": Command(
        "NAME [pin|unpin|disable|enable|trust|archive|restore|history|diff|undo|uninstall]",
        "read a skill, mark it, change what becomes of it",
        _at("skills.skill"),
    ),
    "curator": Command(
        "[plan|run|report|rollback|restore …]",
        "see and decide what becomes of skills that nobody uses",
        _at("curator.curator"),
    ),
    "schedule": Command(
        '"WHEN" "PROMPT" [options]',
        "have work done at set times; next, change, pause, run, stop, targets …",
        _at("jobs.schedule"),
    ),
    "jobs": Command("[NAME]", "see the jobs there are, or all about one", _at("jobs.jobs")),
    "runs": Command(
        "[NAME|RUN|stop RUN] [-n N]", "see what became of each time, or all about one run", _at("jobs.runs")
    ),
    "loops": Command("", "see the eight loops: what each wrote, and what has read it since", _at("loops.loops")),
    "record": Command(
        "[on|off|FILE]",
        "record what models say from here on; on: in NAME.cassette.jsonl beside the notebook",
        _at("recording.record"),
    ),
    "replay": Command(
        "[on|off|FILE|diff]",
        "answer from a recording; diff: what was asked that nobody recorded",
        _at("recording.replay"),
    ),
    "spec": Command(
        "[on|off]",
        "fix clock, ids and order, so that outputs stay the same; before the first turn",
        _at("recording.spec"),
    ),
    "config": Command("[NAME[=VALUE]]", "see or change settings", _config),
    "doctor": Command("", "check that everything a turn needs is there", _at("examined.doctor")),
    "help": Command("[COMMAND]", "see this, or one of these", _help),
}
