"""The search itself, as a program of its own: a pattern may take for ever, and only a process can be ended.

Reads a JSON object on standard input (pattern, path, glob, results), writes one line for each find. Needs only Python.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SKIPPED = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache",
           ".ipynb_checkpoints", ".tox", "site-packages"}  # fmt: skip
LARGEST = 5_000_000
LINE = 300
PER_FILE = 50


def files(path: str, glob: str) -> Iterator[tuple[str, str]]:
    """(full path, name from `path`) of every file below it, in a stable order; links are not followed."""
    if Path(path).is_file():
        yield path, Path(path).name
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(names):
            full = str(Path(folder, name))
            short = os.path.relpath(full, path)
            if (
                not glob
                or fnmatch.fnmatch(name, glob)
                or fnmatch.fnmatch(short, glob)
                or fnmatch.fnmatch("/" + short, glob)
            ):
                yield full, short


def lines(full: str) -> Iterator[tuple[int, str]]:
    """Numbered lines of a text file; nothing of a binary, huge, special or unreadable one."""
    try:
        if not Path(full).is_file() or Path(full).stat().st_size > LARGEST:
            return
        content = Path(full).read_bytes()
    except OSError:
        return
    if b"\0" not in content[:8192]:
        yield from enumerate(content.decode(errors="replace").splitlines(), 1)


def finds(pattern: re.Pattern[str], path: str, glob: str) -> Iterator[str]:
    """One line for each find, a name before its contents."""
    for full, short in files(path, glob):
        shown = short.encode(errors="replace").decode()
        if pattern.search(shown):
            yield shown
        found = 0
        for number, line in lines(full):
            if pattern.search(line[:10_000]):
                found += 1
                if found > PER_FILE:
                    yield f"{shown}: [more than {PER_FILE} lines of this file]"
                    break
                yield f"{shown}:{number}: {line.strip()[:LINE]}"


def main() -> None:
    """Search as told, up to the number of results asked for."""
    wanted = json.load(sys.stdin)
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    for count, find in enumerate(finds(re.compile(wanted["pattern"]), wanted["path"], wanted["glob"]), 1):
        if count > wanted["results"]:
            sys.stdout.write(f"[more than {wanted['results']} finds; narrow the pattern, the path or the glob]\n")
            break
        sys.stdout.write(find + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
