"""Models behind OpenAI-compatible endpoints: from a `CallModel` to one `Replied`, `Failed` or `Interrupted`."""

from __future__ import annotations

from hermes_kernel.world.model.client import OpenAIModel
from hermes_kernel.world.model.routes import Route

__all__ = ["OpenAIModel", "Route"]
