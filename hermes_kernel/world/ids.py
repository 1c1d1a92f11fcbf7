"""Ids that nobody else has: chance, so the only place in the package that makes them."""

from __future__ import annotations

from uuid import uuid4


def fresh_id() -> str:
    """32 hexadecimal digits, different each time, on any machine."""
    return uuid4().hex
