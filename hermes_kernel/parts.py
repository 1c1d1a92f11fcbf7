"""What an agent is made of, in one import: it takes longer than all that a notebook does until it makes its agent."""

from __future__ import annotations

from hermes_kernel.conversation import Conversation
from hermes_kernel.delegating import Delegator
from hermes_kernel.equipment import Equipment
from hermes_kernel.learning import Learning
from hermes_kernel.limits import turn_limits
from hermes_kernel.playing import Player
from hermes_kernel.resources import Resources
from hermes_kernel.scheduling.tool import make_schedule
from hermes_kernel.session import Session
from hermes_kernel.settings import Settings
from hermes_kernel.world.blocking import Blocking
from hermes_kernel.world.ground import Ground

__all__ = [
    "Blocking",
    "Conversation",
    "Delegator",
    "Equipment",
    "Ground",
    "Learning",
    "Player",
    "Resources",
    "Session",
    "Settings",
    "make_schedule",
    "turn_limits",
]
