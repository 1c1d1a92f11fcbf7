"""`write_file`: the whole content of a file, all of it or nothing."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hermes_kernel.core.figures import counted
from hermes_kernel.core.text import scrub
from hermes_kernel.world.tools.places import located, said, write_risk
from hermes_kernel.world.tools.results import Result, ToolError
from hermes_kernel.world.tools.risk import Risk
from hermes_kernel.world.tools.tool import Tool, built_in


def make_write_file(folder: Callable[[], Path], home: Path) -> Tool:
    """The tool for files named from `folder`; a write that leaves it, or ends in the agent's own `home`, is a risk."""

    def write_file(path: str, content: str) -> Result:
        """Write a file, replacing what it held; missing folders are made. For a small change use edit_file.

        Args:
            path: The file, from the working folder.
            content: All it shall hold.
        """
        at = located(path, folder())
        try:
            if at.is_dir():
                raise ToolError(f"{path} is a folder.")
            was = at.stat().st_size if at.is_file() else None
            size = replace(at, scrub(content).encode())
        except OSError as error:
            raise said(error, path) from error
        lines = content.count("\n") + (not content.endswith("\n") and bool(content))
        before = "a new file" if was is None else f"it held {was:,} bytes before"
        return Result(f"Wrote {path}: {counted(size, 'byte')}, {counted(lines, 'line')}; {before}.")

    def risk(arguments: Mapping[str, Any]) -> Risk | None:
        return write_risk(arguments["path"], folder(), home)

    return built_in(write_file, dangerous=risk)


def replace(at: Path, content: bytes) -> int:
    """Make `at` hold `content`, with its old mode; a reader sees the old file or the new. Links are written through.

    Raises:
        OSError: nothing was changed.
    """
    target = Path(os.path.realpath(at))
    if target.exists() and not target.is_file():
        raise OSError(f"{target} is not a regular file")
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name[:40]}.{os.getpid()}.{threading.get_ident()}")
    aside.unlink(missing_ok=True)
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if target.exists():
                os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    return len(content)
