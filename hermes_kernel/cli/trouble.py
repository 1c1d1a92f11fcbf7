"""Why a command did not do what it was asked: each carries the one or two lines that a person reads."""

from __future__ import annotations


class Failure(Exception):
    """The work was tried and failed: exit code 1."""


class Misuse(Exception):
    """It was asked for wrongly and nothing was tried: exit code 2."""
