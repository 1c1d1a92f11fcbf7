"""What faces ask of a store beyond a search: conversations with their relatives, their names, what all of it has used,
and a person's own SQL."""

from hermes_kernel.looking.conversations import conversation, conversations, how_to_list, listed, none
from hermes_kernel.looking.lineage import summarised, whole
from hermes_kernel.looking.spending import BY, Spending, beside, spending
from hermes_kernel.looking.sql import Answer, NoAnswer, answer
from hermes_kernel.looking.titles import entitle
from hermes_kernel.looking.tree import lineage

__all__ = [
    "BY",
    "Answer",
    "NoAnswer",
    "Spending",
    "answer",
    "beside",
    "conversation",
    "conversations",
    "entitle",
    "how_to_list",
    "lineage",
    "listed",
    "none",
    "spending",
    "summarised",
    "whole",
]
