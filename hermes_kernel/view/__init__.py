"""What a cell shows of a turn: a fold of its events, and that picture as text, Markdown and HTML.

Pure: knows no display, no clock and no kernel. Whoever paints brings those. `seeing` folds events into a `picture` of
`blocks`, rows and `children`; `panel` says it while it goes on, `bundle` what stays of it. `kept`
and `columns` are for what is kept, `sights` for work that is no turn; `look` and `markup` are shared by all.
"""

from __future__ import annotations

from hermes_kernel.core.safe import clean, escape, sanitise
from hermes_kernel.view.turn.blocks import Layout, grow
from hermes_kernel.view.turn.bundle import cost_line, done_line, heading_html, heading_plain, still
from hermes_kernel.view.turn.picture import Child, Picture
from hermes_kernel.view.turn.present import status_line
from hermes_kernel.view.turn.seeing import see
from hermes_kernel.view.turn.words import WITHDRAWN, Notice, Row, Status

__all__ = [
    "WITHDRAWN",
    "Child",
    "Layout",
    "Notice",
    "Picture",
    "Row",
    "Status",
    "clean",
    "cost_line",
    "done_line",
    "escape",
    "grow",
    "heading_html",
    "heading_plain",
    "sanitise",
    "see",
    "status_line",
    "still",
]
