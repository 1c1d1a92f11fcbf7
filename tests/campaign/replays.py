"""A conversation that is recorded whatever goes wrong in it, and played again from the recording: it is the same, and no
server is asked."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from hermes_kernel import Agent, HermesError
from hermes_kernel.core.turn import decide
from hermes_kernel.testing import Server
from tests.campaign import laws
from tests.campaign.saying import KEY, prompt
from tests.campaign.tools import Bench

Told = list[tuple[Any, ...]]


async def replayed(root: Path, server: Server, dice: random.Random) -> int:
    """Record some turns, and play them again; how many."""
    prompts = [prompt(dice) for _ in range(dice.randint(2, 5))]
    chosen: dict[str, Any] = {
        "spec": True, "learning": False, "approvals": "deny", "retry_base_seconds": 0, "stale_seconds": 5,
        "max_iterations": dice.choice([2, 5, 8]), "max_retries": dice.choice([0, 2]),
        "fallback_models": dice.choice([(), ("b",)]), "tool_result_chars": dice.choice([200, 50_000]),
    }  # fmt: skip
    tape = root / "home" / "tape.jsonl"
    told = await _told(root, server, prompts, {**chosen, "home": root / "home", "record": str(tape)})
    asked = len(server.requests)
    again = {**chosen, "home": root / "again", "replay": str(tape), "replay_tools": True}
    # Paths are shorter in a replay. Sizes are measured coarsely for that; where they stood on the edge of a step, the
    # summary of a compression is another question, as docs/recording.md says. That can be found here, very seldom.
    for one, two in zip(told, await _told(root, server, prompts, again), strict=True):
        assert one == two, f"a replay is another conversation: {two!r:.1400} instead of {one!r:.1400}"
    assert len(server.requests) == asked, "a replay asked a server"
    laws.secret_free(tape.read_text(), "the recording")
    return len(prompts)


async def _told(root: Path, server: Server, prompts: list[str], settings: dict[str, Any]) -> Told:
    """What becomes of each prompt."""
    told: Told = []
    bench = Bench(root / "marks")
    settings["home"].mkdir(mode=0o700, exist_ok=True)
    async with Agent("scripted", bench.tools(), base_url=server.url, api_key=KEY, **settings) as agent:
        for each in prompts:
            try:
                turn = await agent.ask(each)
            except HermesError as error:
                told.append((str(error),))
                continue
            assert decide(turn) is None
            laws.messages(turn)
            told.append((turn.outcome, _anywhere(turn.text), turn.reason, [call.name for call in turn.tool_calls]))
    bench.release()
    return told


def _anywhere(text: str) -> str:
    """What a recording says of folders that are elsewhere in a replay."""
    return text.replace("$HERMES_HOME/results", "<results>").replace(f"{tempfile.gettempdir()}/", "<tmp>/")
