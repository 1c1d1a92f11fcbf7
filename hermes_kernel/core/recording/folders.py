"""Folders in what a model says. It writes out where it works, and a tool will look there: in a recording they are
marks, which are folders again wherever it is played. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hermes_kernel.core.recording.cassette import Block, Exchange

_BEFORE = r"(?:(?<![\w./-])|(?<=://))"
BEHIND = r"(?![\w-])(?!\.\w)"
"""No folder begins or ends inside a word; one may be a whole address, ``file:///home/mia``."""


@dataclass(frozen=True, slots=True)
class Marked:
    """``folders`` by what they are called, such as ``home``; of two that are the same the later one counts."""

    folders: Mapping[str, str]

    def hide(self, text: str) -> str:
        """`text` with marks for the folders."""
        names = {form: name for name, path in self.folders.items() if len(path) > 1 for form in _forms(path)}
        if not names or not any(path in text for path in names):
            return text
        return re.sub(f"{_BEFORE}{any_of(names)}{BEHIND}", lambda found: _mark(names[found[0]]), text)

    def here(self, text: str) -> str:
        """`text` with folders again."""
        for name, path in self.folders.items():
            text = text.replace(_mark(name), path)
        return text

    def fill(self, exchange: Exchange) -> tuple[Block, ...]:
        """The blocks of `exchange` with folders again."""
        if not any(_OPEN in block.data for block in exchange.blocks):
            return exchange.blocks
        return tuple(Block(self._filled(block.data), block.gap) for block in exchange.blocks)

    def _filled(self, data: bytes) -> bytes:
        for name, path in self.folders.items():
            data = data.replace(_mark(name).encode(), json.dumps(path, ensure_ascii=False)[1:-1].encode())
        return data


def _forms(path: str) -> tuple[str, ...]:
    """How it is written: as it is, and within the JSON of a call's arguments, where that is plain ASCII."""
    return (path,) if set(path) & {'"', "\\"} else (path, json.dumps(path)[1:-1])


def any_of(paths: Iterable[str]) -> str:
    """A pattern for one of them, the longest first: one may lie in another."""
    return f"(?:{'|'.join(map(re.escape, sorted(paths, key=len, reverse=True)))})"


def _mark(name: str) -> str:
    return f"⟦{name}⟧"


_OPEN = "⟦".encode()
