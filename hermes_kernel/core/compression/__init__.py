"""Making a long conversation short without breaking it: plan, tell, ask, splice; and what to do when no model answers.

`prune` first, for it costs nothing. Then `planned` says what a summary may stand for, `pieces` tells it to a summariser
as `request`s under `SYSTEM`, each answer `accepted` or else a `digest` made, and `spliced` puts it in its place.
`reduced` is the last resort. Whatever comes in `sound` goes out sound, and with the last prompt word for word.
"""

from hermes_kernel.core.compression.digesting import digest
from hermes_kernel.core.compression.history import groups, sound
from hermes_kernel.core.compression.planning import Keep, Plan, planned
from hermes_kernel.core.compression.pruning import prune
from hermes_kernel.core.compression.reducing import reduced
from hermes_kernel.core.compression.splicing import spliced
from hermes_kernel.core.compression.summary import is_summary, stands_for, summary_message, summary_text
from hermes_kernel.core.compression.telling import pieces
from hermes_kernel.core.compression.template import SYSTEM, accepted, allowance, bounded, request
from hermes_kernel.core.compression.weight import Weigh, size

__all__ = [
    "SYSTEM",
    "Keep",
    "Plan",
    "Weigh",
    "accepted",
    "allowance",
    "bounded",
    "digest",
    "groups",
    "is_summary",
    "pieces",
    "planned",
    "prune",
    "reduced",
    "request",
    "size",
    "sound",
    "spliced",
    "stands_for",
    "summary_message",
    "summary_text",
]
