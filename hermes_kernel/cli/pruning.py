"""``hermes-kernel sessions delete|prune|compact``: what is no longer wanted goes, and the space it took comes back."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hermes_kernel.cli.opened import Commands, command, opened
from hermes_kernel.cli.trouble import Misuse
from hermes_kernel.core.figures import counted, minute
from hermes_kernel.core.text import brief
from hermes_kernel.view import clean
from hermes_kernel.view.kept.finds import short

if TYPE_CHECKING:
    from hermes_kernel.world.store import Store
    from hermes_kernel.world.store.retention.compaction import Compacted
    from hermes_kernel.world.store.retention.deletion import Leaving

DAY = 86_400.0  # seconds
DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
AGE = re.compile(r"(?P<count>[1-9][0-9]{0,4})(?P<unit>[dwmy])")


def add_pruning(commands: Commands[argparse.ArgumentParser]) -> None:
    """The commands below ``sessions``."""
    made = command(commands, "delete", "delete sessions and all that was kept of them, for good")
    made.add_argument("session", nargs="+", metavar="ID", help="a session's id, the beginning of it, or its title")
    made.add_argument("--lineage", action="store_true", help="and the sessions it came from, and those made from it")
    _options(made, delete)
    made = command(commands, "prune", "delete the sessions in which nothing has happened for long")
    made.add_argument(
        "--older-than", required=True, metavar="AGE", help="days, weeks, months of 30 days or years: 180d, 26w, 6m, 1y"
    )
    made.add_argument("--keep-titled", action="store_true", help="but none that somebody has named")
    _options(made, prune)
    made = command(commands, "compact", "write the database anew, without what was deleted")
    made.add_argument("--damaged", action="store_true", help="and remove what was set aside, damaged or as a backup")
    made.add_argument("--json", action="store_true", help="a JSON object instead of text")
    made.set_defaults(do=compact)


def delete(options: argparse.Namespace) -> int:
    """Delete the sessions that are named.

    Raises:
        Failure: there is no such session; nothing is deleted.
        StoreError: a process is in one of them, or the store cannot be written.
    """
    with opened() as store:
        named = dict.fromkeys(store.find(each) for each in options.session)
        kin = (sorted(store.family(each)) if options.lineage else [each] for each in named)
        return _let_go(store, [each for some in kin for each in some], options, spare_busy=False)


def prune(options: argparse.Namespace) -> int:
    """Delete what is older than asked for, but no session that a process is in.

    Raises:
        Misuse: the age is none.
        StoreError: the store cannot be written now.
    """
    from hermes_kernel.world.store.retention.deletion import stale

    seconds = age(options.older_than)
    with opened() as store:
        old = stale(store.home, _now() - seconds, keep_titled=options.keep_titled)
        return _let_go(store, old, options, spare_busy=True)


def compact(options: argparse.Namespace) -> int:
    """Write the database anew and say what that gave.

    Raises:
        StoreError: others are at it, or the disk lacks room. Everything is as it was.
    """
    from hermes_kernel.world.store.retention.compaction import compact as compacted

    with opened() as store:
        done = compacted(store.home, damaged=options.damaged)
    if options.json:
        print(json.dumps(asdict(done)))
    else:
        print("\n".join(_told(done)))
    return 0


def age(text: str) -> float:
    """An age such as ``180d`` in seconds.

    Raises:
        Misuse: it is no age; the text says what one looks like.
    """
    found = AGE.fullmatch(text.strip().lower())
    if not found:
        raise Misuse(f"--older-than cannot be {text!r}: a number from 1 and d, w, m or y, such as 180d, 26w, 6m, 1y")
    return int(found["count"]) * DAYS[found["unit"]] * DAY


def _options(made: argparse.ArgumentParser, do: Callable[[argparse.Namespace], int]) -> None:
    made.add_argument("--dry-run", action="store_true", help="only say what would go")
    made.add_argument("--json", action="store_true", help="a JSON list of them instead of text")
    made.set_defaults(do=do)


def _let_go(store: Store, sessions: Sequence[str], options: argparse.Namespace, *, spare_busy: bool) -> int:
    from hermes_kernel.world.store.retention.deletion import delete as deleted
    from hermes_kernel.world.store.retention.deletion import leaving

    going = leaving(store.home, sessions)
    if not options.dry_run:
        gone = set(deleted(store, [each.id for each in going], _now(), spare_busy=spare_busy))
        for each in going:
            if each.id not in gone:
                print(f"hermes-kernel: {each.id} is in use and stays", file=sys.stderr)
        going = [each for each in going if each.id in gone]
    if options.json:
        print(json.dumps([asdict(each) for each in going], ensure_ascii=False, indent=2))
    else:
        print("\n".join([*map(_line, going), _sum(going, done=not options.dry_run)]))
    return 0


def _line(going: Leaving) -> str:
    parts = (short(going.id), minute(going.active), counted(going.messages, "message"), f"{going.bytes:,} bytes")
    return "  ".join((*parts, brief(clean(going.title), 60)))


def _sum(going: Sequence[Leaving], *, done: bool) -> str:
    if not going:
        return "There is nothing to delete."
    what = f"{counted(len(going), 'session')}, {sum(each.bytes for each in going):,} bytes"
    if done:
        return f"{what} deleted. `hermes-kernel sessions compact` gives the space back."
    return f"{what} would be deleted."


def _told(done: Compacted) -> list[str]:
    lines = [f"{done.before:,} bytes before, {done.after:,} after"]
    if done.living:
        lines.append(f"Lines of deleted sessions stay until their notebooks are closed in {', '.join(done.living)}")
    if done.aside:
        lines.append(f"--damaged removes what was set aside: {', '.join(done.aside)}")
    return lines


def _now() -> float:
    return datetime.now(UTC).timestamp()
