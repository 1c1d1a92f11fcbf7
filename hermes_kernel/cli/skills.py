"""``hermes-kernel skills``: which skills there are, what one says, how it is marked, what becomes of it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.cli.trouble import Failure, Misuse

if TYPE_CHECKING:
    from hermes_kernel.learning.lore import Lore
    from hermes_kernel.learning.skills.asked import Answer

EXAMPLES = """\
  hermes-kernel skills                      all but the archived; also: all, stale, archived, held, pinned, WORDS
  hermes-kernel skills show NAME            read one, and what is suspicious in it
  hermes-kernel skills pin NAME             also unpin, disable, enable, trust, archive, restore, uninstall
  hermes-kernel skills history NAME         what became of it; `diff NAME [N]` shows a change, `undo NAME [N]` undoes it
  hermes-kernel skills install PATH         from a folder or a .zip file; --replace, --anyway
  hermes-kernel skills accept ID            or `reject ID`: what waits for your consent
"""


def add_skills(commands: Commands[argparse.ArgumentParser]) -> None:
    """The command and its arguments."""
    made = command(commands, "skills", "list, read, mark, install and change skills")
    made.epilog, made.formatter_class = EXAMPLES, argparse.RawDescriptionHelpFormatter
    made.add_argument("words", nargs="*", metavar="…", help="what to list, or what to do with which")
    made.add_argument("--anyway", action="store_true", help="install although something in it looks suspicious")
    made.add_argument("--replace", action="store_true", help="install over one of the same name")
    made.add_argument("--json", action="store_true", help="JSON instead of text")
    made.set_defaults(do=skills)


def skills(options: argparse.Namespace) -> int:
    """Do what is asked for and print what came of it.

    Raises:
        Misuse: it was said wrongly.
        Failure: it cannot be done.
        StoreError: the disk or the store does not take it.
    """
    from hermes_kernel.core.learning.skill import SkillError
    from hermes_kernel.learning.skills.asked import refused

    flags = [flag for flag, said in (("--anyway", options.anyway), ("--replace", options.replace)) if said]
    if flags and options.words[:1] != ["install"]:
        raise Misuse(f"{flags[0]} goes with: hermes-kernel skills install PATH")
    with _lore() as lore:
        try:
            answer = _done(lore, options.words, flags)
        except SkillError as error:
            raise Failure(_clean(refused(error, "Add --anyway if you want it all the same."))) from None
    print(json.dumps(answer.value, ensure_ascii=False, indent=2) if options.json else _text(answer))
    return 0


def _done(lore: Lore, words: Sequence[str], flags: Sequence[str]) -> Answer:
    from hermes_kernel.learning.skills import asked

    action, *rest = words or [""]
    if action == "install":
        return asked.install(lore, [*rest, *flags])
    deciding: dict[str, Callable[[Lore, str], Answer]] = {
        "show": asked.shown, "accept": asked.accept, "reject": asked.reject,
    }  # fmt: skip
    if action in deciding:
        if len(rest) != 1:
            raise Misuse(f"it is written: hermes-kernel skills {action} {'NAME' if action == 'show' else 'ID'}")
        return deciding[action](lore, rest[0])
    if action in asked.VERBS:
        if not rest:
            raise Misuse(f"it is written: hermes-kernel skills {action} NAME")
        return asked.do(lore, rest[0], action, rest[1:])
    return asked.listed(lore, " ".join(words))


@contextmanager
def _lore() -> Iterator[Lore]:
    from hermes_kernel.learning.lore import open_learning
    from hermes_kernel.settings import Settings
    from hermes_kernel.world.clock import SystemClock
    from hermes_kernel.world.ids import fresh_id

    with opened() as store:
        yield open_learning(Settings.load(), store, SystemClock(), fresh_id)


def _text(answer: Answer) -> str:
    from hermes_kernel.view.columns import aligned

    table = "\n".join(aligned(answer.columns, answer.rows)) if answer.rows else ""
    return _clean("\n\n".join(filter(None, (table, answer.text.strip(), answer.note))))


def _clean(text: str) -> str:
    from hermes_kernel.core.safe import clean

    return clean(text)
