"""No seam between a failed attempt and its retry: text a person already saw is not told again.

While the new stream repeats what was shown, nothing is told; where it says something else, the old text is retracted
first. Deltas since the last `Retracted`, after the shown text if there was none, add up to the reply.
"""

from __future__ import annotations

from hermes_kernel.core.events import Retracted, TextDelta

Told = TextDelta | Retracted


class Seam:
    """Watches the text of one attempt against ``shown``, the text that is on the screen already."""

    def __init__(self, shown: str = "") -> None:
        self._shown = shown
        self._at = 0
        self._told: list[str] = []

    @property
    def visible(self) -> str:
        """Exactly what a person sees now."""
        return self._shown + "".join(self._told)

    def feed(self, text: str) -> list[Told]:
        """What has to be told when the attempt says `text`."""
        if self._at == len(self._shown):
            return self._tell(text)
        ahead = self._shown[self._at : self._at + len(text)]
        if text.startswith(ahead):
            self._at += len(ahead)
            return self._tell(text[len(ahead) :])
        return self._start_over(text)

    def close(self) -> list[Told]:
        """The attempt has ended well. If it said less than was shown, what was shown is taken back."""
        return self._start_over("") if self._at < len(self._shown) else []

    def _start_over(self, text: str) -> list[Told]:
        said, self._shown, self._at = self._shown[: self._at] + text, "", 0
        return [Retracted(), *self._tell(said)]

    def _tell(self, text: str) -> list[Told]:
        if not text:
            return []
        self._told.append(text)
        return [TextDelta(text)]
