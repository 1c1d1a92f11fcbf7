"""``hermes-kernel memory``: what the agent remembers, seen and changed from a shell."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.cli.trouble import Failure, Misuse

if TYPE_CHECKING:
    from hermes_kernel.core.learning.memory import Change
    from hermes_kernel.learning.memory import Memory

ACTIONS = ("show", "add", "edit", "remove", "history", "undo", "accept", "reject")
ABOUT = "add [user] TEXT, edit [N [TEXT]], remove N, history [N], undo [N], accept or reject ID|all"
CONSENT = "Add --anyway if you want it all the same."
USUAL = 20  # changes that are shown


def add_memory(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    made = command(commands, "memory", "see and change what the agent remembers")
    made.add_argument("action", choices=ACTIONS, nargs="?", default="show", help="what to do (default: show)")
    made.add_argument("words", nargs="*", metavar="…", help=ABOUT)
    made.add_argument("--anyway", action="store_true", help="write an entry although it looks suspicious")
    made.add_argument("--json", action="store_true", help="JSON instead of text")
    made.set_defaults(do=memory)


def memory(options: argparse.Namespace) -> int:
    """Do what is asked for and print what came of it.

    Raises:
        Misuse: there is no such entry, change or proposal, or it cannot be remembered.
        StoreError: the disk or the store does not take it.
    """
    from hermes_kernel.core.learning.memory import MemoryFull, MemoryRefused, MemoryThreat
    from hermes_kernel.learning.memory.asked import full
    from hermes_kernel.learning.proposals import NoProposal

    words = [*(["--anyway"] if options.anyway else []), *options.words]
    with _kept() as kept:
        try:
            value, lines = DO[options.action](kept, words)
        except MemoryThreat as threat:
            raise Failure(f"{threat} {CONSENT}") from None
        except MemoryFull as error:
            raise Failure(full(kept, error)) from None
        except (MemoryRefused, NoProposal) as error:
            raise Failure(str(error)) from None
    _print(value, lines, as_json=options.json)
    return 0


Done = tuple[Any, list[str]]
"""A value for a program, and the lines a person reads."""


@contextmanager
def _kept() -> Iterator[Memory]:
    from hermes_kernel.learning.lore import open_learning
    from hermes_kernel.settings import Settings
    from hermes_kernel.world.clock import SystemClock
    from hermes_kernel.world.ids import fresh_id

    with opened() as store:
        yield open_learning(Settings.load(), store, SystemClock(), fresh_id).memory


def _print(value: Any, lines: list[str], *, as_json: bool) -> None:
    from hermes_kernel.core.safe import clean

    text = json.dumps(value, ensure_ascii=False, indent=2) if as_json else clean("\n".join(lines))
    if text:
        print(text)


def _show(kept: Memory, words: list[str]) -> Done:
    from hermes_kernel.core.learning.memory import FILES, size
    from hermes_kernel.core.learning.memory_words import asked, understood
    from hermes_kernel.learning.memory import asked as asking

    _no(words)
    there, waiting = asking.lines(kept), kept.proposals.all("memory")
    lines: list[str] = []
    for target, name in FILES.items():
        lines.append(f"{name}: {size(kept.entries(target)):,} of {kept.limits().of(target):,} characters")
        lines += [f"{each.n:>4}  {_set_in(each.entry)}" for each in there if each.target == target]
    for each in waiting:
        found = [f"suspicious: {said}" for said in each.findings]
        wanted = "\n".join([asked(*understood(each.what)), *found])
        lines += [f"waits for your consent, by {each.by}: {each.id}", f"      {_set_in(wanted)}"]
    entries = {target: list(kept.entries(target)) for target in FILES}
    return {**entries, "waiting": [dataclasses.asdict(each) for each in waiting]}, lines


def _set_in(text: str) -> str:
    return text.replace("\n", "\n      ")


def _changed(change: Change) -> Done:
    from hermes_kernel.core.learning.memory import FILES
    from hermes_kernel.core.learning.memory_words import LATER
    from hermes_kernel.learning.memory.asked import differences

    lines = (
        differences(change.before, change.after) if change.changed else ["Nothing was changed: it is there already."]
    )
    where = f"{FILES[change.target]}: {change.size:,} of {change.limit:,} characters."
    return dataclasses.asdict(change), [*lines, *change.notes, f"{where} {LATER}" if change.changed else where]


def _add(kept: Memory, words: list[str]) -> Done:
    from hermes_kernel.learning.memory import asked as asking

    return _changed(asking.add(kept, " ".join(words)))


def _edit(kept: Memory, words: list[str]) -> Done:
    """An entry, or in an editor an entry or a whole file."""
    from hermes_kernel.core.learning.memory import FILES, SEPARATOR
    from hermes_kernel.learning.memory import asked as asking

    anyway, words = words[:1] == ["--anyway"], [word for word in words if word != "--anyway"]
    mark = f"{asking.ANYWAY} " if anyway else ""
    if words[1:]:
        return _changed(asking.replace(kept, words[0], mark + " ".join(words[1:])))
    if words and words[0] not in FILES:
        line = asking.the_line(kept, words[0])
        text = _in_editor(line.entry).strip()
        same = text == line.entry
        return ({}, ["Nothing was changed."]) if same else _changed(asking.replace(kept, words[0], mark + text))
    target = words[0] if words else "memory"
    base = kept.entries(target)
    return _changed(kept.edit(target, _in_editor(SEPARATOR.join(base)), "person", base=base))


def _in_editor(text: str) -> str:
    """What a person makes of `text` in their editor.

    Raises:
        Misuse: nobody is there to edit.
        Failure: the editor ended with an error; nothing was changed.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Misuse("memory edit needs the number of an entry and its new TEXT, or a terminal for an editor")
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="hermes-") as folder:
        path = Path(folder) / "memory.md"
        path.write_text(text, encoding="utf-8")
        if subprocess.run([*editor, str(path)], check=False).returncode:
            raise Failure(f"{editor[0]} ended with an error: nothing was changed")
        return path.read_text(encoding="utf-8", errors="replace")


def _remove(kept: Memory, words: list[str]) -> Done:
    from hermes_kernel.learning.memory import asked as asking

    return _changed(asking.remove(kept, " ".join(words)))


def _history(kept: Memory, words: list[str]) -> Done:
    from datetime import UTC, datetime

    from hermes_kernel.core.learning.memory import FILES
    from hermes_kernel.learning.memory import asked as asking

    past = kept.history(asking.count(" ".join(words), USUAL))
    lines = []
    for each in past:
        when = f"{datetime.fromtimestamp(each.t, UTC):%Y-%m-%d %H:%M}"
        lines.append(f"{each.n:>4}  {when}  {each.fact.by}  {FILES[each.fact.target]}  {each.fact.why}".rstrip())
        lines += [f"      {line}" for line in asking.differences(each.fact.before, each.fact.after)]
    return [{"n": each.n, "t": each.t, **dataclasses.asdict(each.fact)} for each in past], lines


def _undo(kept: Memory, words: list[str]) -> Done:
    from hermes_kernel.learning.memory import asked as asking

    return _changed(kept.undo("person", asking.count(" ".join(words), 0)))


def _accept(kept: Memory, words: list[str]) -> Done:
    from hermes_kernel.learning.memory import asked as asking

    done = list(map(_changed, asking.accept(kept, " ".join(words))))
    return [value for value, _ in done], [line for _, lines in done for line in lines] or [asking.NOTHING_WAITS]


def _reject(kept: Memory, words: list[str]) -> Done:
    from hermes_kernel.learning.memory import asked as asking

    gone = asking.reject(kept, " ".join(words))
    return [each.id for each in gone], [asking.rejected(gone)]


def _no(words: list[str]) -> None:
    if words:
        raise Misuse("memory show takes nothing more")


DO: dict[str, Callable[[Memory, list[str]], Done]] = {
    "show": _show, "add": _add, "edit": _edit, "remove": _remove, "history": _history, "undo": _undo,
    "accept": _accept, "reject": _reject,
}  # fmt: skip
