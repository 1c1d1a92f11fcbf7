"""A small real model on this machine, for a first run without a key: weights and server from the package index.

`server` is what an agent has of it, `child` its process, `lease` who uses it, `weights` are the files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hermes_kernel.world.local.weights import GivenUp, LocalModelError, available

if TYPE_CHECKING:
    from hermes_kernel.world.local.server import LocalModel

__all__ = ["GivenUp", "LocalModel", "LocalModelError", "available"]


def __getattr__(name: str) -> Any:
    """`LocalModel`, when it is needed: processes and sockets are of no use to somebody who asks what is available."""
    if name != "LocalModel":
        raise AttributeError(name)
    from hermes_kernel.world.local.server import LocalModel

    return LocalModel
