"""What many rows take: memory and processor time of a map over a model that answers at once.

``python -m tests.bench.maps 20000`` prints the figures at a tenth of the rows and at all of them.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time

import psutil

from hermes_kernel import Agent
from hermes_kernel.core.commands import CallModel
from hermes_kernel.core.messages import User
from hermes_kernel.testing import ScriptedModel, Step, say


class Forgetful(ScriptedModel):
    """Keeps no list of what it was asked, which would be all the memory there is to measure."""

    @property
    def calls(self) -> list[CallModel]:
        return []

    @calls.setter
    def calls(self, value: list[CallModel]) -> None:
        pass

    @property
    def offered(self) -> list[tuple[str, ...]]:
        return []

    @offered.setter
    def offered(self, value: list[tuple[str, ...]]) -> None:
        pass


def answer(call: CallModel) -> Step:
    """A short answer to each row."""
    last = call.transcript[-1]
    assert isinstance(last, User)
    return say(f"Seen: {last.text[:20]}")


async def measured(home: str, rows: int) -> str:
    """One map, in figures."""
    async with Agent(Forgetful(answer), home=home) as agent:
        before = psutil.Process().memory_info().rss
        began, cpu = time.monotonic(), time.process_time()
        result = await agent.map("Row $n: $text", ({"n": n, "text": "word " * 100} for n in range(rows)))
        assert result.counts == {"completed": rows}
        seconds, cpu = time.monotonic() - began, time.process_time() - cpu
        grown = (psutil.Process().memory_info().rss - before) / 2**20
        began = time.monotonic()
        assert len(await agent.map("Row $n: $text", ({"n": n, "text": "word " * 100} for n in range(rows)))) == rows
        again = time.monotonic() - began
    return (
        f"{rows:,} rows: {seconds:.1f} s, {1000 * cpu / rows:.2f} ms of processor a row, {grown:.0f} MB more; "
        f"taken from the store in {again:.1f} s"
    )


def main() -> None:
    """Few rows, then many, in one process: what grows is what rows take."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    for rows in (most // 10, most):
        with tempfile.TemporaryDirectory() as home:
            print(asyncio.run(measured(home, rows)), flush=True)


if __name__ == "__main__":
    main()
