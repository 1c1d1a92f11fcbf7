"""Why nothing could be imported."""

from __future__ import annotations


class Unreadable(Exception):
    """The source cannot be read as what can be imported. One line that says what was expected."""
