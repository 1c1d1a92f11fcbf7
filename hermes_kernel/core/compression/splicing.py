"""A summary takes its place in a conversation that may have gone on meanwhile: nothing said since is lost or moved."""

from __future__ import annotations

from hermes_kernel.core.compression.planning import Plan
from hermes_kernel.core.compression.summary import summary_message
from hermes_kernel.core.compression.weight import Weigh, size
from hermes_kernel.core.messages import Transcript


def spliced(
    transcript: Transcript, begun: Transcript, plan: Plan, summary: str, weigh: Weigh = size
) -> Transcript | None:
    """`transcript` with `summary` in place of what `plan`, made over `begun`, takes out; all behind that as it is now.

    None when the conversation no longer begins as the plan knew it (an undo, another compression), or when the result
    would not be smaller.
    """
    if transcript[: plan.tail] != begun[: plan.tail]:
        return None
    left_out = plan.stood_for + len(plan.taken(begun))
    prompt = () if plan.pinned is None else (transcript[plan.pinned],)
    shorter = (*transcript[: plan.head], summary_message(summary, left_out), *prompt, *transcript[plan.tail :])
    return shorter if weigh(shorter) < weigh(transcript) else None
