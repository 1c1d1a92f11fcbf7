"""The protections of what is shown, of what a model reads, of approvals and of secrets, each taken away."""

from __future__ import annotations

from tests.claims import Edit, Removal, without

READING: tuple[Removal, ...] = (
    without(
        "Raw HTML in an answer is text",
        "a link may run a script",
        Edit(
            "hermes_kernel/core/safe.py",
            'LINKS = ("http://", "https://", "mailto:")',
            'LINKS = ("http://", "https://", "mailto:", "javascript:")',
        ),
        "nothing of a hostile text is more than words",
    ),
)
