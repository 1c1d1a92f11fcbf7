"""One turn of a real agent over the scripted server, and the laws that hold for every turn whatever went wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

from hermes_kernel import Agent, Outcome, Turn, tool
from hermes_kernel.core.events import (
    KEPT,
    Accepted,
    Event,
    Failed,
    FellBack,
    Final,
    Observed,
    Replied,
    Retracted,
    Retrying,
    TextDelta,
)
from hermes_kernel.core.messages import Assistant, Observation, Transcript, User
from hermes_kernel.core.turn import recall
from hermes_kernel.testing import FastClock, Request, Server, Step
from hermes_kernel.world.store import Store

KEY = "sk-very-secret-0123456789"
PROMPT = "What does A1 cost?"
ANSWER = "It costs three euros, and shipping is free."

Script = Step | Iterable[Step] | Callable[[Request], Step]


@tool
def price(sku: str, currency: str = "EUR") -> str:
    """Look up a price."""
    return f"{sku}: 3 {currency}"


@dataclass(frozen=True, slots=True)
class Played:
    """A turn that is over, and everything that was seen of it."""

    turn: Turn
    events: tuple[Event, ...]
    requests: tuple[Request, ...]
    stored: Transcript

    @property
    def outcome(self) -> Outcome | None:
        return self.turn.outcome

    @property
    def text(self) -> str:
        return self.turn.text

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def faults(self) -> list[str]:
        return [event.fault.value for event in self.of(Failed)]

    @property
    def results(self) -> list[str]:
        return [message.text for message in self.turn.messages if isinstance(message, Observation)]

    @property
    def connections(self) -> list[int]:
        return [request.connection for request in self.requests]


async def play(
    home: Path,
    script: Script,
    prompt: str = PROMPT,
    *,
    tools: Sequence[Any] = (price,),
    clock: Any = None,
    **settings: Any,
) -> Played:
    """Play one turn and check the laws on it. Waits cost nothing unless another `clock` is given."""
    clock = clock or FastClock()
    with Server(script, now=clock.now) as server:
        agent = Agent(
            "scripted",
            tools,
            clock=clock,
            home=home,
            base_url=server.url,
            api_key=KEY,
            **({"approvals": "deny"} | settings),
        )
        try:
            events = tuple([event async for event in agent.stream(prompt)])
        finally:
            agent.close()
            await hung_up(server)
        got = Played(agent.turn, events, server.requests, stored(home, agent.session_id))
    check(got)
    assert got.stored == got.turn.transcript
    return got


async def hung_up(server: Server) -> None:
    """Return when the client has closed all its connections, as it must."""
    async with asyncio.timeout(10):
        while server.connected:
            await asyncio.sleep(0.001)


def stored(home: Path, session_id: str) -> Transcript:
    """The transcript as another process would find it."""
    with closing(Store(home, clock=FastClock(), ids=lambda: uuid4().hex)) as store:
        return recall(store.recall(session_id)).transcript


# --- the laws ---------------------------------------------------------------------------------------------------------


def check(got: Played) -> None:
    """What holds for every turn."""
    kept = got.of(KEPT)
    assert isinstance(kept[-1], Final)
    assert len(got.of(Final)) == 1
    assert got.outcome is not Outcome.COMPLETED or got.text.strip()
    assert got.outcome not in (Outcome.FAILED, Outcome.REFUSED) or got.turn.reason
    assert "\n" not in got.turn.reason
    if streamed(got.events) or got.outcome is not Outcome.BUDGET_EXHAUSTED:
        assert streamed(got.events) == got.text
    whole(got.turn.transcript)
    assert all(KEY not in repr(event) for event in got.events)
    assert KEY not in repr(got.turn)
    for request in got.requests:
        polite(request)


def streamed(events: Iterable[Event]) -> str:
    """The answer that a person who follows the stream has before them at the end.

    `Retracted` takes back the present reply; an answer that is continued is made of several, so the earlier ones stay.
    """
    before, present, asks, blank = "", "", False, False
    for event in events:
        match event:
            case TextDelta(piece):
                present += piece
            case Retracted():
                present = ""
            case Replied(cut=True, calls=calls, text=text):
                asks, blank = bool(calls), not (calls or text.strip())
            case Replied(calls=(), text=text) if not text.strip():
                pass
            case Replied(calls=calls):
                before, present = ("" if calls else before + present), ""
            case Accepted() if not blank:
                before, present = ("" if asks else before + present), ""
            case _:
                pass
    return before + present


def whole(transcript: Transcript) -> None:
    """Every call has exactly one result, right behind it and in order; every text is well-formed."""
    pending: list[str] = []
    for message in transcript:
        message.text.encode()
        match message:
            case Observation(call_id):
                assert pending, f"a result without a call: {call_id}"
                assert pending.pop(0) == call_id
            case Assistant(_, calls):
                assert not pending
                pending = [call.id for call in calls]
                assert len(set(pending)) == len(pending)
            case User():
                assert not pending
    assert not pending


def polite(request: Request) -> None:
    """A request that every provider accepts, with the key where it belongs."""
    acceptable(request)
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in json.dumps(request.body)


def acceptable(request: Request) -> None:
    """One system message first, roles that alternate, each call answered, and text that can be encoded."""
    roles = [message["role"] for message in request.messages]
    assert "system" not in roles[1:], roles
    for one, two in pairwise(roles):
        assert one != two or one == "tool", roles
    assert roles[-1] in ("user", "tool"), roles
    assert ([*roles, "user"])[roles[0] == "system"] == "user", roles
    answered(request.messages)
    json.dumps(request.body, ensure_ascii=False).encode()


def answered(messages: list[dict[str, Any]]) -> None:
    """On the wire: every call has a JSON object for arguments and one result, right behind it and in order."""
    pending: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert pending.pop(0) == message["tool_call_id"]
            continue
        assert not pending
        pending = [call["id"] for call in message.get("tool_calls", ())]
        assert all(isinstance(json.loads(c["function"]["arguments"]), dict) for c in message.get("tool_calls", ()))
        assert message.get("content") or pending, "an empty message"
    assert not pending


def retries(got: Played) -> list[Retrying]:
    """The waits that were announced."""
    return got.of(Retrying)


def fallbacks(got: Played) -> list[FellBack]:
    """The changes of model."""
    return got.of(FellBack)


def oks(got: Played) -> list[bool]:
    """Whether each tool result was a success."""
    return [event.ok for event in got.of(Observed)]
