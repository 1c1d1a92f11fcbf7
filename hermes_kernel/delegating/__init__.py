"""Teams of agents: work handed to subagents that run beside one another on leases of one budget.

`delegator` is an agent's way in; `delegation` the tool of its model. `tasks` reads what is to be done, `briefing` is
what a subagent is told; a `team` of `child`ren works, each on what a `purse` lends it, and `calming` thins out what is
seen of it. `report` is what comes back, `recovering` what a crash left behind.
"""

from hermes_kernel.delegating.delegator import Delegator
from hermes_kernel.delegating.report import Report
from hermes_kernel.delegating.tasks import Task, Tasks

__all__ = ["Delegator", "Report", "Task", "Tasks"]
