"""Disks that are soon full."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own below `folder`, of a `size` as ``mount`` takes it."""
    place = folder / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk takes root")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
