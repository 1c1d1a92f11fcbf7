"""Every target there is."""

from __future__ import annotations

from tests.fuzz import files, texts, wire
from tests.fuzz.target import TARGETS

__all__ = ["TARGETS", "files", "texts", "wire"]
