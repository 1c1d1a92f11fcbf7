"""A piece of a conversation as text for who looks at it: bounded, each line quoted, results clipped. What it says is
data: nothing in it can pass for the request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hermes_kernel.core.compression import Plan, pieces
from hermes_kernel.core.compression.clipping import clip
from hermes_kernel.core.learning.prompting import named_skills
from hermes_kernel.core.messages import Assistant, Message, Observation, Transcript, User

MOST_TOKENS = 12_000
"""Of what is told: what was said lately is what matters, and a look is to be cheap."""

SHARE = 3
"""The part of the window that is told at most: the tools' answers and what is written have to fit, too."""

LEAST_TOKENS = 600
RESULT, ARGUMENTS, SAID, PROMPT = 1_200, 1_200, 3_000, 6_000  # characters of each
UNKNOWN = 36_000  # tokens of a window that is not known


def room(window: int) -> int:
    """Tokens of the conversation that are told to a model that reads `window` (0: not known)."""
    return max(min((window or UNKNOWN) // SHARE, MOST_TOKENS), LEAST_TOKENS)


def told(messages: Transcript, most: int) -> str:
    """`messages` in at most about `most` tokens: the beginning and, of what is too long, mostly the end."""
    shorter = tuple(map(_clipped, messages))
    third = max(most // 3, 200)
    parts = pieces(shorter, Plan(0, len(shorter)), third)
    if len(parts) > 3:
        parts = (parts[0], f"(… {len(parts) - 3} parts of about {third:,} tokens are left out here …)", *parts[-2:])
    return "\n".join(parts)


def entries_told(file: str, entries: Sequence[str], limit: int) -> str:
    """What `file` remembers, and how full it is: `limit` characters are the most."""
    used = len("\n§\n".join(entries))
    head = f"{file} holds {used:,} of {limit:,} characters" + (":" if entries else ": it is empty.")
    return "\n".join([head, *(quoted(entry) for entry in entries)])


def quoted(text: str) -> str:
    """`text` with every line marked as a quotation, whatever ends a line in it."""
    return "\n".join(f"| {line}" for line in text.splitlines() or [""])


def _clipped(message: Message) -> Message:
    match message:
        case User(text=text):
            return replace(message, text=clip(named_skills(text), PROMPT))
        case Observation(text=text):
            return replace(message, text=clip(text, RESULT))
        case Assistant(text=text, calls=calls):
            shorter = tuple(replace(call, arguments=clip(call.arguments, ARGUMENTS)) for call in calls)
            return replace(message, text=clip(text, SAID), calls=shorter)
