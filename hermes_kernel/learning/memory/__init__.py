"""What the agent remembers of a person and their work, in the two files of the original: read, changed, undone."""

from hermes_kernel.core.learning.memory import (
    Change,
    Limits,
    MemoryFull,
    MemoryRefused,
    MemoryThreat,
    Operation,
)
from hermes_kernel.learning.memory.memory import Memory, Past

__all__ = ["Change", "Limits", "Memory", "MemoryFull", "MemoryRefused", "MemoryThreat", "Operation", "Past"]
