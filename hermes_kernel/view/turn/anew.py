"""What a page is told that was loaded while a turn ran: the answer that it shows is in widgets alone."""

from __future__ import annotations

from hermes_kernel.view.markup import hint

UNSAVED = "This page was loaded while the turn ran, so the answer is not saved in the notebook: `%hermes show` has it."


def unsaved_html() -> str:
    """What is not in the notebook, and where it is."""
    return hint(UNSAVED)
