"""Paths a model names: from the working folder, ``~`` understood, and whether a write would leave that folder."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from hermes_kernel.core.text import brief
from hermes_kernel.world.tools.results import ToolError
from hermes_kernel.world.tools.risk import Risk

APPROVALS = "approvals.json"
CONSENTS = frozenset({
    APPROVALS, "skills/.hermes-kernel.json", "skills/.hermes-kernel.scanned.json", "skills/.usage.json",
    "memories/.memory.md.known", "memories/.user.md.known", "kernel.toml",
})  # fmt: skip
WAITING = ("proposals/", "schedule/")
NEAR = 5
NAME_BYTES = 255  # what file systems take


def located(path: str, folder: Path) -> Path:
    """The absolute path meant by `path`.

    Raises:
        ToolError: it is empty, too long, holds a NUL, or names a home that does not exist.
    """
    if not path.strip() or "\0" in path:
        raise ToolError(f"{path!r} is not a path.")
    if any(len(part.encode()) > NAME_BYTES for part in path.split("/")):
        raise ToolError(f"{brief(path, 80)} has a name in it that is too long.")
    try:
        return Path(os.path.normpath(folder / _home_of(path)))
    except RuntimeError as error:
        raise ToolError(f"{path}: there is no such home folder.") from error


def _home_of(path: str) -> Path:
    """`path` with a leading ``~`` filled in. A ``~`` elsewhere, as in ``./~``, is a name like any other."""
    return Path(path).expanduser() if path.startswith("~") else Path(path)


def write_risk(path: str, folder: Path, home: Path) -> Risk | None:
    """The risk of a write that ends outside `folder`, or in the agent's own `home`, links followed; None elsewhere. An
    answer of "always" covers the folder the file is in. What a person has allowed is never the agent's to change."""
    try:
        target = Path(os.path.realpath(folder / _home_of(path)))
    except (ValueError, RuntimeError, OSError):
        return None
    work, own = Path(os.path.realpath(folder)), Path(os.path.realpath(home))
    if _is_consent(target, own):
        return Risk("write:approvals", "it changes what you have allowed or consented to", forbidden=True)
    if target.is_relative_to(own):
        return Risk(f"write:{target.parent}", f"it writes to the agent's own folder, to {target}")
    if target.is_relative_to(work):
        return None
    return Risk(f"write:{target.parent}", f"it writes outside the working folder {work}, to {target}")


def _is_consent(target: Path, own: Path) -> bool:
    """Whether a file of the home says what a person has set, allowed, consented to or not decided yet, whom jobs tell,
    or whose a skill is. Names are told apart as file systems do that know no case."""
    if not target.is_relative_to(own):
        return False
    named = target.relative_to(own).as_posix().casefold()
    return named in CONSENTS or named.startswith(WAITING)


def missing(path: str, at: Path) -> ToolError:
    """What to say of a file that is not there: the names that come near, or how far its path exists."""
    parent = at.parent
    if not parent.is_dir():
        there = next((str(up) for up in parent.parents if up.is_dir()), "/")
        return ToolError(f"{path}: there is no folder {parent}; the path exists as far as {there}.")
    try:
        names = sorted(entry.name for entry in os.scandir(parent))[:5_000]
    except OSError:
        names = []
    near = difflib.get_close_matches(at.name, names, n=NEAR, cutoff=0.5)
    hint = f" Near it: {', '.join(near)}." if near else f" {parent} holds: {', '.join(names[:20]) or 'nothing'}."
    return ToolError(f"{brief(path, 300)}: there is no such file.{hint}")


def said(error: OSError, path: str) -> ToolError:
    """An operating system's refusal, in one line."""
    return ToolError(f"{brief(path, 300)}: {error.strerror or error}.")
