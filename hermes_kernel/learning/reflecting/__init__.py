"""The slow loops beside a conversation: what is worth remembering (nudge), and is its way worth a skill (review).

`Reflector` says when; a `look` is one side conversation; `watch` counts what none has seen; `asking` is the model's
side. They run on a thread of their own and are never in the way of a turn, of a cell, or of an end.
"""

from hermes_kernel.learning.reflecting.look import Means
from hermes_kernel.learning.reflecting.reflector import Reflector
from hermes_kernel.learning.reflecting.standing import Standing

__all__ = ["Means", "Reflector", "Standing"]
