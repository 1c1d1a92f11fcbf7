"""Which shell commands need a person's word because they plainly write to the agent's own folder, by any of its names
or from within, or set what it may do. A guard against accidents, like all of `danger`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from hermes_kernel.core.text import brief
from hermes_kernel.world.tools.danger import shell_risk
from hermes_kernel.world.tools.risk import Risk, together

OWN = "~/.hermes"  # as the table of `danger` knows it
SHORTEST = 3  # parts of a path; a home that is nearly the root is named by everything
WRITES = re.compile(
    r">(?!&|\s*/dev/null)|\bsed\s+-\w*i"
    r"|\b(?:tee|mv|cp|rm|ln|install|rsync|truncate|dd|touch|unzip|tar|patch|shred|wget|curl)\b"
)
SWAYED = re.compile(r"\bHERMES_(?:APPROVALS|SCHEDULE_WRITES|RUN)=|(?:\bunset|\s-u|--unset)[\s=]*HERMES_")
NAMED = rf"[\"']?{re.escape(OWN)}(?![\w-])"
THERE = re.compile(
    rf"\b(?:cd|pushd)\s+{NAMED}|\b(?:touch|truncate|patch|mv)\b[^|;&\n]{{0,400}}\s{NAMED}"
    rf"|\b(?:cp|install|ln|rsync)\b[^|;&\n]{{0,400}}\s{NAMED}[^\s|;&]*\s*(?:$|[|;&\n])"
    rf"|\b(?:unzip|tar|wget|curl)\b[^|;&\n]{{0,400}}\s-(?:\w*[dCOoP]|-output|-directory)[\s=]*{NAMED}"
)


def shell_risk_at(command: str, at: Path, home: Path) -> Risk | None:
    """The worst thing `command`, run in the folder `at`, is known to do, writes to `home` among it; or None."""
    own = Path(os.path.realpath(home))
    here = Path(os.path.realpath(at))
    persons = tuple(_persons())
    written_out = [(name, path) for path in persons for name in ("${HOME}", "$HOME", "~")]
    ours = [(name, OWN) for name in _names(home, own, here)]
    for name, meant in (*written_out, *ours, *((path, "~") for path in persons)):
        command = re.sub(rf"(?<![\w/.~-]){re.escape(name)}(?![\w-])", meant.replace("\\", r"\\"), command)
    return together((shell_risk(command), *_own(command, inside=here.is_relative_to(own))))


def _own(command: str, *, inside: bool) -> Iterator[Risk]:
    """What it does to the agent itself, ``inside`` whose folder it is run or not."""
    if SWAYED.search(command):
        yield Risk("shell:own-settings", f"it sets what an agent may do without asking ({brief(command, 200)})")
    if (inside or THERE.search(command)) and WRITES.search(command):
        yield Risk("shell:own-folder", f"it may write to the agent's own folder ({brief(command, 200)})")


def _persons() -> Iterator[str]:
    """The path of the person's home, where they have one."""
    path = os.path.expanduser("~")  # noqa: PTH111 - where nobody knows it, Path raises
    if len(Path(path).parts) > 1:
        yield path


def _names(home: Path, own: Path, here: Path) -> Iterator[str]:
    """How a command may call the folder, the longest first."""
    paths = [str(each) for each in (home, own) if len(each.parts) >= SHORTEST]
    if not here.is_relative_to(own):
        beside = os.path.relpath(own, here)
        paths += [beside, f"./{beside}"]
    yield from ("${HERMES_HOME}", "$HERMES_HOME", *sorted(paths, key=len, reverse=True))
