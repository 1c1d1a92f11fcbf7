"""Why a call needs a person's word. A guard against accidents, not a sandbox: whoever means harm finds a way round."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Risk:
    """``rule`` is what an answer of "always" is kept under; ``forbidden`` ones are never run, whoever says so."""

    rule: str
    why: str
    forbidden: bool = False
