"""When a turn did what: its facts with the times at which they were written down, folded into spans. Pure.

A call, a tool and a wait know how long they took, and were written down when they ended: that says when they began.
What is not known is not drawn; what was still going on ends where the last fact is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from hermes_kernel.core.events import (
    Approved,
    Asked,
    Compressed,
    Compressing,
    Failed,
    FellBack,
    Final,
    Interrupted,
    Kept,
    Leased,
    Observed,
    Repaired,
    Replied,
    Retrying,
    Returned,
    Spent,
    Started,
    Undone,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.figures import counted
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.learning.prompting import sentence_of
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.core.text import brief, dotted
from hermes_kernel.view.charts.spans import NAME, NOTE, Mark, Play, Span
from hermes_kernel.view.turn.words import in_brief, plainly, said_by, shortened

BESIDE = "a summary beside the turn"
BY = {"person": "stopped by you", "time": "stopped by the time limit", "kernel": "cut off with its kernel"}


def plays(timed: Iterable[tuple[float, Kept]], before: int = 0) -> tuple[Play, ...]:
    """The turns of a session, from its facts and when each was written down; `before` is how many went before it."""
    found: list[Play] = []
    turn: _Turn | None = None
    for t, fact in timed:
        if turn is not None and isinstance(fact, Asked | Undone):
            found.append(turn.play())
            turn = None
        match fact:
            case Asked(text):
                turn = _Turn(sentence_of(text), t)
            case Undone(turns):
                found = _taken_back(found, turns)
            case _ if turn is not None:
                turn.take(t, fact)
                if isinstance(fact, Final):
                    found.append(turn.play(fact.outcome.words))
                    turn = None
    found += [turn.play()] if turn is not None else []
    numbers = iter(range(before + 1, before + 1 + len(found)))
    return tuple(replace(play, number=next(numbers) if play.number else 0) for play in found)


def _taken_back(found: list[Play], turns: int) -> list[Play]:
    """The same, the last of those that stood standing no more."""
    stood = [n for n, play in enumerate(found) if play.number][-turns:] if turns > 0 else []
    return [replace(play, number=0) if n in stood else play for n, play in enumerate(found)]


@dataclass(slots=True)
class _Turn:
    """A turn as far as its facts are known."""

    prompt: str
    began: float
    last: float = field(init=False)
    spans: list[Span] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    begun: dict[str, float] = field(default_factory=dict)
    agents: dict[str, tuple[float, Leased]] = field(default_factory=dict)
    count: int = 0
    free: float = 0.0  # when a person was asked nothing any more
    pause: tuple[float, Retrying] | None = None
    summary: float = 0.0  # when one was begun beside the turn
    remark: str = ""
    model: str = ""

    def __post_init__(self) -> None:
        self.last = self.began

    def take(self, t: float, fact: Kept) -> None:
        """One more fact."""
        self._note(t, fact)
        self.last = max(self.last, t)

    def play(self, outcome: str = "not finished") -> Play:
        """The turn is over, or nothing more is known of it: what goes on ends here."""
        self._rest(self.last)
        for call_id, t in self.begun.items():
            self._put(Span("tool", self._called(call_id), t, self.last - t), "not finished")
        for t, leased in self.agents.values():
            self._put(_agent(leased, t, self.last), "not finished")
        if self.summary:
            self._put(Span("compress", BESIDE, self.summary, self.last - self.summary), "went on")
        spans = tuple(sorted(self.spans, key=lambda span: (span.began, -span.seconds)))
        return Play(1, self.prompt, self.began, self.last, spans, outcome)

    def _note(self, t: float, fact: Kept) -> None:  # noqa: C901, PLR0915 - one arm for each kind of fact
        match fact:
            case Replied():
                self._replied(t, fact)
            case Failed():
                self._failed(t, fact)
            case Retrying():
                self._rest(t)
                self.pause = (t, fact)
            case Repaired():
                self.remark = "sent in plainer characters"
            case FellBack():
                self.remark = "another model is asked"
            case Approved(by="person"):
                self._approved(t, fact)
            case Started(call_id):
                self.begun[call_id] = t
            case Observed():
                self._observed(t, fact)
            case Compressing() | Compressed() | Spent():
                self._compressed(t, fact)
            case Leased(lease):
                self.agents[lease] = (t, fact)
            case Returned():
                self._returned(t, fact)
            case Interrupted(by):
                self._stopped(t, by)

    def _replied(self, t: float, fact: Replied) -> None:
        self.calls.update((call.id, call) for call in fact.calls)
        self.count += 1
        began = self._since(t, fact.seconds)
        tokens = f"{fact.usage.input_tokens:,} → {fact.usage.output_tokens:,} tokens"
        cut = "cut off by the output limit" if fact.cut or fact.finish is Finish.LENGTH else ""
        model, self.model = "" if fact.model == self.model else fact.model, fact.model
        notes = (model, _silent(fact.silences), tokens, cut, self._remarked())
        marks = _answering("text", began, t - began, fact.first_byte_seconds, fact.silences)
        self._put(Span("text", f"call {self.count}", began, t - began, marks=marks), *notes)

    def _failed(self, t: float, fact: Failed) -> None:
        began = self._since(t, fact.seconds)
        if fact.fault is Fault.PROACTIVE_RATE_LIMIT:  # nothing was sent: the wait after it says so
            return
        marks = _answering("failed", began, t - began, 0.0, fact.silences)
        notes = (fact.message, _silent(fact.silences), self._remarked())
        self._put(Span("failed", f"failed call: {plainly(fact.fault)}", began, t - began, marks=marks), *notes)

    def _approved(self, t: float, fact: Approved) -> None:
        """Questions are asked one by one, from when their calls were made."""
        asked = max(self.free, self._spoken())
        self._put(Span("person", f"waited for you: {self._called(fact.call_id)}", asked, t - asked), said_by(fact))
        self.free = t

    def _observed(self, t: float, fact: Observed) -> None:
        ran = fact.call_id in self.begun or bool(fact.seconds)
        began = self.begun.pop(fact.call_id, self._before(t, fact.seconds))
        took = min(t - began, fact.seconds) if fact.seconds > 0 else t - began
        self._put(
            Span("tool", self._called(fact.call_id), began, took), "" if fact.ok else "failed" if ran else "not run"
        )

    def _compressed(self, t: float, fact: Compressing | Compressed | Spent) -> None:
        if isinstance(fact, Compressing):
            self.summary = t
            return
        began = self.summary or max((span.ended for span in self.spans if span.ended <= t), default=self.began)
        if isinstance(fact, Compressed):
            self._put(Span("compress", "compression", began, t - began), *shortened(fact))
        elif self.summary:
            self._put(Span("compress", BESIDE, began, t - began), f"not used: {fact.what}")
        self.summary = 0.0

    def _returned(self, t: float, fact: Returned) -> None:
        began, leased = self.agents.pop(fact.lease, (t, Leased(fact.lease, 0)))
        ended = fact.outcome.words if fact.outcome else "was never asked"
        used = f"{fact.used} of {counted(leased.calls, 'call')}"
        self._put(_agent(leased, began, t), ended, used)

    def _stopped(self, t: float, by: str) -> None:
        waited = self._rest(t)
        if not (waited or self.begun or self.agents):
            since = max((span.ended for span in self.spans if span.ended <= t), default=self.began)
            self._put(Span("failed", f"call, {BY.get(by, 'stopped')}", since, t - since))

    # --- what is known besides

    def _put(self, span: Span, *notes: str) -> None:
        """One more span, its words no longer than there is room for."""
        note = brief(dotted(*notes), NOTE)
        began, took = max(span.began, self.began), max(span.seconds, 0.0)
        self.spans.append(replace(span, name=brief(span.name, NAME), began=began, seconds=took, note=note))

    def _since(self, t: float, seconds: float) -> float:
        """When something that took so long began; a wait before it ends there at the latest."""
        began = self._before(t, seconds)
        self._rest(began)
        return began

    def _before(self, t: float, seconds: float) -> float:
        """So many seconds before, as far as that was in this turn."""
        return t - seconds if seconds <= t - self.began else self.began

    def _rest(self, until: float) -> bool:
        """A wait that was begun ends when it was to end, or before where something else began."""
        if self.pause is None:
            return False
        t, wait = self.pause
        self.pause = None
        seconds = min(max(until - t, 0.0), wait.seconds)
        many = f"{wait.attempt} of {wait.of}" if wait.of else ""
        self._put(Span("pause", "wait before asking again", t, seconds), many, plainly(wait.fault))
        return True

    def _spoken(self) -> float:
        return max((span.ended for span in self.spans if span.what == "text"), default=self.began)

    def _called(self, call_id: str) -> str:
        call = self.calls.get(call_id)
        said = in_brief(call.arguments) if call else ""
        return f"{call.name}: {said}" if call and said else call.name if call else "tool"

    def _remarked(self) -> str:
        said, self.remark = self.remark, ""
        return said


def _agent(leased: Leased, began: float, ended: float) -> Span:
    return Span("agent", leased.task or "subagent", began, ended - began, lease=leased.lease)


def _silent(silences: tuple[tuple[float, float], ...]) -> str:
    if not silences:
        return ""
    often = "" if len(silences) == 1 else f" in {len(silences)} pieces"
    return f"silent {sum(seconds for _, seconds in silences):.1f} s{often}"


def _answering(
    what: str, began: float, seconds: float, first: float, silences: tuple[tuple[float, float], ...]
) -> tuple[Mark, ...]:
    """A call's time: until the first byte, then what came, with the silences between."""
    at = min(first, seconds) if first > 0 else 0.0
    marks = [Mark("wait", began, at)] if at else []
    for since, length in sorted(silences):
        start, stop = min(max(since, at), seconds), min(max(since + length, at), seconds)
        marks += [Mark(what, began + at, start - at)] if start > at else []
        marks += [Mark("silence", began + start, stop - start)] if stop > start else []
        at = max(at, stop)
    return (*marks, Mark(what, began + at, seconds - at)) if at < seconds or not marks else tuple(marks)
