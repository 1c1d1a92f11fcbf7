"""A small real model on this machine, for a first run without a key: weights and server from the package index."""

from __future__ import annotations

from hermes_kernel.world.local.server import LocalModel, available
from hermes_kernel.world.local.weights import GivenUp, LocalModelError

__all__ = ["GivenUp", "LocalModel", "LocalModelError", "available"]
