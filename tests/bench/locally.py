"""``python -m tests.bench.locally [MODEL] [WINDOW] [TURNS]``: a real small model, a small window, and what becomes of it."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from hermes_kernel import Agent
from hermes_kernel.core.compression import is_summary, sound
from hermes_kernel.core.events import Compressed, Compressing, Event, Failed, Noticed, Spent, WindowFound
from tests.bench.sayings import english


def shown(event: Event) -> str:
    """A line for what has to do with the window; nothing for the rest."""
    match event:
        case Compressed(before=before, after=after, how=how, note=note):
            return f"compressed ({how}): {before:,} -> {after:,} {note}"
        case Compressing(tokens):
            return f"a summary is begun at {tokens:,}"
        case WindowFound(tokens, source):
            return f"window {tokens:,} ({source})"
        case Spent(_, what) | Failed(message=what) | Noticed(what):
            return what
        case _:
            return ""


async def converse(home: Path, model: str, window: int, turns: int) -> None:
    """Ask for one sentence about paragraph after paragraph."""
    random = Random(3)
    settings = {"base_url": "local:", "home": home, "context_window": window, "max_tokens": 60}
    async with Agent(model, **settings) as agent:  # type: ignore[arg-type]
        for n in range(turns):
            begun = time.monotonic()
            prompt = f"Say in one sentence what this is about:\n{english(random)}"
            async for event in agent.stream(prompt, tools=()):
                if line := shown(event):
                    print(f"  {line}", flush=True)
            turn = agent.turn
            said = " ".join(turn.text.split())[:60]
            print(f"{n + 1:3} {turn.outcome} {turn.fill.tokens:,} {time.monotonic() - begun:.1f} s: {said}", flush=True)
            assert sound(turn.transcript) == ""
        print("\n".join(m.text for m in agent.turn.transcript if is_summary(m)))
        print(f"{agent.usage.calls} calls, {agent.usage.input_tokens:,} tokens in, session {agent.session_id}")


def main() -> None:
    """Print what happens."""
    model, window, turns = (sys.argv[1:] + ["smol", "3000", "14"][len(sys.argv) - 1 :])[:3]
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(converse(Path(home), model, int(window), int(turns)))


if __name__ == "__main__":
    main()
