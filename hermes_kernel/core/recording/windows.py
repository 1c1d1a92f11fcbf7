"""What servers said of how much their models read, as the head of a recording tells it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hermes_kernel.core.recording.cassette import Head

WINDOWS = "windows"
"""Among the settings of a head: ``MODEL@ENDPOINT=TOKENS`` for each."""

_DIGITS = 9  # of a window in tokens


def windows_of(head: Head) -> dict[str, int]:
    """Tokens by the name of the model there, as far as a head tells it."""
    texts = head.settings.get(WINDOWS, ())
    told = (text.rpartition("=") for text in (texts if isinstance(texts, tuple) else ()))
    return {name: int(tokens) for name, _, tokens in told if tokens.isdecimal() and len(tokens) <= _DIGITS}


def with_windows(head: Head, windows: Mapping[str, int]) -> Head:
    """`head`, which tells these as well."""
    known = {**windows_of(head), **windows}
    if not known:
        return head
    told = tuple(f"{name}={tokens}" for name, tokens in sorted(known.items()))
    return replace(head, settings={**head.settings, WINDOWS: told})
