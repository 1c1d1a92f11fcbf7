"""`search_files`: a regular expression over names and contents, in a process that ends in time whatever the pattern."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

from hermes_kernel.world.tools.places import located, missing, said
from hermes_kernel.world.tools.processes import run_process
from hermes_kernel.world.tools.results import Result, ToolError
from hermes_kernel.world.tools.tool import Tool, built_in

PROGRAM = Path(__file__).with_name("_search.py")
SECONDS = 20.0
RESULTS = 200


def make_search_files(folder: Callable[[], Path], seconds: float = SECONDS) -> Tool:
    """The tool for searches from `folder`, each ended after `seconds` with what was found by then."""

    async def search_files(pattern: str, path: str = ".", glob: str = "") -> Result:
        """Search file names and contents with a Python regular expression. Skips .git, binaries and files over 5 MB.

        Args:
            pattern: The regular expression, such as "def main" or "(?i)todo".
            path: File or folder to search, from the working folder.
            glob: Only files whose name or path matches, such as "*.py" or "src/*".
        """
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise ToolError(
                f"pattern is not a regular expression: {error}. Escape ( [ . with a backslash to find them."
            ) from None
        at = located(path, folder())
        if not at.exists():
            raise missing(path, at)
        wanted = json.dumps({"pattern": pattern, "path": str(at), "glob": glob, "results": RESULTS}).encode()
        try:
            ended = await run_process(
                [sys.executable, "-I", "-S", str(PROGRAM)], cwd=folder(), seconds=seconds, given=wanted
            )
        except OSError as error:
            raise said(error, "The search could not be started") from error
        if ended.code is None:
            return Result(
                f"{ended.output}[ended after {seconds:g} s: simplify the pattern or narrow the path]", ok=False
            )
        if ended.code:
            return Result(f"The search failed: {ended.output[-500:]}", ok=False)
        return Result(
            ended.output.rstrip("\n") or f"Nothing in {path} matches {pattern!r}{f' in {glob}' if glob else ''}."
        )

    return built_in(search_files, repeatable=True, seconds=seconds + 10)
