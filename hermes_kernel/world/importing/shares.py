"""Who has spent what: the original knows a session's totals and not what each call took of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from hermes_kernel.core.events import Asked, Kept, Observed, Replied
from hermes_kernel.core.messages import Usage


def shared_out(facts: Sequence[Kept], spent: Usage) -> list[Kept]:
    """`facts`, their replies having `spent` between them: what they read by how long the conversation was then, what
    they wrote by its length. To the last token; each marked as estimated."""
    replies = [n for n, fact in enumerate(facts) if isinstance(fact, Replied)]
    if not replies:
        return list(facts)
    lengths = list(accumulate(map(_length, facts)))
    read = [lengths[n] for n in replies]
    written = [_length(facts[n]) for n in replies]
    columns = (
        shares(spent.input_tokens, read),
        shares(spent.output_tokens, written),
        shares(spent.cached_tokens, read),
        shares(spent.reasoning_tokens, written),
        shares(round(spent.cost * 10**9), read),
    )
    out = list(facts)
    for n, inputs, outputs, cached, reasoning, cost in zip(replies, *columns, strict=True):
        fact = out[n]
        if isinstance(fact, Replied):
            usage = Usage(1, inputs, outputs, cached, reasoning, cost / 10**9, estimated=True)
            out[n] = replace(fact, usage=usage)
    return out


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """Whole numbers in proportion to `weights` (at least 1 each) that add up to `total`."""
    ends = list(accumulate(weights))
    marks = [0, *(total * end // ends[-1] for end in ends)]
    return [after - before for before, after in pairwise(marks)]


def left(spent: Usage, before: Usage) -> Usage:
    """What of `spent` was not told `before`."""
    return Usage(
        input_tokens=max(spent.input_tokens - before.input_tokens, 0),
        output_tokens=max(spent.output_tokens - before.output_tokens, 0),
        cached_tokens=max(spent.cached_tokens - before.cached_tokens, 0),
        reasoning_tokens=max(spent.reasoning_tokens - before.reasoning_tokens, 0),
        cost=max(spent.cost - before.cost, 0.0),
    )


def _length(fact: Kept) -> int:
    match fact:
        case Replied():
            return 1 + len(fact.text) + len(fact.thoughts) + sum(len(call.arguments) for call in fact.calls)
        case Asked() | Observed():
            return 1 + len(fact.text)
    return 0
