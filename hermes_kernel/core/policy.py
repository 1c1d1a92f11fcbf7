"""What next: `decide` is the whole policy of a turn, readable as its diagram. It changes nothing."""

from __future__ import annotations

from dataclasses import replace

from hermes_kernel.core import prompts
from hermes_kernel.core.commands import CallModel, Command, Compress, RunTools, Tell, Wait
from hermes_kernel.core.events import Accepted, Failed, FellBack, Final, Observed, Outcome, Refunded, Repaired, Replied
from hermes_kernel.core.faults import Action, Fault, backoff, recover
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import Assistant, Observation, User
from hermes_kernel.core.state import Turn, going_on, said

STUBBORN = 7
"""Times the same single call may fail in a row: the tools refuse it from the third on and say so."""


def decide(turn: Turn) -> Command | None:
    """The next thing to do, or None: the turn is over, or has no prompt. The first line that applies is it."""
    if turn.final or not turn.asked:
        return None
    if turn.stopped:
        return _close(turn)
    if turn.fault:
        return _recover(turn, turn.fault)
    if lost := tuple(call for call in turn.open if call.id in turn.begun):
        return Tell(tuple(Observed(call.id, prompts.LOST, ok=False) for call in lost))
    if turn.open:
        return RunTools(turn.open)
    if turn.graced:
        return _exhausted(turn)
    if turn.reply is None:
        return _call(turn)
    return _follow(turn, turn.reply)


def _follow(turn: Turn, reply: Replied) -> Command:
    """What the model's last word means for the next step."""
    if reply.cut:
        return _call(turn) if _may_grow(turn, reply) else Tell((Accepted(),))
    if reply.calls:
        return _stuck(turn) or _refund(turn) or _call(turn)
    if reply.finish is Finish.CONTENT_FILTER:
        return _recover(turn, Failed(Fault.CONTENT_FILTER, prompts.FILTERED))
    if not said(turn).strip():
        return _empty(turn)
    if reply.finish is Finish.LENGTH:
        return _continue(turn)
    return _end(turn, Outcome.COMPLETED)


def _stuck(turn: Turn) -> Command | None:
    """The end, where one and the same call failed `STUBBORN` replies in a row and the model asked for nothing else."""
    asked: list[tuple[str, str]] = []
    failed = True
    for message in reversed(turn.transcript[turn.starts[-1] :][-2 * STUBBORN :]):
        match message:
            case Observation(ok=ok):
                failed = failed and not ok
            case Assistant(calls=(call,)):
                asked.append((call.name, call.arguments))
            case _:
                break
    alike = failed and len(asked) == STUBBORN and len(set(asked)) == 1
    return _end(turn, Outcome.FAILED, prompts.stuck(asked[0][0])) if alike else None


def _call(turn: Turn, suffix: User | None = None) -> CallModel | Compress:
    """Ask the model; with nothing left, for the last time and without tools. Its own words are never left last."""
    if smaller := _fit(turn):
        return smaller
    grace = turn.exhausted
    if going_on(turn):
        suffix = suffix or User(prompts.CONTINUE)
    return CallModel(
        turn.transcript,
        turn.system,
        turn.route,
        tools=not grace,
        suffix=User(prompts.grace(turn.budget.limit)) if grace else suffix,
        shown=turn.shown,
        max_tokens=turn.room,
        caution=turn.tries.repairs,
        window=turn.fill.window,
    )


def _fit(turn: Turn) -> Compress | None:
    """Before the window is full: begin a summary of the older part in good time, and wait for one only at the last; so
    soon after one that left too much, no model is asked for another."""
    if turn.fill.crowded(turn.limits, turn.room) and turn.tries.compressions < turn.limits.compressions:
        wanted, rests = _compress(turn), turn.fill.rested > 0 and not turn.fill.rest_is_over
        return replace(wanted, attempt=max(wanted.attempt, 2)) if rests else wanted
    if turn.limits.compressions and turn.fill.filling(turn.limits):
        return replace(_compress(turn), ahead=True)
    return None


def _compress(turn: Turn) -> Compress:
    fill = turn.fill
    return Compress(turn.transcript, turn.tries.compressions + 1, fill.tokens, fill.window, gauge=fill.gauge)


def _continue(turn: Turn) -> Command:
    """The answer was cut at the output limit: go on with it, a few times."""
    if turn.exhausted:
        return _end(turn, Outcome.BUDGET_EXHAUSTED, prompts.CUT_SHORT)
    if turn.tries.continuations > turn.limits.max_continuations:
        return _end(turn, Outcome.COMPLETED, prompts.CUT_SHORT)
    return _call(turn, User(prompts.CONTINUE))


def _empty(turn: Turn) -> Command:
    """No words and no calls: ask again, then ask another model, then say so."""
    if turn.exhausted or turn.tries.empties <= turn.limits.empties:
        return _call(turn, User(prompts.EMPTY))
    if turn.route + 1 < turn.limits.routes:
        return Tell((FellBack(turn.route + 1, Fault.INVALID_RESPONSE),))
    return _end(turn, Outcome.EMPTY, prompts.said_nothing(turn.tries.empties))


def _may_grow(turn: Turn, reply: Replied) -> bool:
    """More room is worth a call while it grows. A cut that no ``length`` admits may be mere bad JSON: one try."""
    most = turn.limits.growths if reply.finish is Finish.LENGTH else 1
    asked = max(reply.usage.output_tokens, turn.limits.max_tokens)
    return turn.exhausted or (turn.tries.growths <= most and turn.room > asked)


def _refund(turn: Turn) -> Command | None:
    only_python = turn.reply is not None and all(call.name == "python" for call in turn.reply.calls)
    return Tell((Refunded(),)) if only_python and turn.refunds < turn.limits.refunds else None


def _recover(turn: Turn, failed: Failed) -> Command:
    """Climb the fault's ladder by one rung."""
    match recover(failed.fault, _left(turn, failed)):
        case Action.WAIT:
            return _wait(turn, failed)
        case Action.REPAIR:
            return Tell((Repaired(turn.tries.repairs + 1),))
        case Action.COMPRESS:
            return _compress(turn)
        case Action.FALL_BACK:
            return Tell((FellBack(turn.route + 1, failed.fault),))
        case Action.REFUSE:
            return _end(turn, Outcome.REFUSED, prompts.advised(failed))
        case Action.GIVE_UP:
            return _exhausted(turn) if turn.exhausted else _end(turn, Outcome.FAILED, prompts.advised(failed))


def _left(turn: Turn, failed: Failed) -> dict[Action, int]:
    limits, tries = turn.limits, turn.tries
    throttled = failed.fault is Fault.PROACTIVE_RATE_LIMIT
    waits = limits.throttles - tries.throttles if throttled else limits.max_retries - tries.waits
    return {
        Action.WAIT: 0 if (failed.wait or 0) > limits.patience_seconds else waits,
        Action.REPAIR: limits.repairs - tries.repairs,
        Action.COMPRESS: limits.compressions - tries.compressions,
        Action.FALL_BACK: limits.routes - turn.route - 1,
    }


def _wait(turn: Turn, failed: Failed) -> Wait:
    limits, attempt = turn.limits, turn.tries.waits
    seconds = backoff(failed.fault, attempt, limits.retry_base_seconds, limits.retry_max_seconds)
    if failed.wait is not None:
        return Wait(failed.wait, attempt + 1, limits.max_retries, failed.fault, exact=True)
    return Wait(seconds, attempt + 1, limits.max_retries, failed.fault)


def _close(turn: Turn) -> Tell:
    """Stopped: every call without a result gets one that says so, then the end."""
    lost = (Observed(c.id, prompts.STOPPED if c.id in turn.begun else prompts.NOT_RUN, ok=False) for c in turn.open)
    if turn.stopped == "time":
        return Tell((*lost, *_exhausted(turn).events))
    return Tell((*lost, *_end(turn, Outcome.INTERRUPTED).events))


def _exhausted(turn: Turn) -> Tell:
    """The budget is gone: the model's closing words, or failing those the facts."""
    return Tell(
        (Final(Outcome.BUDGET_EXHAUSTED, said(turn) or prompts.digest(turn.messages, turn.calls, turn.stopped)),)
    )


def _end(turn: Turn, outcome: Outcome, reason: str = "") -> Tell:
    return Tell((Final(outcome, said(turn), reason),))
