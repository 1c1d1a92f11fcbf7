"""Making a conversation shorter while it goes on. The rules of it are `core.compression`.

The `summariser` is a session's compressor, a `work` one summary in the making, `measures` how large what may be; the
`digester` is for work that does not last, and asks no model.
"""

from hermes_kernel.world.compressing.digester import Digester
from hermes_kernel.world.compressing.summariser import Summariser

__all__ = ["Digester", "Summariser"]
