"""Where the notebooks of runs lie, and how many of them stay. Nothing is done behind a link, and nothing but what a run
made is removed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.zones import rules
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.world.store.disk import make

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
MADE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)(?:-(\d+))?\.ipynb", re.ASCII)
HALF = re.compile(rf"\.({MADE.pattern})\.\d+", re.ASCII)
TIME = "%Y-%m-%dT%H-%M-%S"
APART = 2 * 86_400.0  # seconds by which a run may have begun before what its name says: zones, and clocks set back


def notebook_path(home: Path, job: Job, due: float) -> Path:
    """Where the run of `job` for the instant `due` is written: named for the instant as the job's zone has it, and by a
    number where there is one of that name, as in the hour that comes twice.

    Raises:
        HermesError: the job's name is none.
    """
    if NAME.fullmatch(job.name) is None:
        raise HermesError(f"{brief(job.name, 80)!r} is no name of a job: it has a-z, 0-9 and hyphens, at most 100.")
    folder = home / "runs" / job.name
    name = datetime.fromtimestamp(due, rules(job.zone)).strftime(TIME)
    names = (f"{name}.ipynb" if k == 1 else f"{name}-{k}.ipynb" for k in count(1))
    return next(folder / each for each in names if not os.path.lexists(folder / each))


def prepare(folder: Path) -> None:
    """`folder` is there, and is one.

    Raises:
        HermesError: it, or the folder above it, is a link to elsewhere.
        OSError: it cannot be made.
    """
    for each in (folder.parent, folder):
        if each.is_symlink():
            raise HermesError(f"{each} is a link: notebooks of runs are written to no other place. Remove it.")
    make(folder)


def keep(folder: Path, most: int, latest: Path, own: Callable[[float], Collection[str]]) -> None:
    """Let go of the oldest notebooks that runs of a job wrote into `folder`, so that `most` are left, `latest` among
    them, and of what a run of it that was killed had half written. ``own(since)`` are the names of those that were
    begun after `since` (seconds since 1970): an earlier job of that name may have left its own."""
    with suppress(OSError), closing(_Folder(folder)) as there:
        names = there.files()
        made = sorted((found[1], int(found[2] or 1), found[0]) for name in names if (found := MADE.fullmatch(name)))
        half = [found for name in names if (found := HALF.fullmatch(name))]
        if len(made) <= max(1, most) and not half:
            return
        first = min((*(time for time, _, _ in made), *(found[2] for found in half)))
        ours = own(max(_instant(first) - APART, 0.0))
        made = [each for each in made if each[2] in ours]
        old = [name for _, _, name in made[: max(0, len(made) - max(1, most))] if name != latest.name]
        for name in (*old, *(found[0] for found in half if found[1] in ours)):
            there.remove(name)


def _instant(time: str) -> float:
    """The instant in a name, as if its zone were UTC."""
    with suppress(ValueError):
        return datetime.strptime(time, TIME).replace(tzinfo=UTC).timestamp()
    return 0.0


class _Folder:
    """A folder that is no link, held open: what is removed is removed in it, whatever becomes of its name."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def files(self) -> list[str]:
        with os.scandir(self._handle) as found:
            return [each.name for each in found if each.is_file(follow_symlinks=False)]

    def remove(self, name: str) -> None:
        with suppress(OSError):  # somebody else did, or it is not to be removed: then it stays
            os.unlink(name, dir_fd=self._handle)

    def close(self) -> None:
        os.close(self._handle)
