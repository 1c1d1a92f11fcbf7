"""Which looks are this home's to take. Homes that share a store see each other's facts, and each remembers for itself:
a line in a file of the home, written before the fact is, names a conversation of its own."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress

from hermes_kernel.settings import Settings
from hermes_kernel.world.store.disk import PRIVATE_FILE, make

FILE = "looks"

CLAIM = "looks"
"""What is claimed as if it were a session, so that one process at a time looks in a home."""


def claim_of(settings: Settings) -> str:
    """The name of what is claimed: homes that share a store do not wait for each other."""
    if not settings.store_url:
        return CLAIM
    return f"{CLAIM}-{hashlib.sha256(str(settings.home.resolve()).encode()).hexdigest()[:16]}"


def ours(settings: Settings) -> Callable[[str], bool]:
    """Whether what is due in a session is for this home to look at. Where the store is its own, all is."""
    if not settings.store_url:
        return lambda _: True
    known = _known(settings)
    return lambda session: session in known


def own(settings: Settings, session: str) -> None:
    """A look at `session` is about to be due in this home. On a disk that does not take it, it is taken by this process
    or by none."""
    if not settings.store_url or session in _known(settings):
        return
    with suppress(OSError):
        make(settings.home)
        handle = os.open(settings.home / FILE, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE)
        with os.fdopen(handle, "wb") as file:
            file.write(f"\n{session}".encode())  # behind a line that a full disk may have cut


def _known(settings: Settings) -> frozenset[str]:
    with suppress(OSError):
        return frozenset((settings.home / FILE).read_text("utf-8", "replace").split())
    return frozenset()
