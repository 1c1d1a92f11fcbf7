"""What a recording says of whom was asked: the settings that decide it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from hermes_kernel.core.recording.cassette import Head
from hermes_kernel.settings import Settings
from hermes_kernel.world.recording.player import PLAYED


def head_of(settings: Settings) -> Head:
    """What `settings` say of it; accounts and keys may still be in it."""
    told = {name: getattr(settings, name) for name in PLAYED}
    return Head({name: value for name, value in told.items() if value}, _version())


def _version() -> str:
    try:
        return version("hermes-kernel")
    except PackageNotFoundError:
        return ""
