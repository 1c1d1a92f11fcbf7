"""Teams of agents: work handed to subagents that run beside one another on leases of one budget.

A feature made of core, world, session, equipment and playing. Everything in here is imported when it is first needed.
"""
