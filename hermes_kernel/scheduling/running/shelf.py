"""Where the notebooks of runs lie, and how many of them stay. Nothing is done behind a link, and nothing but what a run
made is removed."""

from __future__ import annotations

import os
import re
from contextlib import closing, suppress
from datetime import datetime
from itertools import count
from pathlib import Path

from hermes_kernel.core.schedule.job import Job
from hermes_kernel.core.schedule.zones import rules
from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.world.store.disk import make

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
MADE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)(?:-(\d+))?\.ipynb", re.ASCII)
HALF = re.compile(r"\.\d{4}-[\d-]+T[\d-]+\.ipynb\.\d+", re.ASCII)


def notebook_path(home: Path, job: Job, due: float) -> Path:
    """Where the run of `job` for the instant `due` is written: named for the instant as the job's zone has it, and by a
    number where there is one of that name, as in the hour that comes twice.

    Raises:
        HermesError: the job's name is none.
    """
    if NAME.fullmatch(job.name) is None:
        raise HermesError(f"{brief(job.name, 80)!r} is no name of a job: it has a-z, 0-9 and hyphens, at most 100.")
    folder = home / "runs" / job.name
    name = datetime.fromtimestamp(due, rules(job.zone)).strftime("%Y-%m-%dT%H-%M-%S")
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


def keep(folder: Path, most: int, latest: Path) -> None:
    """Let go of the oldest notebooks of runs in `folder`, so that `most` are left, `latest` among them, and of what a
    run that was killed had half written."""
    with suppress(OSError), closing(_Folder(folder)) as there:
        names = there.files()
        made = sorted((found[1], int(found[2] or 1), found[0]) for name in names if (found := MADE.fullmatch(name)))
        old = [name for _, _, name in made[: max(0, len(made) - max(1, most))] if name != latest.name]
        for name in (*old, *filter(HALF.fullmatch, names)):
            there.remove(name)


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
