"""The notebook that a run left, as a page can open it: by a link where it lies below the notebook that shows the panel,
or beside it once it was brought there. A page opens nothing above its own folder, and nothing in a hidden one.
"""

from __future__ import annotations

import os
import re
from itertools import count
from pathlib import Path
from urllib.parse import quote

from hermes_kernel.errors import HermesError
from hermes_kernel.world.store.disk import PRIVATE_FILE

ODD = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST = 100  # characters of a name
MOST = 50_000_000  # bytes of a notebook that is brought


def here() -> Path:
    """The folder of the notebook that this kernel runs for."""
    named = os.environ.get("JPY_SESSION_NAME", "")
    beside = Path(named).parent
    return beside if Path(named).is_absolute() and beside.is_dir() else Path.cwd()


def left_by_a_run(notebook: str, home: Path) -> Path | None:
    """The file, where that is one that a run of this home has left: a record may name any."""
    path = Path(notebook)
    try:
        real = path.resolve(strict=True)
        inside = real.is_relative_to((home / "runs").resolve())
        return real if inside and real.suffix == ".ipynb" and real.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def link_to(path: Path, folder: Path) -> str:
    """Where a page finds `path`, as seen from a notebook in `folder`; nothing where it cannot."""
    try:
        below = path.resolve().relative_to(folder.resolve())
    except (OSError, ValueError):
        return ""
    return "" if any(part.startswith(".") for part in below.parts) else f"./{quote(below.as_posix())}"


def brought(path: Path, folder: Path) -> Path:
    """A copy of a run's notebook in `folder`, or the one that is there already. Nothing is written over.

    Raises:
        HermesError: it cannot be read or written, or is too large.
    """
    name = ODD.sub("-", f"{path.parent.name}-{path.stem}")[:LONGEST].lstrip(".-") or "run"
    try:
        if path.stat().st_size > MOST:
            raise HermesError(f"{path} has more than {MOST // 1_000_000} MB: open it where it is.")
        content = path.read_bytes()
        names = (folder / f"{name}{f'-{n}' if n > 1 else ''}.ipynb" for n in count(1))
        return next(each for each in names if _holds(each, content))
    except OSError as error:
        raise HermesError(f"The notebook cannot be brought to {folder} ({error.strerror or error}).") from None


def _holds(path: Path, content: bytes) -> bool:
    """Whether `path` has this content, now if there was nothing before."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE)
    except FileExistsError:
        return path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    return True
