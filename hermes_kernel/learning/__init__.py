"""What makes an agent better over time: memory, skills, and the slow loops that tend to them.

`lore` is what a home has learnt, `learning` the same in the hands of an agent. `memory` and `skills` are what it
consists of, `proposals` what waits for a person. `reflecting` looks back at conversations, `curating` puts away what
nobody uses; `holding` says whether they begin by themselves, `loops` tells of all eight.
"""

from hermes_kernel.learning.learning import Learning

__all__ = ["Learning"]
