"""``hermes-kernel lab``: JupyterLab, open on the person's own copy of the quickstart."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import hermes_kernel
from hermes_kernel.cli.trouble import Failure
from hermes_kernel.export.saving import save_over

NAME = "00_quickstart.ipynb"


def lab(options: argparse.Namespace) -> int:
    """Copy the quickstart unless there is a copy already, and become JupyterLab.

    Raises:
        Failure: JupyterLab is not installed, or the folder cannot be written.
    """
    if find_spec("jupyterlab") is None:
        raise Failure('JupyterLab is not installed. Do: pip install "hermes-kernel[lab]"')
    copy = Path(options.dir, "hermes_quickstart.ipynb").absolute()
    if copy.exists():
        print(f"Opening your copy of the quickstart, {copy}", flush=True)
    else:
        try:
            copy.parent.mkdir(parents=True, exist_ok=True)
            save_over(quickstart().read_text(encoding="utf-8"), copy)  # half a copy would be opened ever after
        except OSError as error:
            raise Failure(f"{copy} was not written: {error.strerror}") from None
        print(f"Opening a copy of the quickstart, {copy}", flush=True)
    return _become([sys.executable, "-P", "-m", "jupyterlab", str(copy), *options.jupyter])


def quickstart() -> Path:
    """The quickstart: inside the installed package, or beside it in a checkout."""
    package = Path(hermes_kernel.__file__).parent
    return next(path for path in (package / "notebooks" / NAME, package.parent / "notebooks" / NAME) if path.exists())


def _become(command: list[str]) -> int:
    """JupyterLab asks a person who presses Ctrl-C whether to stop, so it must be the process that is pressed at."""
    if os.name == "posix":
        os.execv(command[0], command)  # noqa: S606 - there is no shell on purpose
    return subprocess.call(command)
