"""Worlds for the laws: a seed is a whole world, with models that fail, cut, repeat and stay silent, and tools that get lost."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hermes_kernel.core.budget import Limits
from hermes_kernel.core.commands import CallModel, Command, Compress, RunTools, Tell, Wait
from hermes_kernel.core.compression import Keep, reduced, size
from hermes_kernel.core.events import (
    Accepted,
    Asked,
    Compressed,
    Compressing,
    Event,
    Failed,
    Final,
    Interrupted,
    Kept,
    Observed,
    Opened,
    Replied,
    Retrying,
    Spent,
    Started,
    TextDelta,
    WindowFound,
)
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.finish import Finish
from hermes_kernel.core.messages import Assistant, Observation, ToolCall, Transcript, Usage, User
from hermes_kernel.core.turn import Turn, decide, evolve

FAULTS = tuple(Fault)


def opened(limits: Limits, prompt: str = "q") -> tuple[Turn, list[Kept]]:
    """A session with one prompt, and its log so far."""
    log: list[Kept] = [Opened("s", "You are Hermes."), Asked(prompt)]
    turn = Turn(limits)
    for event in log:
        turn = evolve(turn, event)
    return turn, log


class World:
    """Answers every command with facts that a real world could tell, by the dice of one seed."""

    def __init__(self, seed: int, trouble: float = 0.3, tools: float = 0.5) -> None:
        self.dice = random.Random(seed)
        self.seed, self.trouble, self.tools, self.serial = seed, trouble, tools, 0
        self.begun = False

    def perform(self, command: Command) -> Iterator[Event]:
        match command:
            case CallModel() if self.begun and self.dice.random() < 0.5:
                self.begun = False
                yield from self._ready(command.transcript)
            case CallModel():
                yield from self._model(command)
            case RunTools(calls):
                for call in self.dice.sample(calls, len(calls)):
                    yield Started(call.id, repeatable=self.dice.random() < 0.2)
                    yield Observed(call.id, self._word(), ok=self.dice.random() < 0.8)
            case Wait(seconds, attempt, of, fault):
                yield Retrying(attempt, of, seconds, fault)
            case Compress(_, _, tokens, ahead=True):
                self.begun = True
                yield Compressing(tokens)
            case Compress(transcript, attempt):
                smaller = reduced(transcript, attempt, Keep(tokens=500))
                yield Compressed(smaller, size(transcript), size(smaller))
            case Tell(events):
                yield from events

    def _ready(self, transcript: Transcript) -> Iterator[Event]:
        """What was begun is ready, or has come to nothing."""
        if self.dice.random() < 0.3:
            yield Spent(Usage(1, 100, 10), "a summary")
            return
        smaller = reduced(transcript, 2, Keep(tokens=500))
        yield Compressed(smaller, size(transcript), size(smaller), "summary", Usage(1, 100, 10))

    def _model(self, command: CallModel) -> Iterator[Event]:
        if self.dice.random() < 0.1:
            yield WindowFound(self.dice.choice([50, 500, 2000, 8000]), "overflow")
        if self.dice.random() < self.trouble:
            fault = self.dice.choice(FAULTS)
            wait = self.dice.choice([None, None, 1.0, 10_000.0])
            partial = self.dice.choice([command.shown, command.shown + "p"])
            told = {"asked": 900, "window": 800} if self.dice.random() < 0.3 else {}
            yield Failed(fault, "no", self.dice.choice([0, 400]), wait, partial, **told)  # type: ignore[arg-type]
            return
        text = self.dice.choice(["", "a", "b c"])
        calls = self._calls() if self.dice.random() < self.tools else ()
        finish = self.dice.choice([Finish.STOP, Finish.STOP, Finish.LENGTH, Finish.CONTENT_FILTER, Finish.OTHER])
        yield TextDelta(text)
        cut = (bool(calls) or not text) and self.dice.random() < 0.2
        yield Replied(text, calls, finish, cut, usage=Usage(1, self.dice.choice([10, 700]), self.dice.randrange(6000)))

    def _calls(self) -> tuple[ToolCall, ...]:
        names = [self.dice.choice(["python", "probe"]) for _ in range(self.dice.randrange(1, 4))]
        self.serial += len(names)
        return tuple(ToolCall(f"c{self.seed}-{self.serial - n}", name, "{}") for n, name in enumerate(names))

    def _word(self) -> str:
        return self.dice.choice(["ok", "x" * 3000])


class Played:
    """What a simulated turn did: the turn, its log, the commands that were decided, and ``made``, the model calls among
    them that were made: one may be put off, for a summary is ready."""

    def __init__(self, turn: Turn, log: list[Kept], world: World, stop: float = 0.0) -> None:
        self.turn, self.log, self.world, self.stop = turn, log, world, stop
        self.commands: list[Command] = []
        self.made: list[CallModel] = []

    def run(self, most: int = 3000) -> Played:
        """Play until nothing is decided.

        Raises:
            AssertionError: the turn does not end.
        """
        while command := decide(self.turn):
            self.commands.append(command)
            assert len(self.commands) < most, "the turn does not end"
            self._carry_out(command)
        return self

    def _carry_out(self, command: Command) -> None:
        for event in self.world.perform(command):
            stopped = not isinstance(command, Tell) and self.world.dice.random() < self.stop
            told = Interrupted(partial=self.world.dice.choice(["", "part"])) if stopped else event
            self.turn = evolve(self.turn, told)
            if isinstance(command, CallModel) and isinstance(told, Replied | Failed):
                self.made.append(command)
            if not isinstance(told, TextDelta):
                self.log.append(told)  # type: ignore[arg-type]
            if stopped:
                return


def check_whole(transcript: Transcript) -> None:
    """Every call has exactly one result, right after it and in order; nobody speaks while calls are open."""
    n, before = 0, None
    while n < len(transcript):
        message = transcript[n]
        n += 1
        spoke_last, before = before, message
        if isinstance(message, Assistant):
            assert not isinstance(spoke_last, Assistant) or spoke_last.calls, "two answers in a row"
            assert message.text or message.calls, "an assistant message that says nothing"
            results = transcript[n : n + len(message.calls)]
            assert [getattr(r, "call_id", None) for r in results] == [c.id for c in message.calls], "results amiss"
            n += len(message.calls)
        else:
            assert isinstance(message, User), "a result without its call"


def check_ended(played: Played) -> None:
    """The laws of a turn that is over."""
    turn, log = played.turn, played.log
    assert turn.outcome is not None
    assert isinstance(log[-1], Final)
    assert sum(isinstance(event, Final) for event in log) == 1
    check_whole(turn.transcript)
    assert not turn.open
    assert turn.budget.spent <= turn.limits.max_iterations
    assert turn.outcome != "completed" or turn.text
    if turn.text:
        last = turn.transcript[-1]
        assert isinstance(last, Assistant)
        assert last.text == turn.text, "the text returned is the text stored"


__all__ = ["FAULTS", "Accepted", "Observation", "Played", "World", "check_ended", "check_whole", "opened"]
