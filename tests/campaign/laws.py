"""What holds after each turn, whatever went wrong in it, and when an agent has been closed. An `AssertionError` says what
does not."""

from __future__ import annotations

import json
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path

from hermes_kernel import Outcome, Turn
from hermes_kernel.core.budget import Limits
from hermes_kernel.core.events import (
    Accepted,
    Calling,
    Event,
    Failed,
    Final,
    Interrupted,
    Kept,
    Observed,
    Replied,
    Retrying,
    Started,
    Subagent,
    is_kept,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import Assistant
from hermes_kernel.core.turn import decide, recall
from hermes_kernel.testing import Request
from tests.campaign.saying import SECRETS
from tests.faults.played import acceptable, streamed, whole

ENDS = {Outcome.FAILED, Outcome.REFUSED}
LONGEST = 10.0  # seconds from a stop to the end of the turn: 0.3 is promised, of a machine that has nothing else to do


@dataclass(frozen=True, slots=True)
class Seen:
    """A turn that is over, and what was seen of it: its ``events``, the ``requests`` that came meanwhile, the ``facts``
    that the store has of its session. ``pressed`` is after how many events it was stopped (None: it was not), ``left``
    that nobody waited for its end, and ``closing`` how many seconds the end took then."""

    turn: Turn
    events: tuple[Event, ...]
    requests: tuple[Request, ...]
    facts: Sequence[Kept]
    limits: Limits
    pressed: int | None = None
    left: bool = False
    closing: float = 0.0
    title: str = ""

    @property
    def own(self) -> list[Kept]:
        """Its kept facts, without those of its subagents."""
        return [event for event in self.events if is_kept(event)]


def check(seen: Seen) -> None:
    """Everything that holds for one turn."""
    ended(seen)
    bounded(seen)
    told_and_kept(seen)
    messages(seen.turn)
    billed(seen)
    if seen.pressed is not None:
        stopped(seen, seen.pressed)
    for request in seen.requests:
        polite(request)
    secret_free(repr(seen.turn.transcript), "the transcript")
    secret_free(repr(seen.events), "the events")


def ended(seen: Seen) -> None:
    """It ends, in one of six ways, and never as completed without an answer."""
    turn = seen.turn
    assert decide(turn) is None, "there is something left to do"
    assert isinstance(turn.outcome, Outcome)
    if not seen.left:
        finals = [event for event in seen.own if isinstance(event, Final)]
        assert len(finals) == 1, f"{len(finals)} ends"
        assert isinstance(seen.own[-1], Final), f"{seen.own[-1]} after the end"
    assert turn.outcome is not Outcome.COMPLETED or turn.text.strip(), "completed without an answer"
    assert turn.outcome not in ENDS or turn.reason, f"{turn.outcome} without a reason"
    assert "\n" not in turn.reason


def bounded(seen: Seen) -> None:
    """Calls of the whole tree, retries and continuations keep to their limits."""
    turn, limits = seen.turn, seen.limits
    budget = turn.budget
    assert budget.spent <= budget.limit, f"{budget} is overdrawn"
    assert not budget.leases, f"{budget.leases} never came back"
    replied = [event for event in _tree(seen.events) if isinstance(event, Replied)]
    refunded = turn.refunds
    assert len(replied) <= budget.limit + 1 + refunded, f"{len(replied)} replies of a budget of {budget.limit}"
    waits = throttles = cut = 0
    tried: Replied | None = None
    for event in seen.own:
        match event:
            case Retrying(attempt, of, _, fault) if fault is not Fault.PROACTIVE_RATE_LIMIT:
                waits += 1
                assert attempt <= of == limits.max_retries, f"retry {attempt} of {limits.max_retries}"
                assert waits <= limits.max_retries * limits.routes, f"{waits} retries of one call"
            case Retrying():
                throttles += 1
                assert throttles <= limits.throttles * limits.routes
            case Replied():
                waits, throttles, tried = 0, 0, event
                cut = cut if event.cut else _in_a_row(cut, event)
            case Accepted() if tried is not None:  # asked for again and again, it came no better
                cut = _in_a_row(cut, tried)
            case _:
                pass
        assert cut <= limits.max_continuations + 1, f"{cut} continuations in a row"


def _in_a_row(cut: int, reply: Replied) -> int:
    """How many answers were cut in a row, after this one, of which `cut` were before it."""
    if reply.calls:
        return 0
    return cut + (reply.finish is Finish.LENGTH and bool(reply.text.strip()))


def told_and_kept(seen: Seen) -> None:
    """What was streamed is what is returned and stored; the log folds to the very same turn."""
    turn = seen.turn
    if not seen.left and (streamed(seen.events) or turn.outcome is not Outcome.BUDGET_EXHAUSTED):
        assert streamed(seen.events) == turn.text, f"{streamed(seen.events)!r} was streamed of {turn.text!r}"
    if seen.facts:
        same(recall(seen.facts, Turn(turn.limits)), turn)


def same(found: Turn, turn: Turn) -> None:
    """Two folds of the same facts; how full a window is, a resumed session learns anew."""
    for each in fields(Turn):
        one, two = getattr(found, each.name), getattr(turn, each.name)
        assert one == two or each.name == "fill", f"{each.name} is another in the store: {one!r:.300}, was {two!r:.300}"


def messages(turn: Turn) -> None:
    """Every call has one result, in order; roles alternate; no lone surrogate."""
    whole(turn.transcript)
    for one, two in pairwise(turn.transcript):
        assert not (isinstance(one, Assistant) and isinstance(two, Assistant)), "two assistants in a row"
    turn.reason.encode()
    turn.text.encode()


def billed(seen: Seen) -> None:
    """Each reply is in the usage, and nothing that was never asked; each call that began has one result."""
    turn = seen.turn
    replied = sum(isinstance(event, Replied) for event in _tree(seen.events))
    if not seen.left:
        assert turn.usage.calls >= replied, f"{turn.usage.calls} calls in the usage of {replied} replies"
    results = Counter(event.call_id for event in seen.own if isinstance(event, Observed))
    assert all(count == 1 for count in results.values()), f"results of one call: {results}"
    begun = Counter(event.call_id for event in seen.own if isinstance(event, Started))
    assert all(count == 1 for count in begun.values()), f"runs of one call: {begun}"


def called(events: Iterable[Event]) -> int:
    """How many requests a turn says that it and its subagents have made."""
    return sum(isinstance(event, Calling) for event in _tree(events))


def asked(requests: Iterable[Request]) -> int:
    """How many of these are of turns and their subagents, and not of what goes on beside them."""
    systems = (str(request.messages[0]["content"]) for request in requests)
    return sum(system.startswith(("You are Hermes", "You are a subagent")) for system in systems)


def stopped(seen: Seen, pressed: int) -> None:
    """After a stop nothing begins any more, and the turn says that it was stopped, unless it was over."""
    after = seen.events[pressed:]
    begun = [event for event in after if isinstance(event, Calling | Started | Retrying)]
    assert not begun, f"{begun} after a stop"
    by_time = any(isinstance(event, Interrupted) and event.by == "time" for event in seen.own)
    over = not any(isinstance(event, Interrupted) for event in after)
    assert over or by_time or seen.turn.outcome is Outcome.INTERRUPTED, f"{seen.turn.outcome} after a stop"
    assert seen.closing < LONGEST, f"{seen.closing:.1f} s from a stop to the end"


def polite(request: Request) -> None:
    """A request that every provider accepts, and in which nothing is that was planted."""
    acceptable(request)
    secret_free(json.dumps(request.body, ensure_ascii=False), "a request")


def secret_free(text: str, where: str) -> None:
    """None of what was planted is there."""
    for secret in SECRETS:
        assert secret not in text, f"{secret} is in {where}"


def private(home: Path) -> None:
    """No file below `home` holds a secret or can be read by others."""
    for path in home.rglob("*"):
        mode = path.lstat().st_mode
        assert not stat.S_IMODE(mode) & 0o077, f"{path.relative_to(home)} is open to others: {stat.filemode(mode)}"
        if path.is_file():
            held = path.read_bytes()
            assert not any(secret.encode() in held for secret in SECRETS), f"a secret is in {path.relative_to(home)}"


def _tree(events: Iterable[Event]) -> Iterator[Event]:
    """The events of a turn and of all subagents below it."""
    for told in events:
        event = told
        while isinstance(event, Subagent):
            event = event.event
        yield event


def faults(events: Iterable[Event]) -> list[Fault]:
    """What went wrong in a turn and below it."""
    return [event.fault for event in _tree(events) if isinstance(event, Failed)]
