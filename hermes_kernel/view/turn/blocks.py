"""Markdown cut into finished blocks while it is still being written.

Keeps true: the blocks and the tail joined are the text, however it was cut into pieces; a border never falls inside a
fence, a table or a list. Knows nothing of how Markdown looks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")
ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Layout:
    """``blocks`` will not change any more; ``tail`` may. Of the tail, ``scanned`` characters are whole lines already
    looked at; ``fence`` is the mark that ends an open fence, ``item`` says that a list is open, ``blank`` that the line
    before was empty."""

    blocks: tuple[str, ...] = ()
    tail: str = ""
    scanned: int = 0
    fence: str = ""
    item: bool = False
    blank: bool = False

    @property
    def text(self) -> str:
        return "".join(self.blocks) + self.tail


def grow(layout: Layout, piece: str) -> Layout:
    """`layout` with `piece` written at its end. Costs no more than the lines that `piece` completes."""
    tail = layout.tail + piece
    if "\n" not in piece:
        return replace(layout, tail=tail)
    end = tail.rfind("\n") + 1
    blocks, start, at, state = list(layout.blocks), 0, layout.scanned, layout
    for line in tail[at:end].split("\n")[:-1]:
        if at > start and _parts(state, line):
            blocks.append(tail[start:at])
            start, state = at, Layout()
        state = _read(state, line)
        at += len(line) + 1
    return replace(state, blocks=tuple(blocks), tail=tail[start:], scanned=end - start)


def close(layout: Layout) -> Layout:
    """What is written so far is one more block, whatever it left open; what follows begins a new one."""
    if not layout.tail.strip():
        return layout
    return Layout((*layout.blocks, layout.tail.rstrip() + "\n\n"))


def _parts(state: Layout, line: str) -> bool:
    """A new block begins with `line`: it follows an empty line and carries on nothing that is open."""
    if state.fence or not state.blank or not line.strip():
        return False
    if state.item:
        return not (line[0] in " \t" or ITEM.match(line))
    return not line.startswith(("    ", "\t"))


def _read(state: Layout, line: str) -> Layout:
    """What is open after `line`."""
    words = line.strip()
    if state.fence:
        return replace(state, fence="" if _ends(state.fence, words) else state.fence, blank=False)
    if not words:
        return replace(state, blank=True)
    return replace(state, fence=_opens(line, words), item=state.item or bool(ITEM.match(line)), blank=False)


def _opens(line: str, words: str) -> str:
    """The mark of the fence or display formula that `line` opens, or nothing."""
    if words.startswith("$$"):
        return "$$" if words.count("$$") == 1 else ""
    found = FENCE.match(line)
    return found[1] if found else ""


def _ends(fence: str, words: str) -> bool:
    if fence == "$$":
        return "$$" in words
    return words.startswith(fence) and not words.strip(fence[0])
