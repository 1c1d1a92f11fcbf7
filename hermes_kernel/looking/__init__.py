"""What faces ask of a store beyond a search: conversations with their relatives, and a person's own SQL."""

from hermes_kernel.looking.conversations import conversation, conversations, none
from hermes_kernel.looking.lineage import summarised, whole
from hermes_kernel.looking.sql import Answer, NoAnswer, answer

__all__ = ["Answer", "NoAnswer", "answer", "conversation", "conversations", "none", "summarised", "whole"]
