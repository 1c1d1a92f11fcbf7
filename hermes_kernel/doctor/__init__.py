"""Is everything there that a turn needs? Each finding is one line, and a problem says what to do next.

Looks and asks, changes nothing, shows no key.
"""

from hermes_kernel.doctor.examining import examine
from hermes_kernel.doctor.finding import Finding, State, report

__all__ = ["Finding", "State", "examine", "report"]
