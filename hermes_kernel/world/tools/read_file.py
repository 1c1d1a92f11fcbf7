"""`read_file`: numbered lines of a text file, never more than a result may hold; anything else is answered usefully."""

from __future__ import annotations

import base64
import codecs
import itertools
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from hermes_kernel.core.messages import Image
from hermes_kernel.core.text import scrub
from hermes_kernel.world.tools.places import located, missing, said
from hermes_kernel.world.tools.results import IMAGE_BYTES, SIGNATURES, Result, ToolError, described_image
from hermes_kernel.world.tools.tool import Tool, built_in

LINES = 2_000
LINE_CHARS = 2_000
SNIFFED = 8_192
ENTRIES = 200
MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def make_read_file(folder: Callable[[], Path], chars: int) -> Tool:
    """The tool for files named from `folder`; an answer holds at most `chars` characters."""

    def read_file(path: str, start: int = 1, lines: int = LINES) -> Result:
        """Read a text file; lines come numbered. A folder is listed, an image is shown.

        Args:
            path: The file, from the working folder.
            start: First line, from 1; negative counts from the end.
            lines: How many lines at most.
        """
        at = located(path, folder())
        try:
            mode = at.stat().st_mode
            if stat.S_ISDIR(mode):
                return Result(listing(at))
            if not stat.S_ISREG(mode):
                raise ToolError(f"{path}: this is a device, pipe or socket, not a file.")
            return _read(at, path, start, max(lines, 1), chars)
        except (FileNotFoundError, NotADirectoryError):
            raise missing(path, at) from None
        except OSError as error:
            raise said(error, path) from error

    return built_in(read_file, repeatable=True)


def listing(at: Path) -> str:
    """The names in a folder, folders first."""
    entries = sorted(os.scandir(at), key=lambda entry: (not entry.is_dir(), entry.name))
    shown = [f"{scrub(entry.name)}{'/' if entry.is_dir() else ''}" for entry in entries[:ENTRIES]]
    more = [f"[and {len(entries) - ENTRIES:,} more]"] if len(entries) > ENTRIES else []
    return "\n".join([f"{at} is a folder with {len(entries):,} entries:", *shown, *more])


def encoding_of(head: bytes) -> str:
    """How a file that begins with `head` is to be read; ``""`` when it is not text."""
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding
    if b"\0" in head:
        return ""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _read(at: Path, path: str, start: int, count: int, chars: int) -> Result:
    size = at.stat().st_size
    with at.open("rb") as file:
        head = file.read(SNIFFED)
    encoding = encoding_of(head)
    if not encoding:
        return _binary(at, path, head, size)
    if start < 0:
        start = max(_count(at, encoding) + start + 1, 1)
    start = max(start, 1)
    with at.open(encoding=encoding, errors="replace", newline=None) as text:
        skipped = sum(1 for _ in itertools.islice(_lines(text), start - 1))
        shown, more = _numbered(_lines(text), start, count, chars)
    note = " (not UTF-8; read as Latin-1)" if encoding == "latin-1" else ""
    if not shown and not skipped and start == 1:
        return Result(f"{path} is empty.")
    if not shown:
        raise ToolError(f"{path} has only {skipped:,} lines.")
    last = start + len(shown) - 1
    end = (
        f"\n[lines {start}-{last}{note}; there is more: read on with start={last + 1}]"
        if more
        else note and f"\n[{note.strip()}]"
    )
    return Result(scrub("\n".join(shown)) + end)


def _lines(text: Iterator[str]) -> Iterator[str]:
    """Lines of at most `LINE_CHARS`; the rest of a longer one is passed over, in pieces."""
    reader = getattr(text, "readline")  # noqa: B009 - iteration would read a line of any length at once
    while line := reader(LINE_CHARS + 1):
        whole = line.endswith("\n") or len(line) <= LINE_CHARS
        left_out = 0
        while not whole:
            rest = reader(65_536)
            left_out += len(rest.rstrip("\n"))
            whole = not rest or rest.endswith("\n")
        yield (
            line.rstrip("\n")
            if not left_out
            else f"{line[:LINE_CHARS]}… [{left_out + 1:,} more characters in this line]"
        )


def _numbered(lines: Iterator[str], start: int, count: int, chars: int) -> tuple[list[str], bool]:
    shown: list[str] = []
    room = int(chars * 0.9)
    for number, line in enumerate(lines, start):
        numbered = f"{number:>6}\t{line}"
        room -= len(numbered) + 1
        if shown and (len(shown) >= count or room < 0):
            return shown, True
        shown.append(numbered)
    return shown, False


def _count(at: Path, encoding: str) -> int:
    with at.open(encoding=encoding, errors="replace") as text:
        return sum(1 for _ in _lines(text))


def _binary(at: Path, path: str, head: bytes, size: int) -> Result:
    for start, mime in SIGNATURES.items():
        if head.startswith(start):
            images = (Image(mime, base64.b64encode(at.read_bytes()).decode()),) if size <= IMAGE_BYTES["on"] else ()
            return Result(f"{path}: [{described_image(mime, head)}, {size:,} bytes]", images=images)
    return Result(
        f"{path} is not text: {size:,} bytes, beginning {head[:32].hex(' ')}. Use python to read it.", ok=False
    )
