"""What faces ask of a store beyond a search: conversations with their relatives, what
all of it has used, and a person's own SQL."""

from hermes_kernel.looking.conversations import conversation, conversations, none
from hermes_kernel.looking.lineage import summarised, whole
from hermes_kernel.looking.spending import BY, Spending, beside, spending
from hermes_kernel.looking.sql import Answer, NoAnswer, answer

__all__ = [
    "BY",
    "Answer",
    "NoAnswer",
    "Spending",
    "answer",
    "beside",
    "conversation",
    "conversations",
    "none",
    "spending",
    "summarised",
    "whole",
]
