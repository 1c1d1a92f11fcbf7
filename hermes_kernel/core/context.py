"""Making a conversation that does not fit smaller, from the facts alone and without asking a model.

Keeps: the first messages, the last ones, the prompt at hand word for word, and every call beside its result.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hermes_kernel.core.messages import Assistant, Message, Observation, Transcript, User
from hermes_kernel.core.text import brief
from hermes_kernel.core.tokens import estimate

Group = tuple[Message, ...]

HEAD = 2
TAILS = (20, 8, 2)
RESULTS = (400, 200, 100)
"""Messages kept word for word at the end, and characters kept of older results, by attempt."""

GAIN = 0.9
"""What is left must be less than this share of what was, or the next attempt's measures are taken at once."""


def size(transcript: Transcript) -> int:
    """Estimated tokens of a transcript."""
    return sum(_weight(message) for message in transcript)


def squeeze(transcript: Transcript, attempt: int) -> Transcript:
    """A shorter transcript that says the same in fewer words, or the same one when nothing is gained.

    The first attempt shortens old tool results; later ones also leave the middle out, naming what it held.
    """
    enough = size(transcript) * GAIN
    tries = (_squeezed(transcript, level) for level in range(min(attempt, len(TAILS)) - 1, len(TAILS)))
    return next((smaller for smaller in tries if size(smaller) < enough), transcript)


def _squeezed(transcript: Transcript, level: int) -> Transcript:
    cut = _cut(transcript, TAILS[level])
    older = tuple(_shorten(message, RESULTS[level]) for message in transcript[:cut])
    if level > 0:
        older = _without_middle(older, transcript[cut:])
    return (*older, *transcript[cut:])


def groups(transcript: Transcript) -> list[Group]:
    """The transcript in pieces that may be kept or dropped whole: a user message, or an assistant with its results."""
    found: list[Group] = []
    for message in transcript:
        if isinstance(message, Observation) and found:
            found[-1] = (*found[-1], message)
        else:
            found.append((message,))
    return found


def _cut(transcript: Transcript, tail: int) -> int:
    """Where the last `tail` messages begin, moved back so that no call is parted from its results."""
    cut = max(len(transcript) - tail, 0)
    while 0 < cut < len(transcript) and isinstance(transcript[cut], Observation):
        cut -= 1
    return cut


def _without_middle(older: Transcript, tail: Transcript) -> Transcript:
    """The head, the prompt at hand if the tail does not hold it, and one line for the rest."""
    head = _head(older)
    middle = older[len(head) :]
    prompt = None if any(isinstance(m, User) for m in tail) else _last_user(middle)
    gone = tuple(message for message in middle if message is not prompt)
    note = (User(_note(gone)),) if gone else ()
    return (*head, *note, *((prompt,) if prompt else ()))


def _head(older: Transcript) -> Transcript:
    """The first whole groups, `HEAD` messages at most."""
    head: Transcript = ()
    for group in groups(older):
        if len(head) + len(group) > HEAD:
            break
        head = (*head, *group)
    return head


def _last_user(messages: Transcript) -> User | None:
    return next((m for m in reversed(messages) if isinstance(m, User)), None)


def _note(gone: Transcript) -> str:
    """What was left out, so that the model knows there was more."""
    tools = Counter(m.name for m in gone if isinstance(m, Observation))
    asked = [brief(m.text, 120) for m in gone if isinstance(m, User)][-5:]
    lines = [f"[{len(gone)} earlier messages are left out here to fit the context window."]
    lines += [f"Asked for: {text}" for text in asked]
    lines += ["Tools that ran: " + ", ".join(f"{name} × {n}" for name, n in tools.items())] if tools else []
    return "\n".join(lines) + "]"


def _shorten(message: Message, limit: int) -> Message:
    match message:
        case Observation(_, _, text) if len(text) > 2 * limit:
            left_out = len(text) - 2 * limit
            return replace(
                message, text=f"{text[:limit]}\n[… {left_out} characters left out …]\n{text[-limit:]}", images=()
            )
        case Observation() | User():
            return message
        case Assistant():
            return replace(message, thoughts="")


def _weight(message: Message) -> int:
    match message:
        case User(text, images) | Observation(_, _, text, _, images):
            return 4 + estimate(text) + 1000 * len(images)
        case Assistant(text, calls, _, extra):
            return 4 + estimate(text) + estimate(extra) + sum(8 + estimate(c.name + c.arguments) for c in calls)
