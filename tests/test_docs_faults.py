"""What the page about faults says is so: how turns end, what is read meanwhile, and the example of a report."""

from __future__ import annotations

import re

import pytest

from hermes_kernel import Agent, HermesError, Outcome
from hermes_kernel.cli.ask import GOOD
from hermes_kernel.core.budget import Limits
from hermes_kernel.core.classify import LONG_LIMIT_SECONDS, classify
from hermes_kernel.core.faults import OF_A_CONNECTION, Fault
from hermes_kernel.core.passing import Silence
from hermes_kernel.core.policy import STUBBORN
from hermes_kernel.core.trouble import read_trouble
from hermes_kernel.core.turn import Turn
from hermes_kernel.testing import FastClock, Server, disconnect, say, status
from hermes_kernel.view.turn.words import Status, silent
from magics.verdict import judged
from tests.examples import DOCS, blocks, run
from tests.pages import HAPPENED, PLAYED

PAGE = (DOCS / "faults.md").read_text(encoding="utf-8")
ROWS = {
    cells[0].strip(" `"): cells
    for cells in (line.strip("|").split("|") for line in PAGE.splitlines())
    if len(cells) == 5
}


class Ended:
    """A turn as far as a cell looks at it."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome, self.reason, self.stopped = outcome, "", "person"


@pytest.mark.parametrize("outcome", Outcome)
def test_a_turn_ends_in_a_cell_and_in_a_shell_as_its_row_says(outcome):
    _, _, in_a_cell, in_a_shell, _ = (cell.strip() for cell in ROWS[outcome])
    ended: Turn = Ended(outcome)  # type: ignore[assignment]
    try:
        judged(ended)
        came = "the answer"
    except HermesError:
        came = "an error of one line"
    except KeyboardInterrupt:
        came = "one line; *Run All* stops"
    assert in_a_cell == came
    assert in_a_shell == ("0" if outcome in GOOD else "1")


def test_what_is_said_of_a_silence_is_what_is_read():
    for kind, seconds, limit in (("queued", 12, 600), ("first_byte", 30, 180), ("stream", 41, 90)):
        assert f"`{silent(Silence(seconds, limit, kind), Status('thinking')).words}`" in PAGE


def test_numbers_on_the_page_are_those_of_the_rules():
    limits = Limits()
    assert (limits.max_retries, limits.retry_base_seconds, limits.retry_max_seconds) == (3, 5, 120)
    assert (limits.patience_seconds, limits.compressions, limits.repairs, limits.empties) == (600, 3, 2, 2)
    assert (STUBBORN, limits.throttles, LONG_LIMIT_SECONDS) == (7, 20, 600)
    assert {fault.value for fault in OF_A_CONNECTION} == set(
        re.findall(r"`(\w+)`", PAGE.partition("one connection\n")[2].partition(")")[0])
    )


def test_what_a_server_says_counts_for_more_than_its_number():
    assert classify(read_trouble('{"error": {"code": "insufficient_quota"}}', 429)) is Fault.BILLING
    assert (
        classify(read_trouble('{"error": {"message": "maximum context length is 8"}}', 400)) is Fault.CONTEXT_OVERFLOW
    )
    assert classify(read_trouble("", 429)) is Fault.RATE_LIMIT
    assert classify(read_trouble("", 400)) is Fault.FORMAT_ERROR


def test_each_fault_is_told_and_what_a_server_can_say_is_played():
    assert all(f"| `{fault}` |" in PAGE for fault in HAPPENED)
    assert len(PLAYED) > 13


async def test_a_retry_costs_no_budget_and_what_was_said_before_a_stream_broke_is_in_the_usage(tmp_path):
    broken = disconnect("It costs three euros.", after=2)
    with Server([broken, status(500), broken, say("Three euros.")]) as server:
        given = {"base_url": server.url, "api_key": "none", "home": tmp_path, "clock": FastClock(), "max_iterations": 2}
        async with Agent("any", **given) as agent:
            turn = await agent.ask("What does A1 cost?")
    assert len(server.requests) == 4
    assert turn.budget.spent == 1
    assert turn.usage.calls == 3


async def test_the_example_of_a_report_gives_what_it_says(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    [_, report] = blocks("faults.md", "python")
    assert await run(report, {}) == report.count("# →")
