"""What every `Deliverer` keeps, whether it sends or only notes that it would."""

from __future__ import annotations

from pathlib import Path

from hermes_kernel.scheduling.ports import Deliverer, Report

DAY = 1_764_576_000.0  # Mon 1 Dec 2025 08:00 UTC


def report(text: str = "All is **well**.", outcome: str = "ran", why: str = "", name: str = "News") -> Report:
    where = Path("/runs/news/2025-12-01.ipynb")
    return Report(name, "0123abcd-20251201T080000Z", DAY, outcome, why, text, where, zone="Europe/Zurich")


async def keeps_the_contract(deliverer: Deliverer, reached: str, failing: str) -> None:
    """`reached` is a target that takes what it is sent, `failing` one that does not."""
    assert await deliverer.deliver(report(), reached) == ""
    assert await deliverer.deliver(report(outcome="failed", why="the disk is full"), reached) == ""
    for silent in ("none", "notebook"):
        assert await deliverer.deliver(report(), silent) == ""
    said = await deliverer.deliver(report(), failing)
    assert said
    assert "\n" not in said
