"""Which messages a summary may stand for. Groups stay whole, the prompt at hand is never among them, and a summary that
stands in the middle is handed on to be updated, not summarised again."""

from __future__ import annotations

from dataclasses import dataclass

from hermes_kernel.core.compression.history import groups
from hermes_kernel.core.compression.summary import is_summary, stands_for, summary_text
from hermes_kernel.core.compression.weight import Weigh, size
from hermes_kernel.core.messages import Transcript, User

WORTH = 256
"""Tokens that a middle must have, or a summary of it, with the line above it, would save next to nothing."""


@dataclass(frozen=True, slots=True)
class Keep:
    """What stays word for word: the ``first`` and the ``last`` messages, in whole groups.

    ``tokens`` bounds the last ones by weight, and the first ones at half of it, so that a few huge messages do not fill
    the window; a fifth of the window is a good measure. The last group and the last prompt stay whatever they weigh.
    """

    first: int = 2
    last: int = 20
    tokens: int = 8_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What of one transcript may be summarised: the messages from ``head`` up to, not with, ``tail``.

    ``prompt`` is where the last prompt stands, if before ``tail``: it stays even from the middle, behind the summary.
    ``previous`` is the text of the summary in the middle (``""`` if there is none), ``stood_for`` the messages it
    stands for.
    """

    head: int
    tail: int
    prompt: int | None = None
    previous: str = ""
    stood_for: int = 0

    @property
    def pinned(self) -> int | None:
        """Where in the middle the last prompt stands, or None."""
        return self.prompt if self.prompt is not None and self.prompt >= self.head else None

    def taken(self, transcript: Transcript) -> Transcript:
        """The messages that the new summary is to stand for and no earlier one does."""
        return tuple(
            message
            for n, message in enumerate(transcript[self.head : self.tail], self.head)
            if n != self.pinned and not is_summary(message)
        )


def planned(transcript: Transcript, keep: Keep, weigh: Weigh = size) -> Plan | None:
    """What may be summarised of `transcript`, or None when that is not worth a summary.

    An unfinished group at the end (calls still open) belongs to the last messages, so it stays.
    """
    summaries = [n for n, message in enumerate(transcript) if is_summary(message)]
    tail = _tail(transcript, keep, weigh, summaries[-1] + 1 if summaries else 0)
    head = _head(transcript[: min([tail, *summaries])], keep, weigh)
    stood = [message for n in summaries if isinstance(message := transcript[n], User)]
    plan = Plan(
        head,
        tail,
        _last_prompt(transcript[:tail]) if _last_prompt(transcript[tail:]) is None else None,
        "\n\n".join(text for message in stood if (text := summary_text(message).strip())),
        sum(stands_for(message) for message in stood),
    )
    return plan if weigh(plan.taken(transcript)) >= WORTH else None


def _tail(transcript: Transcript, keep: Keep, weigh: Weigh, floor: int) -> int:
    """Where the last messages begin: at `floor` or later, so that no summary is among them."""
    start, tokens = len(transcript), 0
    for group in reversed(list(groups(transcript[floor:]))):
        kept = len(transcript) - start
        tokens += weigh(group)
        if kept and (kept >= keep.last or tokens > keep.tokens):
            break
        start -= len(group)
    return start


def _head(transcript: Transcript, keep: Keep, weigh: Weigh) -> int:
    """How many of the first messages stay."""
    kept, tokens = 0, 0
    for group in groups(transcript):
        tokens += weigh(group)
        if kept + len(group) > keep.first or tokens > keep.tokens // 2:
            break
        kept += len(group)
    return kept


def _last_prompt(transcript: Transcript) -> int | None:
    """Where the last thing a person said stands."""
    places = range(len(transcript) - 1, -1, -1)
    return next((n for n in places if isinstance(m := transcript[n], User) and not m.summary), None)
