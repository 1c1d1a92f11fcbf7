"""The skill curator: what an agent made and nobody uses gets out of the way, and can always be brought back."""

from hermes_kernel.learning.curating.curator import Curator, Status

__all__ = ["Curator", "Status"]
