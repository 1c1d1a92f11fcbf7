"""Making a conversation shorter while it goes on: summaries by a model, a digest of the facts where none can be had."""

from hermes_kernel.world.compressing.digester import Digester
from hermes_kernel.world.compressing.summariser import Summariser

__all__ = ["Digester", "Summariser"]
