"""``python -m tests.bench.long [MESSAGES] [WINDOW]``: one long conversation in five scripts through a small window.

The model is scripted: it counts tokens in a way of its own, refuses what is longer than its window, calls a tool now
and then, and as a summariser keeps only the newest few facts. Twenty facts are told on the way.
"""

from __future__ import annotations

import asyncio
import math
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random

from hermes_kernel import Agent, tool
from hermes_kernel.core.compression import SYSTEM, is_summary, sound
from hermes_kernel.core.events import Compressed, Compressing, Event, Failed, Spent
from hermes_kernel.core.faults import Fault
from hermes_kernel.core.search.found import Found
from hermes_kernel.testing import Request, Server, Step, Tokens, billed, call, late, say, status
from tests.bench.rows import OURS, Row
from tests.bench.sayings import SCRIPTS

FACTS = 20
KEPT = 5
"""Facts that the scripted summariser has room for."""

THINKING = 0.05
"""Seconds that a summary takes."""

_PIECE = re.compile(r"[^\W\d_]+|\d{1,3}|\n+|[^\w\s]+|_+")
_FACT = re.compile(r"vault (K\d\d) opens with ([a-z]+-\d+)")


@lru_cache(maxsize=20_000)
def counted(text: str) -> int:
    """Tokens of `text` to the scripted model: words in pieces, each letter beyond ASCII dearer."""
    return sum(_cost(piece) for piece in _PIECE.findall(text))


def _cost(piece: str) -> int:
    if piece.isascii():
        return math.ceil(len(piece) / (5 if piece.isalpha() else 3))
    return math.ceil(sum(1.0 if ord(c) > 0x2E7F else 0.5 for c in piece))


def asked(request: Request) -> int:
    """Tokens of a request: messages and tools."""
    told = sum(
        4 + counted(str(m.get("content") or "")) + counted(str(m.get("tool_calls") or "")) for m in request.messages
    )
    return told + counted(str(request.body.get("tools") or ""))


@dataclass
class Model:
    """What the server says. ``window`` is in tokens, ``states`` whether a refusal tells it."""

    window: int
    states: bool = True
    random: Random = field(default_factory=lambda: Random(4))
    summaries: list[int] = field(default_factory=list)
    refused: int = 0
    replies: int = 0

    def __call__(self, request: Request) -> Step:
        tokens = asked(request)
        if tokens > self.window:
            self.refused += 1
            return self._refusal(tokens)
        if request.messages[0]["content"] == SYSTEM:
            self.summaries.append(tokens)
            return late(self._summary(str(request.messages[1]["content"]), tokens), THINKING)
        self.replies += 1
        if request.messages[-1]["role"] == "user" and self.random.random() < 0.5:
            return billed(call("read", {"what": self.random.choice(list(SCRIPTS))}), tokens, 20)
        text = self._words()
        return say(text, usage=Tokens(tokens, counted(text)))

    def _words(self) -> str:
        return self.random.choice(list(SCRIPTS.values()))(self.random)[:400]

    def _summary(self, text: str, tokens: int) -> Step:
        found = dict(_FACT.findall(text))
        kept = list(found.items())[-KEPT:]
        lines = ["## Goal and constraints", "- the person asks about many things in many languages", "## Done so far"]
        lines += [f"- read {what}" for what in SCRIPTS] + ["## Facts to keep word for word"]
        lines += [f"- vault {name} opens with {word}" for name, word in kept] or ["- none so far, it seems"]
        said = "\n".join(lines)
        return say(said, usage=Tokens(tokens, counted(said)))

    def _refusal(self, tokens: int) -> Step:
        words = (
            f"This model's maximum context length is {self.window} tokens. However, your messages resulted in {tokens}"
        )
        told = words + " tokens." if self.states else "input length exceeds maximum context length"
        error = {"error": {"message": told, "code": "context_length_exceeded"}}
        return status(400, told, body=error, fault=Fault.CONTEXT_OVERFLOW)


@dataclass
class Figures:
    """What came of a conversation."""

    messages: int = 0
    turns: int = 0
    tokens: int = 0
    window: int = 0
    passes: list[Compressed] = field(default_factory=list)
    begun: int = 0
    spent: list[Spent] = field(default_factory=list)
    overflows: int = 0
    unhappy: list[str] = field(default_factory=list)
    unsound: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    summaries: int = 0
    lost: list[str] = field(default_factory=list)
    in_summary: int = 0
    seconds: float = 0.0

    @property
    def quarters(self) -> float:
        """How many times a quarter of the window was consumed."""
        return self.tokens / (self.window / 4)


@tool
def read(what: str) -> str:
    """Read something in one of the scripts."""
    return SCRIPTS[what](Random(len(what)))[:1500]


async def converse(home: Path, messages: int, window: int, *, known: bool = True, states: bool = True) -> Figures:
    """A conversation of so many messages with a model of that window, which is `known` from the beginning or found out
    by refusals."""
    model, random, figures = Model(window, states), Random(11), Figures(window=window)
    begun = time.monotonic()
    with Server(model) as server:
        settings = {"context_window": window if known else 0, "base_url": server.url, "api_key": "none", "home": home}
        async with Agent("scripted", [read], retry_base_seconds=0, **settings) as agent:
            facts = planted(messages)
            while figures.messages < messages:
                prompt = SCRIPTS[random.choice(list(SCRIPTS))](random)[:600]
                if facts and figures.messages >= next(iter(facts)):
                    name, word = facts.pop(next(iter(facts)))
                    prompt += f"\nRemember: vault {name} opens with {word}."
                await _turn(agent, prompt, figures)
            figures.lost, figures.in_summary = missing(agent, planted(messages))
        figures.summaries = len(model.summaries)
    figures.seconds = time.monotonic() - begun
    return figures


def planted(messages: int) -> dict[int, tuple[str, str]]:
    """Which fact is told at which message: all in the first nine tenths."""
    random = Random(7)
    words = ("heron", "cobalt", "walnut", "ember", "glacier")
    step = max(messages * 9 // 10 // FACTS, 1)
    return {n * step: (f"K{n:02}", f"{random.choice(words)}-{random.randrange(1000, 9999)}") for n in range(FACTS)}


async def _turn(agent: Agent, prompt: str, figures: Figures) -> None:
    async for event in agent.stream(prompt):
        _note(figures, event)
    turn = agent.turn
    figures.turns += 1
    figures.messages += len(turn.messages)
    figures.tokens += sum(_size(message) for message in turn.messages)
    if turn.outcome != "completed":
        figures.unhappy.append(f"turn {figures.turns}: {turn.outcome}: {turn.reason}")
    if flaw := sound(turn.transcript):
        figures.unsound.append(f"turn {figures.turns}: {flaw}")
    if agent.session_id not in figures.sessions:
        figures.sessions.append(agent.session_id)


def _note(figures: Figures, event: Event) -> None:
    match event:
        case Compressed():
            figures.passes.append(event)
            if flaw := sound(event.transcript):
                figures.unsound.append(f"pass {len(figures.passes)}: {flaw}")
        case Compressing():
            figures.begun += 1
        case Spent():
            figures.spent.append(event)
        case Failed(fault=Fault.CONTEXT_OVERFLOW):
            figures.overflows += 1
        case _:
            pass


def _size(message: object) -> int:
    calls = getattr(message, "calls", ())
    return 4 + counted(getattr(message, "text", "")) + sum(counted(each.name + each.arguments) for each in calls)


def missing(agent: Agent, facts: dict[int, tuple[str, str]]) -> tuple[list[str], int]:
    """The facts that neither the conversation as it is sent nor a search still has, and how many a summary has."""
    text = "\n".join(getattr(message, "text", "") for message in agent.turn.transcript)
    summary = "\n".join(m.text for m in agent.turn.transcript if is_summary(m))
    gone = [
        name for name, word in facts.values() if word not in text and not _found(agent.search(f"vault {name}"), word)
    ]
    return gone, sum(word in summary for _, word in facts.values())


def _found(found: Found, word: str) -> bool:
    return any(word in hit.passage.text for thread in found.threads for hit in thread.hits)


def report(figures: Figures) -> str:
    """The figures as a table."""
    hows = [each.how for each in figures.passes]
    rows = {
        "messages, turns": f"{figures.messages:,}, {figures.turns:,}",
        "tokens said, window": f"{figures.tokens:,}, {figures.window:,}",
        "quarters of the window consumed": f"{figures.quarters:.1f}",
        "summary calls": f"{figures.summaries} ({figures.summaries / figures.quarters:.2f} a quarter)",
        "passes": ", ".join(f"{hows.count(how)} {how}" for how in sorted(set(hows))),
        "begun beside a turn, not used": f"{figures.begun}, {len(figures.spent)}",
        "largest result, of the window": f"{max((p.after for p in figures.passes), default=0) / figures.window:.0%}",
        "overflow errors seen by the loop": str(figures.overflows),
        "turns that failed": str(len(figures.unhappy)),
        "unsound transcripts": str(len(figures.unsound)),
        "sessions in the lineage": str(len(figures.sessions)),
        "facts lost": f"{len(figures.lost)} of {FACTS} ({figures.in_summary} in the summary, the rest found)",
        "seconds": f"{figures.seconds:.0f}",
    }
    lines = [f"| {what} | {value} |" for what, value in rows.items()]
    return "\n".join(["| long conversation | |", "|---|---|", *lines, *figures.unhappy[:3], *figures.unsound[:3]])


def rows(rounds: int, contenders: Sequence[str]) -> Iterator[Row]:
    """One conversation, which is the same each time: ours alone, in 1,000 messages through a small window."""
    with tempfile.TemporaryDirectory() as home:
        figures = asyncio.run(converse(Path(home), 1_000, 16_384))

    def row(what: str, value: float, bar: float | None = None) -> Row:
        return Row("long conversations", what, "", {OURS: value}, bar)

    yield row(f"facts lost, of {FACTS} told on the way", len(figures.lost), 0)
    yield row("overflows that the loop saw", figures.overflows, 0)
    yield row("turns that failed", len(figures.unhappy), 0)
    yield row("summaries for each quarter of the window", figures.summaries / figures.quarters)


def main() -> None:
    """Print the figures."""
    messages, window = (list(map(int, sys.argv[1:])) + [3_000, 32_768][len(sys.argv) - 1 :])[:2]
    with tempfile.TemporaryDirectory() as home:
        print(report(asyncio.run(converse(Path(home), messages, window))))


if __name__ == "__main__":
    main()
