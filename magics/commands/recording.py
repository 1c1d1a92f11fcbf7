"""``%hermes record``, ``replay`` and ``spec``: what models say, kept and said again; outputs that stay the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.text import brief, dotted
from hermes_kernel.errors import HermesError
from hermes_kernel.world.folder import here
from magics.cassettes import OFF, ON, cassette
from magics.commands.table import Shown, Table, as_it_stands, facts
from magics.options import split

if TYPE_CHECKING:
    from hermes_kernel.settings import Settings
    from magics.desk import Desk

DIFF = "diff"
NOTHING = "nothing"
ANEW = "The file is there already: what is recorded from here on takes its place."
GONE = "it is not there, or cannot be read; the next prompt says why"
FILLED = "What is in the file is answered from it; the rest is asked, and added."


def record(desk: Desk, rest: str) -> Table:
    """What is recorded; with a file or ``on``, from here on; with ``off``, no more. Its value is what is in force.

    Raises:
        HermesError: it is not known which file is meant, or it cannot be recorded in.
    """
    word, note = _word("record", rest), ""
    if word:
        desk.configure(record=_file(word, "record"))
        note = _noted(desk.agent.settings)
    return _told(desk, note)


def replay(desk: Desk, rest: str) -> Shown:
    """What answers in place of a model; with a file or ``on``, from here on; with ``off``, no more; with ``diff``, how
    the latest request that nobody recorded differs from the one that is most like it. Its value is what is in force.

    Raises:
        HermesError: it is not known which file is meant, there is none, or it is none that can be read.
    """
    word = _word("replay", rest)
    if word == DIFF:
        return _differing(desk)
    if word:
        file = _file(word, "replay")
        if file and not Path(file).exists() and file != desk.settings.record:
            raise HermesError(f"There is no recording {file}. `%hermes record {word}` makes one.")
        desk.configure(replay=file)
    return _told(desk)


def spec(desk: Desk, rest: str) -> Table:
    """Whether clock, ids and order are fixed; with ``on`` or ``off``, they are from here on, or not. Its value is
    whether they are.

    Raises:
        HermesError: there has been a turn already.
    """
    word = _word("spec", rest)
    if word not in ("", ON, OFF):
        raise HermesError(f"spec takes on or off, not {brief(word, 40)!r}.")
    if word:
        desk.configure(spec=word == ON)
    agent = desk.agent
    rows: tuple[tuple[str, Any], ...] = (("clock, ids and order", "fixed" if agent.spec else "as they come"),)
    if agent.spec:
        rows += (("clock", f"{minute(agent.now())}, later only by what was waited for"), ("home", desk.home))
    return facts(*rows, value=agent.spec)


def in_a_line(desk: Desk) -> str:
    """What is recorded or replayed, for ``%hermes status``."""
    settings, recorded = desk.agent.settings, desk.agent.recording
    if recorded is None:
        return f"{_seen(settings.replay)}: {GONE}" if settings.replay else NOTHING
    played = f"replayed from {_seen(settings.replay)}" if settings.replay else ""
    kept = f"recorded in {_seen(settings.record)}" if settings.record else ""
    return dotted(played, kept, counted(recorded.exchanges, "exchange"), counted(recorded.calls, "call"))


def _told(desk: Desk, note: str = "") -> Table:
    """What is in force, and how much of it there is."""
    settings, recorded = desk.agent.settings, desk.agent.recording
    rows: list[tuple[str, Any]] = [
        ("recorded in", _seen(settings.record) or NOTHING),
        ("replayed from", _seen(settings.replay) or NOTHING),
    ]
    if recorded is not None:
        rows += [("exchanges with models", recorded.exchanges), ("calls of tools", recorded.calls)]
    if settings.replay and recorded is not None:
        rows += [("not used yet", dotted(*recorded.unused) or NOTHING), *_manner(settings)]
    elif settings.replay:
        note = f"{_seen(settings.replay)}: {GONE}"
    return Table(("", ""), tuple(rows), recorded, note)


def _seen(file: str) -> str:
    """A file as it is shown: from the working folder on, so that it is the same wherever that lies."""
    return file.removeprefix(f"{here()}/")


def _manner(settings: Settings) -> list[tuple[str, str]]:
    """How it is played."""
    pauses = "as they were" if settings.replay_gaps else "none"
    return [("pauses", pauses), ("tools", "from the recording" if settings.replay_tools else "really run")]


def _differing(desk: Desk) -> Shown:
    recorded = desk.agent.recording
    if recorded is None or not recorded.missed:
        return facts(("not recorded", NOTHING), value="", note="Whatever was asked was in the recording.")
    return as_it_stands(recorded.missed, recorded.missed)


def _noted(settings: Settings) -> str:
    """What a person should know who has just begun to record."""
    if not settings.record:
        return ""
    if settings.record == settings.replay:
        return FILLED
    return ANEW if Path(settings.record).exists() else ""


def _file(word: str, command: str) -> str:
    return "" if word == OFF else cassette(word, f"%hermes {command}")


def _word(name: str, rest: str) -> str:
    """The one word behind a command, quotes taken off; nothing where there is none."""
    words = split(rest)
    if len(words) > 1:
        raise HermesError(f"{name} takes one word, not {brief(rest, 40)!r}. A name with spaces stands in quotes.")
    return words[0] if words else ""
