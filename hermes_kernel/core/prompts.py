"""The sentences a turn itself says to the model: few, short, and never mistaken for the person's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from urllib.parse import urlsplit

from hermes_kernel.core.classify import LONG_LIMIT_SECONDS
from hermes_kernel.core.events import Failed
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.figures import span
from hermes_kernel.core.messages import Assistant, Observation, Transcript
from hermes_kernel.core.text import brief

CONTINUE = (
    "[Your reply was cut off by the output limit. Go on exactly where it stopped, in the middle of a word if need be. "
    "Repeat nothing, explain nothing.]"
)
EMPTY = "[Your last reply was empty. Answer the request in words, or call a tool.]"
FILTERED = "the provider's content filter withheld the reply"
CUT_SHORT = "the answer was cut off at the output limit; raise max_tokens or ask for the rest"
LOST = (
    "Outcome unknown: this call had started when the process ended. It may have had effects and was not run again. "
    "Check before repeating it."
)
STOPPED = "Interrupted: this call had started and was stopped. It may have had effects and was not run again."
NOT_RUN = "Interrupted before this call ran. It had no effect."


ADVICE: Mapping[Fault, str] = {
    Fault.RATE_LIMIT: "Wait, lower requests_per_minute, or name fallback_models.",
    Fault.PROACTIVE_RATE_LIMIT: "Wait, or raise requests_per_minute.",
    Fault.BILLING: "Add credit there, or choose another model with `%hermes model`.",
    Fault.AUTH: "Check HERMES_API_KEY and HERMES_BASE_URL.",
    Fault.OVERLOADED: "Try again later, or name fallback_models.",
    Fault.SERVER_ERROR: "Try again later, or name fallback_models.",
    Fault.TIMEOUT: "Is the server up? `%hermes doctor` looks; first_byte_seconds and queued_seconds bound the wait.",
    Fault.STALE_STREAM: "Try again; stale_seconds says how long a stream may be silent.",
    Fault.DISCONNECT: "Is the server up? `%hermes doctor` looks.",
    Fault.INVALID_RESPONSE: "Is this an OpenAI-compatible endpoint? `%hermes doctor` looks.",
    Fault.CONTEXT_OVERFLOW: "Ask with less, begin anew with `%hermes new`, or choose a model that reads more.",
    Fault.PAYLOAD_TOO_LARGE: "Begin anew with `%hermes new`, or ask with less.",
    Fault.MODEL_NOT_FOUND: "`%hermes model` lists the models there.",
    Fault.CONTENT_FILTER: "Reword the prompt, or choose another model.",
    Fault.FORMAT_ERROR: "Choose another model, or begin anew with `%hermes new`.",
    Fault.UNICODE: "Begin anew with `%hermes new`, or choose another model.",
    Fault.SSL: "Check HERMES_BASE_URL and the certificates of this machine.",
    Fault.NOT_RECORDED: "Record it anew with `%hermes record on`, or ask a real model with `%hermes replay off`.",
    Fault.UNKNOWN: "Try again; `%hermes doctor` looks for the cause.",
}
"""What a person can do about a fault that could not be recovered from."""


def advised(failed: Failed) -> str:
    """What happened, where, and what to do next, on one line."""
    told = failed.message.rstrip(". ") or failed.fault.replace("_", " ")
    host = urlsplit(failed.endpoint).hostname if failed.fault is not Fault.NOT_RECORDED else ""  # nobody was asked
    where = f" ({failed.model} at {host})" if host else ""
    return f"{told[:1].upper()}{told[1:]}{where}. {_advice(failed)}"


def _advice(failed: Failed) -> str:
    """What to do next; where the server has said when to come back, and that is not soon, when."""
    if (failed.wait or 0) > LONG_LIMIT_SECONDS:
        return f"Come back in {span(failed.wait or 0)}, as it says, or choose another model with `%hermes model`."
    return ADVICE[failed.fault]


def grace(limit: int) -> str:
    """The last request of an exhausted budget."""
    return (
        f"[The limit of {limit} model calls is reached and tools are no longer available. "
        "In a few sentences say what was done, what was found, and what is left to do.]"
    )


def said_nothing(times: int) -> str:
    """Why a turn ended `empty`."""
    return f"the model sent {times} empty replies; rephrase the prompt or choose another model"


def stuck(name: str) -> str:
    """Why a turn of one failing call after the other ended."""
    return f"The model repeated one failing call of `{name}` again and again. Reword the prompt, or ask another model."


def digest(messages: Transcript, calls: int, stopped: str) -> str:
    """What was done in a turn that ran out, from the facts alone, for when the model's own words are not to be had."""
    tools = Counter(call.name for m in messages if isinstance(m, Assistant) for call in m.calls)
    why = "the turn's time limit was reached" if stopped == "time" else f"the limit of {calls} model calls was reached"
    if not tools:
        return f"Stopped: {why} before there was an answer. No tools were run."
    done = ", ".join(f"`{name}` × {count}" for name, count in tools.items())
    last = next((m for m in reversed(messages) if isinstance(m, Observation)), None)
    result = f" The last result, of `{last.name}`: {brief(last.text, 200)}" if last else ""
    return f"Stopped: {why} before there was an answer. Tools that were called: {done}.{result}"
