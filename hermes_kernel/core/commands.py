"""What a turn may ask of the world. Each command says all that is needed to carry it out."""

from __future__ import annotations

from dataclasses import dataclass

from hermes_kernel.core.events import Kept
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.gauge import Gauge
from hermes_kernel.core.messages import ToolCall, Transcript, User


@dataclass(frozen=True, slots=True)
class CallModel:
    """Ask model number ``route``, which is believed to read ``window`` tokens (0: not known). ``suffix`` is said after
    the transcript for this call only (a continuation or grace prompt). ``shown`` is text of this reply that a person
    already saw in a failed attempt: the same text is not told again, other text begins with `Retracted`. ``max_tokens``
    0 leaves the output limit to the endpoint; ``caution`` is the level of `Repaired`."""

    transcript: Transcript
    system: str = ""
    route: int = 0
    tools: bool = True
    suffix: User | None = None
    shown: str = ""
    max_tokens: int = 0
    caution: int = 0
    window: int = 0


@dataclass(frozen=True, slots=True)
class RunTools:
    """Run these together; results may come in any order."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait before attempt ``attempt`` of ``of``. ``exact`` when a server named the time: then chance adds nothing."""

    seconds: float
    attempt: int
    of: int
    fault: Fault
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Compress:
    """Make the transcript smaller for a model that reads ``window`` (0: not known), counts as ``gauge`` says, and to
    which a call with it is ``tokens`` long. ``attempt`` counts up while the same call keeps overflowing. ``ahead``:
    only begin, the turn goes on meanwhile. ``focus`` is what a person who asked for this wants kept most; None where
    nobody asked."""

    transcript: Transcript
    attempt: int = 1
    tokens: int = 0
    window: int = 0
    ahead: bool = False
    gauge: Gauge = Gauge()
    focus: str | None = None


@dataclass(frozen=True, slots=True)
class Tell:
    """Nothing to do: these facts follow from the ones already known."""

    events: tuple[Kept, ...]


Command = CallModel | RunTools | Wait | Compress | Tell
