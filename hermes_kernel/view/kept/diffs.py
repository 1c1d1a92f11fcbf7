"""A unified diff as HTML: each line as it stands, its sign in front, behind it a tint that adds nothing to it. Pure."""

from __future__ import annotations

from hermes_kernel.core.safe import NO_MATH, escape
from hermes_kernel.view.look import CODE, QUIET
from hermes_kernel.view.markup import quiet

MOST, LONGEST = 2_000, 2_000  # lines, characters of a line
TINTS = {
    "+": "background:color-mix(in srgb,var(--jp-success-color1,#2e7d32) 16%,transparent)",
    "-": "background:color-mix(in srgb,var(--jp-error-color1,#c62828) 14%,transparent)",
}


def diff_html(diff: str) -> str:
    """`diff` in one element; "" for none. What is left out of a very long one is said."""
    if not diff:
        return ""
    lines = diff.rstrip("\n").split("\n")
    left = len(lines) - MOST
    more = quiet(f"… {left:,} more lines are not shown here.") if left > 0 else ""
    body = "".join(map(_line, lines[:MOST]))
    return f'<pre class="{NO_MATH}" style="{CODE};margin:4px 0;white-space:pre-wrap">{body}</pre>{more}'


def _line(line: str) -> str:
    head = line.startswith(("---", "+++", "@@"))
    style = f"color:{QUIET}" if head else TINTS.get(line[:1], "")
    words = line[:LONGEST] + ("…" if len(line) > LONGEST else "")
    return f'<span style="{style}">{escape(words)}</span>\n' if style else f"{escape(words)}\n"
