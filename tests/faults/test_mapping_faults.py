"""A map over a server that misbehaves in every way it knows, and over a disk that gets full in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hermes_kernel import HermesError
from hermes_kernel.testing import FastClock, Request, Server, Step, say
from hermes_kernel.world.store import Store
from tests.contracts.mapped import TEMPLATE, Rows, agent_of, row_of, rows
from tests.disks import small_disk
from tests.kill.maps import FAULTS, answer

HOPELESS = frozenset({"filtered", "out of quota", "status 401", "status 402", "status 403", "status 404", "status 400"})
"""Faults that no second try cures."""


async def test_every_fault_costs_its_own_row_at_most(tmp_path: Path) -> None:
    kinds = list(FAULTS)
    met: set[int] = set()

    def script(request: Request) -> Step:
        row = int(row_of(request))
        if row % 2 and row not in met:
            met.add(row)
            return FAULTS[kinds[row // 2]](row)
        return say(answer(row))

    clock = FastClock()
    with Server(script, now=clock.now) as server:
        quick = {"stale_seconds": 1.0, "first_byte_seconds": 5.0, "queued_seconds": 2.0}
        async with agent_of(server, tmp_path, clock=clock, **quick) as agent:
            result = await agent.map(TEMPLATE, rows(2 * len(kinds)))
    assert len(met) == len(kinds)
    for n, row in enumerate(result):
        kind = kinds[n // 2] if n % 2 else ""
        assert row.outcome == "completed" or (kind and row.outcome in ("failed", "refused")), (kind, row)
        assert row.outcome != "completed" or answer(n) in row.text
        assert row.outcome == "completed" or row.reason
        assert kind not in HOPELESS or row.outcome != "completed", kind
        assert "\n" not in row.reason


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with eight megabytes."""
    with small_disk(tmp_path, "8m") as place:
        yield place


async def test_a_disk_that_is_full_stops_the_map_and_no_row_is_paid_twice_after_it(disk: Path) -> None:
    script = Rows()
    ballast = disk / "ballast"

    def filling(request: Request) -> Step:
        if sum(script.asked.values()) == 10:
            with suppress(OSError), ballast.open("wb", buffering=0) as file:
                while file.write(bytes(4096)):  # others write meanwhile: how much there is left cannot be asked
                    pass
        return script(request)

    with Server(filling) as server:
        async with agent_of(server, disk / "home") as agent:
            with pytest.raises(HermesError, match=r"is full: free some space and run this again"):
                await agent.map(TEMPLATE, rows(200), workers=4)
            assert not agent.busy
            assert len(server.requests) < 100
            ballast.unlink()
            result = await agent.map(TEMPLATE, rows(200), workers=4)
            assert set(result.counts) <= {"completed", "unknown", "interrupted"}
            assert result.counts["completed"] >= 192
            again = await agent.map(TEMPLATE, rows(200), again=("unknown", "interrupted"))
            assert again.counts == {"completed": 200}
    lost = {str(n) for n, row in enumerate(result) if row.outcome != "completed"}
    assert all(times == 1 or row in lost for row, times in script.asked.items())
    assert len(list(Store(disk / "home").sessions(1000))) >= 1
