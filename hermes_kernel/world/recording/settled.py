"""What a recording says of whom was asked, without keys; and ids of calls that are the same each time."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from itertools import count

from hermes_kernel.core.recording.cassette import Head
from hermes_kernel.settings import Settings
from hermes_kernel.world.recording.player import PLAYED

_ACCOUNT = re.compile(r"(?<=://)[^/@#\s]*@")
_QUERY = re.compile(r"\?[^#\s]*")


def head(settings: Settings) -> Head:
    """What `settings` say of whom was asked."""
    told = {name: _bare(getattr(settings, name)) for name in PLAYED}
    return Head({name: value for name, value in told.items() if value}, _version())


def counted_ids() -> Callable[[], str]:
    """Ids for calls that come without one: nine alphanumerics, counted."""
    numbers = count(1)
    return lambda: f"call{next(numbers):05}"


def _bare(value: str | int | tuple[str, ...]) -> str | int | tuple[str, ...]:
    """An address without the account that it may name."""
    if isinstance(value, tuple):
        return tuple(_QUERY.sub("", _ACCOUNT.sub("", text)) for text in value)
    return _QUERY.sub("", _ACCOUNT.sub("", value)) if isinstance(value, str) else value


def _version() -> str:
    try:
        return version("hermes-kernel")
    except PackageNotFoundError:
        return ""
