"""The laws of history: each call has exactly one result, right behind it, in the order of asking."""

from __future__ import annotations

from collections.abc import Iterator

from hermes_kernel.core.messages import Assistant, Observation, Transcript, User


def groups(transcript: Transcript) -> Iterator[Transcript]:
    """The transcript in pieces that are kept or taken out whole: a user message, or an assistant with its results."""
    start = 0
    for n, message in enumerate(transcript):
        if n > start and not isinstance(message, Observation):
            yield transcript[start:n]
            start = n
    if transcript:
        yield transcript[start:]


def sound(transcript: Transcript) -> str:
    """``""``, or the first broken law of a transcript with no call open, with the place of the message from 0.

    Several user messages in a row are one on the wire, so they are sound; two answers in a row and a message of the
    assistant without words and calls are not, for providers refuse them. A call id may return in a later group.
    """
    before: Transcript = ()
    at = 0
    for group in groups(transcript):
        if flaw := _flaw(group, before):
            return f"message {at}: {flaw}"
        at, before = at + len(group), group
    return ""


def _flaw(group: Transcript, before: Transcript) -> str:
    """What is wrong with a group that follows the group `before`."""
    first, results = group[0], group[1:]
    match first:
        case Observation():
            return "a result without its call"
        case User():
            return "a result behind a user message" if results else ""
        case Assistant(text, calls):
            asked = [(call.id, call.name) for call in calls]
            came = [(result.call_id, result.name) for result in results if isinstance(result, Observation)]
            if not (text.strip() or calls):
                return "an assistant message that says nothing"
            if before and isinstance(before[-1], Assistant):
                return "two answers in a row"
            if len({call.id for call in calls}) < len(calls):
                return "one id for two calls"
            return "" if asked == came else f"calls {asked} have results {came}"
