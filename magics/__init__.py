"""Magics that run an agent in any IPython: ``%load_ext magics``. Loading imports neither a model client nor widgets.

PYTEST_DONT_REWRITE: a pytest that is started in a notebook finds this loaded, and would warn of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Offer ``%%hermes`` and ``%hermes``; once, however often it is loaded."""
    from magics.hermes import load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take them away again, and end what they began."""
    from magics.hermes import unload

    unload(shell)
