"""What makes an agent better over time: memory, skills, and the slow loops that tend to them."""

from hermes_kernel.learning.learning import Learning

__all__ = ["Learning"]
