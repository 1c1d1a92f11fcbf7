"""Test doubles for agents and tools: a scripted OpenAI-compatible server, the same script in-process, and a fast clock.

``with Server([call("price", {"sku": "A1"}), say("It costs 3 EUR.")]) as server:`` gives an endpoint at ``server.url``
for ``Agent("any", [price], base_url=server.url, api_key="none")``. Importing this loads nothing: pytest does it in
every project, for the fixtures of `plugin`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes_kernel.testing.public import *  # noqa: F403 - the names are listed there, once


def __getattr__(name: str) -> Any:
    if name != "__all__" and find_spec(f"hermes_kernel.testing.{name}"):
        raise AttributeError(name)  # a module of this package, which Python asks for before it imports it
    public = import_module("hermes_kernel.testing.public")
    if name == "__all__" or name in public.__all__:
        return getattr(public, name)
    raise AttributeError(f"module 'hermes_kernel.testing' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(import_module("hermes_kernel.testing.public").__all__)
