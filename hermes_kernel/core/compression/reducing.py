"""The last resort, without a model, for a conversation that overflows whatever was done.

Each attempt takes more. The last prompt stays word for word, and so does an answer that is going on: a person has seen
it. Every call stays beside its result.
"""

from __future__ import annotations

from dataclasses import replace

from hermes_kernel.core.compression.clipping import clip, clip_arguments, flatten_arguments, imageless
from hermes_kernel.core.compression.digesting import MOST_TOKENS, digest
from hermes_kernel.core.compression.planning import Keep, planned
from hermes_kernel.core.compression.pruning import prune
from hermes_kernel.core.compression.splicing import spliced
from hermes_kernel.core.compression.summary import stands_for, summary_message, summary_text
from hermes_kernel.core.compression.weight import Weigh, size
from hermes_kernel.core.fill import GAIN
from hermes_kernel.core.messages import Assistant, Message, Observation, ToolCall, Transcript, User

ATTEMPTS = 3
TAIL = 4
"""Messages that the last attempt keeps at the end."""

CHARACTERS = (2_000, 600, 150)
"""What the last attempt leaves of each text, until all but the last prompt weighs no more than the tail may."""


def reduced(transcript: Transcript, attempt: int, keep: Keep, weigh: Weigh = size) -> Transcript:
    """A smaller transcript, or the same object when nothing more can be taken.

    Attempt 1 prunes; 2 has a digest in place of the middle as well; 3 and later keep a shorter tail and clip every
    long text but the last prompt. Where that gains next to nothing, the next one's measures are taken at once.
    """
    whole = weigh(transcript)
    best, least = transcript, whole
    for level in range(min(attempt, ATTEMPTS), ATTEMPTS + 1):
        smaller = _reduced(transcript, level, keep, weigh)
        if (now := weigh(smaller)) < least:
            best, least = smaller, now
        if least < whole * GAIN:
            break
    return best


def _reduced(transcript: Transcript, level: int, keep: Keep, weigh: Weigh) -> Transcript:
    if level == 1:
        return prune(transcript, keep.last)
    if level == 2:
        return prune(_digested(transcript, keep, weigh), keep.last)
    short = replace(keep, last=min(keep.last, TAIL), tokens=keep.tokens // 4)
    return _clipped(prune(_digested(transcript, short, weigh), 0), keep, weigh)


def _digested(transcript: Transcript, keep: Keep, weigh: Weigh) -> Transcript:
    plan = planned(transcript, keep, weigh)
    if plan is None:
        return transcript
    summary = digest(transcript, plan, min(MOST_TOKENS, keep.tokens // 2))
    return spliced(transcript, transcript, plan, summary, weigh) or transcript


def _clipped(transcript: Transcript, keep: Keep, weigh: Weigh) -> Transcript:
    """Every text clipped but the last prompt and the answer to it that was begun, as far as it takes."""
    prompt = max((n for n, m in enumerate(transcript) if isinstance(m, User) and not m.summary), default=-1)
    answer = len(transcript) - 1 if prompt >= 0 and _is_answer(transcript[-1]) else -1
    smaller = transcript
    for most in CHARACTERS:
        smaller = tuple(m if n in (prompt, answer) else _clip(m, most) for n, m in enumerate(transcript))
        if weigh(tuple(m for n, m in enumerate(smaller) if n not in (prompt, answer))) <= keep.tokens:
            break
    return smaller


def _is_answer(message: Message) -> bool:
    return isinstance(message, Assistant) and not message.calls


def _clip(message: Message, most: int) -> Message:
    match message:
        case User(summary=True):
            return summary_message(clip(summary_text(message), most), stands_for(message))
        case User(text, images) | Observation(text=text, images=images):
            return replace(message, text=clip(imageless(text, images), most), images=())
        case Assistant(text, calls):
            short = tuple(replace(call, arguments=_arguments(call, most)) for call in calls)
            return replace(message, text=clip(text, most), calls=short, thoughts="")


def _arguments(call: ToolCall, most: int) -> str:
    if call.flaw:
        return clip(call.arguments, most)
    clipped = clip_arguments(call.arguments, most)
    return clipped if len(clipped) <= 2 * most else flatten_arguments(clipped, most)
