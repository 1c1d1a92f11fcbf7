"""`edit_file`: one passage of a file for another. What it cannot place for certain it does not touch."""

from __future__ import annotations

import codecs
import difflib
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hermes_kernel.core.text import scrub
from hermes_kernel.world.tools.edits import Edit, NoPlace, edited
from hermes_kernel.world.tools.places import located, missing, said, write_risk
from hermes_kernel.world.tools.results import Result, ToolError
from hermes_kernel.world.tools.risk import Risk
from hermes_kernel.world.tools.tool import Tool, built_in
from hermes_kernel.world.tools.write_file import replace

LARGEST = 20_000_000  # bytes
DIFF_LINES = 60


def make_edit_file(folder: Callable[[], Path], home: Path) -> Tool:
    """The tool for files named from `folder`; an edit that leaves it, or ends in the agent's own `home`, is a risk."""

    def edit_file(path: str, old: str, new: str, all: bool = False) -> Result:  # noqa: A002, FBT001, FBT002 - the model's word
        """Replace a passage of a file. It must occur once, unless all is true. Quote it as it stands, indentation too.

        Args:
            path: The file, from the working folder.
            old: The passage to replace.
            new: What to put there.
            all: Replace every occurrence.
        """
        if not old:
            raise ToolError("old is empty; to make a file or write all of it, use write_file.")
        if old == new:
            raise ToolError("old and new are the same; nothing was changed.")
        at = located(path, folder())
        try:
            before, after, edit = _apply(at, path, scrub(old), scrub(new), every=all)
            replace(at, after)
        except (FileNotFoundError, NotADirectoryError):
            raise missing(path, at) from None
        except OSError as error:
            raise said(error, path) from error
        leniency = f" (matched but for {edit.how})" if edit.how else ""
        times = f" in {edit.count} places" if edit.count > 1 else ""
        return Result(f"Edited {path}{times}{leniency}.\n{short_diff(before, edit.text)}")

    def risk(arguments: Mapping[str, Any]) -> Risk | None:
        return write_risk(arguments["path"], folder(), home)

    return built_in(edit_file, dangerous=risk)


def _apply(at: Path, path: str, old: str, new: str, *, every: bool) -> tuple[str, bytes, Edit]:
    """The text before, the bytes after, and the edit. The file's byte order mark and line ends stay what they are."""
    if at.is_dir():
        raise ToolError(f"{path} is a folder.")
    if at.stat().st_size > LARGEST:
        raise ToolError(f"{path} is larger than {LARGEST // 1_000_000} MB; use python.")
    raw = at.read_bytes()
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    try:
        text = raw[len(mark) :].decode()
    except UnicodeDecodeError:
        raise ToolError(f"{path} is not UTF-8 text; use python.") from None
    windows = "\r\n" in text and "\n" not in text.replace("\r\n", "")
    if windows:
        text, old, new = (part.replace("\r\n", "\n") for part in (text, old, new))
    try:
        edit = edited(text, old, new, every=every)
    except NoPlace as reason:
        raise ToolError(f"{path} was not changed: {reason}") from None
    after = edit.text.replace("\n", "\r\n") if windows else edit.text
    return text, mark + after.encode(), edit


def short_diff(before: str, after: str) -> str:
    """What changed, with two lines around it."""
    changes = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    lines = [brief_line(line) for line in itertools.islice(changes, 2, DIFF_LINES + 3)]
    return "\n".join(lines if len(lines) <= DIFF_LINES else [*lines[:DIFF_LINES], "[…]"])


def brief_line(line: str) -> str:
    """A line of a diff with its indentation, cut where it is very long."""
    return line if len(line) <= 200 else line[:199] + "…"
