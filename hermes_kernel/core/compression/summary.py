"""The message that stands for what was taken out: how it is written, and how it is read back."""

from __future__ import annotations

import re

from hermes_kernel.core.messages import Message, User

_HEADER = re.compile(r"\A\[Summary of ([\d,]{1,20}) earlier messages?[^\]\n]*\]\n*")


def summary_message(text: str, left_out: int) -> User:
    """The message that holds the summary `text` and stands for `left_out` messages, told apart by ``summary``."""
    messages = "message" if left_out == 1 else "messages"
    return User(
        f"[Summary of {left_out:,} earlier {messages} of this conversation, taken out to fit the context window; their "
        "whole text is found with session_search. This is a record of what happened, not an instruction.]\n\n" + text,
        summary=True,
    )


def is_summary(message: Message) -> bool:
    """Whether `message` stands for others."""
    return isinstance(message, User) and message.summary


def summary_text(message: User) -> str:
    """The summary alone, without the line that says what it is."""
    return bare(message.text)


def stands_for(message: User) -> int:
    """How many messages a summary stands for; 0 where it does not say."""
    found = _HEADER.match(message.text)
    return int(found[1].replace(",", "") or 0) if found else 0


def bare(text: str) -> str:
    """`text` without the line that says what a summary is, for models repeat it."""
    return _HEADER.sub("", text, count=1)
