"""What the agent remembers of a person and their work, in the two files of the original: read, changed, undone.

`memory` is for whoever reads or changes it. `changing` keeps one of the `files` and the record in step; what was last
`known` tells a change by hand, `ours` which changes on record are this home's. A model has it by the `tool`, a person
by what is `asked`.
"""

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
