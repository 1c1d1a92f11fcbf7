"""What a kernel says about one request, folded into what was shown and what went wrong. Knows Jupyter's messages and
neither sockets nor processes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes_kernel.core.text import brief, scrub
from hermes_kernel.world.tools.capture import Seen
from hermes_kernel.world.tools.python import FRAMES, INTERRUPTED
from hermes_kernel.world.tools.terminal import clean

TRACEBACK_LINES = 12  # of a traceback in a form we do not know
BEGIN = "Traceback (most recent call last)"
CELL, FILE = "Cell In", "File "
FRAME = re.compile(rf"(?:{CELL}|{FILE}).*\bline \d+|{FILE}.+:\d+")
SIGNATURE = re.compile(r"(, in [^(]*)\(.*")
CURRENT = re.compile(r"-+> *\d+ (.*)")


@dataclass(slots=True)
class Heard:
    """The answer to a request, which may have been sent more than once (``ids``). ``replied`` is the reply's content;
    ``idle`` is done when nothing more will be shown. ``quiet``: the last value is not asked for. IPython looks for the
    semicolon in its history, where our code is not."""

    seen: Seen
    replied: asyncio.Future[Mapping[str, Any]]
    idle: asyncio.Future[None]
    quiet: bool = False
    ids: set[str] = field(default_factory=set)
    count: int = 0
    problem: str = ""
    leaving: bool = False

    def shell(self, message: Mapping[str, Any]) -> None:
        """Take a reply. A content that was too large to be read is a `memoryview`, here and below."""
        content = message["content"] if isinstance(message["content"], dict) else {}
        for page in content.get("payload") or ():
            if page.get("source") == "page":
                self._show(page)
            self.leaving = self.leaving or page.get("source") == "ask_exit"
        if not self.replied.done():
            self.replied.set_result(content)

    def iopub(self, message: Mapping[str, Any]) -> None:
        """Take what was published. What changes a display that was shown is for eyes."""
        self.count += 1
        content = message["content"]
        if isinstance(content, memoryview):
            self.seen.write(f"\n[{len(content):,} bytes were shown at once, too many to be told]\n")
            return
        match message["header"]["msg_type"]:
            case "stream":
                self.seen.write(str(content.get("text", "")))
            case "execute_result" if self.quiet:
                pass
            case "display_data" | "execute_result":
                self._show(content)
            case "error":
                self.problem = explained(content)
            case "status" if content.get("execution_state") == "idle" and not self.idle.done():
                self.idle.set_result(None)
            case _:
                pass

    def _show(self, content: Mapping[str, Any]) -> None:
        data = content.get("data")
        if isinstance(data, dict) and data:
            self.seen.show({mime: scrub(each) if isinstance(each, str) else each for mime, each in data.items()})


def explained(error: Mapping[str, Any]) -> str:
    """An error as a short traceback without colours: the last frames, each in a line, and what was raised."""
    name, value = (clean(str(error.get(key) or "")) for key in ("ename", "evalue"))
    words = INTERRUPTED if name == "KeyboardInterrupt" else f"{name}: {value}" if value else name
    told = error.get("traceback")
    lines = clean("\n".join(map(str, told)) if isinstance(told, list) else "").splitlines()
    frames = _frames(lines)
    if not frames:
        last = [line for line in lines if line.strip(" -")][-TRACEBACK_LINES:]
        return "\n".join(last) or words or "The code failed, and its kernel does not say why."
    own = [at for at, frame in enumerate(frames) if frame.lstrip().startswith(CELL)]
    kept = sorted({*own[-FRAMES:], *range(len(frames))[-FRAMES:]})
    return "\n".join(["Traceback (innermost last):", *(frames[at] for at in kept), words])


def _frames(lines: Sequence[str]) -> list[str]:
    """The frames of IPython's last traceback, each with the line of code it was in."""
    frames: list[str] = []
    bare = False
    for line in lines:
        if line.endswith(BEGIN):
            frames, bare = [], False
        elif FRAME.match(line):
            frames.append("  " + brief(SIGNATURE.sub(r"\1", line), 160))
            bare = True
        elif bare and (current := CURRENT.match(line)):
            frames[-1] += f": {brief(current[1], 160)}"
            bare = False
    return frames
