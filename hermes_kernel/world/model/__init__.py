"""Models behind OpenAI-compatible endpoints: from a `CallModel` to one `Replied`, `Failed` or `Interrupted`.

`client` is the port. Each of its `routes` has a `lane`, which knows that endpoint: its `quirks`, `rate` and `windows`.
A call is an `inquiry`; each request for it is made by `encode` and had in an `exchange` over a `wire` (the real one is
the `pool`), with a `watch` on silence; `reading` puts together what comes.
"""

from __future__ import annotations

from hermes_kernel.world.model.client import OpenAIModel
from hermes_kernel.world.model.routes import Route

__all__ = ["OpenAIModel", "Route"]
