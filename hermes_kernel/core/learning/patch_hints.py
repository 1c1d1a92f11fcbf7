"""Why a passage was not found: where the text goes another way than it was quoted, or which lines come closest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hermes_kernel.core.text import brief

COMPARED = 20_000  # lines
BEGUN = 100  # places at which a passage seems to begin, each looked at for as many lines
SHOWN = 3
CLOSE = 0.4
WIDE = 160  # characters of a line that are shown


def missed(text: str, old: str, new: str) -> str:
    """What to say of a passage that is not in `text`."""
    if new.strip() and "\n" in new.strip() + "\n" and len(new.strip()) > 20 and text.count(new.strip()) == 1:
        at = lines_of(text, [text.index(new.strip())])[0]
        return f"The passage is not there, but the new one is, at line {at}: it seems to be done already."
    lines = text.splitlines()[:COMPARED]
    wanted = [line.strip() for line in old.splitlines() if line.strip()]
    parted = _parting([line.strip() for line in lines], wanted)
    if parted:
        return parted
    near = _closest(wanted[0], lines)
    if not near:
        return (
            "The passage was not found, and no line is like its first one. Read the file as it is now and quote that."
        )
    shown = "\n".join(f"{number}: {brief(line, WIDE)}" for number, line in near)
    return f"The passage was not found. Quote it as it stands; the closest lines are:\n{shown}"


def lines_of(text: str, places: Iterable[int]) -> list[int]:
    """The numbers of the lines, from 1, of places in `text`."""
    return [text.count("\n", 0, place) + 1 for place in places]


def _parting(lines: Sequence[str], wanted: Sequence[str]) -> str:
    """Where the text begins as it was quoted and goes on otherwise."""
    full = [(number, line) for number, line in enumerate(lines, 1) if line]
    begun = [start for start, (_, line) in enumerate(full) if line == wanted[0]][:BEGUN]
    best, at = max(((_length(full[start : start + BEGUN], wanted), -start) for start in begun), default=(0, 0))
    at = -at
    if not best or best in (len(wanted), BEGUN):
        return ""
    number, there = full[at + best] if at + best < len(full) else (len(lines), "(the end of the file)")
    return (
        f"The passage begins as at line {full[at][0]}, but goes on otherwise: at line {number} there is\n"
        f"{brief(there, WIDE)}\nand not\n{brief(wanted[best], WIDE)}"
    )


def _length(full: Sequence[tuple[int, str]], wanted: Sequence[str]) -> int:
    length = 0
    for (_, line), quoted in zip(full, wanted, strict=False):
        if line != quoted:
            break
        length += 1
    return length


def _closest(wanted: str, lines: Sequence[str]) -> list[tuple[int, str]]:
    pairs = _pairs(wanted)
    scored = ((_likeness(pairs, _pairs(line)), number, line) for number, line in enumerate(lines, 1) if line.strip())
    best = sorted((each for each in scored if each[0] >= CLOSE), key=lambda each: (-each[0], each[1]))[:SHOWN]
    return [(number, line) for _, number, line in best]


def _pairs(line: str) -> frozenset[str]:
    """The pairs of neighbouring letters of a line."""
    text = line.strip().lower()[:400]
    return frozenset(text[at : at + 2] for at in range(max(len(text) - 1, 1)))


def _likeness(some: frozenset[str], others: frozenset[str]) -> float:
    return 2 * len(some & others) / (len(some) + len(others))
