"""One passage of a text for another, found though it is misquoted, and only where one place can be meant.

What stands outside the places that are found is never touched. Pure: texts in, text out.
"""

from __future__ import annotations

from dataclasses import dataclass

from hermes_kernel.core.learning.patch_hints import lines_of, missed
from hermes_kernel.core.learning.patch_places import STRATEGIES, Place

NAMED = 10  # places


class NoPatch(ValueError):
    """Nothing was changed: the passage is not there, or in more places than one, or is none. The text says which lines
    come close, and what to do."""


@dataclass(frozen=True, slots=True)
class Patched:
    """A text after it was changed. ``places`` are the parts of the old text that were replaced (from, to, by what), in
    order; ``how`` names the leniency that was needed, "" for none."""

    text: str
    places: tuple[tuple[int, int, str], ...]
    how: str = ""


def patched(text: str, old: str, new: str, *, every: bool = False) -> Patched:
    """`text` with `new` for its one passage `old`; with ``every``, for each of them. A passage is looked for as it is
    quoted, then with ever more leniency; the first way that finds any decides.

    Raises:
        NoPatch: there is no such passage, or there are several.
    """
    if "\r\n" in text and "\r\n" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    _sensible(text, old, new)
    for how, places in STRATEGIES:
        found = places(text, old, new)
        if len(found) > 1 and not every:
            raise NoPatch(_several(text, found, how))
        if found:
            return _replaced(text, found, how)
    raise NoPatch(missed(text, old, new))


def _sensible(text: str, old: str, new: str) -> None:
    if not old.strip():
        raise NoPatch("old is empty: quote the passage to replace, or write the whole with action=edit or write_file.")
    if old == new:
        raise NoPatch("old and new are the same: nothing to change.")
    if old.lstrip().startswith(("*** Begin Patch", "--- a/")):
        raise NoPatch("old is a whole diff: give that as `patch`, or quote the passage alone as old and new.")
    if not text:
        raise NoPatch("The file is empty: write it with action=write_file.")


def _several(text: str, found: tuple[Place, ...], how: str) -> str:
    at = lines_of(text, [place.start for place in found[:NAMED]])
    lines = ", ".join(map(str, at)) + (", …" if len(found) > NAMED else "")
    lenient = f", but for {how}," if how else ""
    return (
        f"The passage{lenient} stands in {len(found)} places (lines {lines}). Quote more of what is around the one you "
        "mean, or set all=true."
    )


def _replaced(text: str, found: tuple[Place, ...], how: str) -> Patched:
    parts, at = [], 0
    for place in found:
        parts += [text[at : place.start], place.put]
        at = place.end
    return Patched("".join([*parts, text[at:]]), tuple((each.start, each.end, each.put) for each in found), how)
