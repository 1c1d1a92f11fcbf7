"""What happened: `evolve` puts one fact into the turn. It records, in order of arrival, and decides nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

from hermes_kernel.core import prompts
from hermes_kernel.core.budget import IterationBudget
from hermes_kernel.core.events import (
    Accepted,
    Approved,
    Asked,
    Asking,
    CallDelta,
    Calling,
    Compressed,
    Compressing,
    Continued,
    Event,
    Failed,
    FellBack,
    Final,
    Interrupted,
    Leased,
    Lesson,
    Noticed,
    Observed,
    Opened,
    Refunded,
    Repaired,
    Replied,
    Retracted,
    Retrying,
    Returned,
    Silence,
    Spent,
    Started,
    Subagent,
    TextDelta,
    ThoughtDelta,
    Titled,
    Undone,
    Waiting,
    WindowFound,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.fill import Fill
from hermes_kernel.core.messages import Assistant, Observation, Transcript, Usage, User
from hermes_kernel.core.state import Tries, Turn, going_on


def evolve(turn: Turn, event: Event) -> Turn:  # noqa: C901, PLR0911, PLR0912, PLR0915 - one arm for each fact
    """The turn in which `event` has happened."""
    match event:
        case (
            TextDelta()
            | ThoughtDelta()
            | CallDelta()
            | Silence()
            | Waiting()
            | Calling()
            | Retracted()
            | Asking()
            | Noticed()
            | Subagent()
        ):
            return turn
        case Opened():
            return _opened(turn, event)
        case Titled() | Continued() | Lesson():
            return turn
        case Undone(turns):
            return _undone(turn, turns)
        case Asked():
            return _asked(turn, event)
        case Compressed() | Spent() if turn.final or not turn.asked:
            return _between(turn, event)
    turn = replace(turn, events=(*turn.events, event))
    match event:
        case Replied():
            return _replied(turn, event)
        case Accepted():
            return _accepted(turn)
        case Failed():
            return _failed(turn, event)
        case WindowFound(tokens):
            return replace(turn, fill=turn.fill.found(tokens))
        case Retrying(_, _, _, fault):
            return replace(turn, fault=None, tries=_waited(turn.tries, fault))
        case Repaired(level):
            return replace(turn, fault=None, tries=replace(turn.tries, repairs=level))
        case FellBack(route):
            turn = replace(turn, fault=None, reply=None, route=route, fill=turn.fill.fell_back())
            return replace(turn, tries=replace(turn.tries, waits=0, empties=0))
        case Compressing():
            return replace(turn, fill=turn.fill.begun())
        case Compressed():
            return _compressed(turn, event)
        case Spent(usage):
            return replace(turn, usage=turn.usage + usage)
        case Started(call_id, repeatable):
            return turn if repeatable else replace(turn, begun=turn.begun | {call_id})
        case Observed():
            return _observed(turn, event)
        case Approved():
            return turn
        case Refunded(calls):
            budget = turn.budget.refund(calls)
            return replace(turn, budget=budget, calls=turn.calls - calls, refunds=turn.refunds + calls, reply=None)
        case Leased(lease, calls):
            return replace(turn, budget=turn.budget.lease(lease, calls))
        case Returned(lease, used, _, usage):
            return replace(turn, budget=turn.budget.settle(lease, used), usage=turn.usage + usage)
        case Interrupted(by, partial, usage):
            return replace(turn, stopped=by, shown=partial or turn.shown, usage=turn.usage + usage)
        case Final():
            return replace(_told(turn, event.text), final=event, shown="", fault=None)


def recall(events: Iterable[Event], turn: Turn | None = None) -> Turn:
    """Resume: the state is the fold, so a log is a checkpoint after every fact."""
    return reduce(evolve, events, turn or Turn())


def _opened(turn: Turn, opened: Opened) -> Turn:
    """A session begins, with a conversation in it or without."""
    fill = Fill().of(opened.transcript)
    summed = any(isinstance(message, User) and message.summary for message in opened.transcript)
    return Turn(
        limits=turn.limits,
        session_id=opened.session_id,
        system=opened.system,
        transcript=opened.transcript,
        starts=_last_user(opened.transcript),
        fill=replace(fill, rested=fill.tokens if summed else 0),
        earlier=opened.earlier,
    )


def _asked(turn: Turn, asked: Asked) -> Turn:
    """A turn begins. Calls that an earlier one left without a result, for its log was cut there, are closed first."""
    closed = reduce(_observed, (Observed(call.id, prompts.LOST, ok=False) for call in turn.open), turn)
    prompt = User(asked.said, asked.images)
    fill = closed.fill.added(prompt)
    return Turn(
        limits=turn.limits,
        session_id=turn.session_id,
        system=turn.system,
        transcript=(*closed.transcript, prompt),
        starts=(*turn.starts, len(closed.transcript)),
        events=(asked,),
        budget=IterationBudget(asked.budget or turn.limits.max_iterations),
        earlier=turn.earlier + turn.usage,
        room=turn.limits.max_tokens,
        fill=fill.asking(asked.whom, asked.window),
        route=asked.route,
    )


def _replied(turn: Turn, reply: Replied) -> Turn:
    """A call that came back is spent, whatever it brought. A cut one is not the model's word yet."""
    grace = turn.exhausted
    turn = replace(
        turn,
        reply=reply,
        fault=None,
        graced=grace,
        calls=turn.calls + (not grace),
        budget=turn.budget if grace else turn.budget.spend(),
        usage=turn.usage + reply.usage,
        fill=turn.fill if grace else turn.fill.told(reply.model, reply.usage),
        tries=replace(turn.tries, waits=0, throttles=0, compressions=0),
    )
    if grace:
        return _said(turn, replace(reply, calls=(), cut=False))
    return _cut(turn, reply) if reply.cut else _said(turn, reply)


def _failed(turn: Turn, failed: Failed) -> Turn:
    """A call failed; an overflow may tell how large the request was and how much the model reads."""
    fill = turn.fill.learned(failed.model, failed.asked) if failed.asked else turn.fill
    if failed.window or (failed.fault is Fault.CONTEXT_OVERFLOW and failed.status):
        fill = fill.overflowed(failed.window)
    return replace(turn, fault=failed, shown=failed.partial, usage=turn.usage + failed.usage, fill=fill)


def _between(turn: Turn, event: Compressed | Spent) -> Turn:
    """What happens while no turn runs is no part of one, and its cost is not either."""
    if isinstance(event, Compressed):
        turn = _compressed(turn, replace(event, usage=Usage()))
    return replace(turn, earlier=turn.earlier + event.usage)


def _compressed(turn: Turn, event: Compressed) -> Turn:
    """The transcript became a shorter one, in which the turn begins at its own prompt."""
    return replace(
        turn,
        fault=None,
        transcript=event.transcript,
        starts=_prompt_in(event.transcript, turn.messages[:1]),
        usage=turn.usage + event.usage,
        fill=turn.fill.shorter(event.transcript, event.before, event.after),
        tries=replace(turn.tries, compressions=turn.tries.compressions + 1),
    )


def _cut(turn: Turn, reply: Replied) -> Turn:
    """The output limit was too small: note what a person has seen, and how much room the next attempt gets."""
    room = grown(turn.room, reply.usage.output_tokens, turn.limits.model_max_tokens)
    return replace(turn, shown=reply.text, room=room, tries=replace(turn.tries, growths=turn.tries.growths + 1))


def _accepted(turn: Turn) -> Turn:
    return _said(turn, replace(turn.reply, cut=False)) if turn.reply else turn


def _said(turn: Turn, reply: Replied) -> Turn:
    """The model's word enters the transcript. Asked again while its own words stand last, it went on from there."""
    words, tries = Assistant(reply.text, reply.calls, reply.thoughts, reply.extra), turn.tries
    before, fill = turn.transcript, turn.fill.added(words)
    if going_on(turn):
        words = replace(words, text=before[-1].text + words.text)
        before, fill = before[:-1], turn.fill.replaced(before[-1], words)
    if not (words.text.strip() or words.calls):
        return replace(turn, reply=reply, shown=reply.text, tries=replace(tries, empties=tries.empties + 1))
    counts = replace(tries, growths=0, empties=0, continuations=0 if reply.calls else tries.continuations + 1)
    said = (*before, words)
    return replace(turn, transcript=said, fill=fill, reply=reply, open=reply.calls, shown="", tries=counts)


def _told(turn: Turn, text: str) -> Turn:
    """The turn's last words stand at the end of the transcript, whoever found them."""
    if not text:
        return turn
    if going_on(turn):
        last = turn.transcript[-1]
        words = replace(last, text=text)
        return replace(turn, transcript=(*turn.transcript[:-1], words), fill=turn.fill.replaced(last, words))
    words = Assistant(text)
    return replace(turn, transcript=(*turn.transcript, words), fill=turn.fill.added(words))


def _observed(turn: Turn, seen: Observed) -> Turn:
    """Results come as they finish and are read in the order they were asked for."""
    name = next((call.name for call in turn.open if call.id == seen.call_id), None)
    if name is None:
        return turn
    result = Observation(seen.call_id, name, seen.text, seen.ok, seen.images)
    return replace(
        turn,
        transcript=place(turn.transcript, result),
        fill=turn.fill.added(result),
        open=tuple(call for call in turn.open if call.id != seen.call_id),
        begun=turn.begun - {seen.call_id},
    )


def place(transcript: Transcript, result: Observation) -> Transcript:
    """`transcript` with `result` among the results of the last assistant message, in the order of its calls."""
    start = len(transcript)
    while not isinstance(transcript[start - 1], Assistant):
        start -= 1
    rank = {call.id: n for n, call in enumerate(transcript[start - 1].calls)}  # type: ignore[union-attr]
    at = len(transcript)
    while at > start and rank[transcript[at - 1].call_id] > rank[result.call_id]:  # type: ignore[union-attr]
        at -= 1
    return (*transcript[:at], result, *transcript[at:])


def _undone(turn: Turn, turns: int) -> Turn:
    """Take back the last turns; those before a compression are past taking back."""
    kept = max(len(turn.starts) - turns, 0)
    cut = turn.starts[kept] if kept < len(turn.starts) else len(turn.transcript)
    rest = Turn(turn.limits, turn.session_id, turn.system, turn.transcript[:cut], turn.starts[:kept])
    return replace(rest, earlier=turn.earlier + turn.usage, fill=replace(turn.fill.of(rest.transcript), compressing=0))


def _waited(tries: Tries, fault: Fault) -> Tries:
    if fault is Fault.PROACTIVE_RATE_LIMIT:
        return replace(tries, throttles=tries.throttles + 1)
    return replace(tries, waits=tries.waits + 1)


def _prompt_in(transcript: Transcript, prompt: Transcript) -> tuple[int, ...]:
    """Where the turn begins in a transcript made shorter: at its prompt, kept word for word. The note on what was left
    out is a `User` message too, and may stand after it."""
    return tuple(n for n, message in enumerate(transcript) if (message,) == prompt)[-1:] or _last_user(transcript)


def _last_user(transcript: Transcript) -> tuple[int, ...]:
    return tuple(n for n, m in enumerate(transcript) if isinstance(m, User) and not m.summary)[-1:]


def grown(room: int, used: int, most: int) -> int:
    """The output limit for a reply that was cut: twice what it was or would have been, never less than before."""
    return max(room, min(2 * max(room, used, 2048), most))
