"""A prompt asks only for what its runs have: they begin in a kernel of their own, with none of a notebook's variables."""

from __future__ import annotations

import pytest

from hermes_kernel.errors import HermesError
from tests.contracts.planned import House


@pytest.fixture
def house(tmp_path):
    return House(tmp_path)


@pytest.mark.parametrize("prompt", ["What is new in $sales?", "```\n$a\n```\nand $sales.total", "$week and $sales[0]"])
def test_who_asks_for_a_variable_that_no_run_has_is_told_so_before_it_fails_at_night(house, prompt):
    with pytest.raises(HermesError, match=r"No run has the variable \$sales: .* -p sales=VALUE .* \$\$ is a literal"):
        house.jobs.add("every monday 9am", prompt, parameters={"week": 48})
    assert house.jobs.list() == ()


def test_a_change_asks_for_no_more_than_there_is_either(house):
    job = house.jobs.add("every monday 9am", "Look at week $week.", parameters={"week": 48})
    for change in ({"prompt": "Look at $year."}, {"parameters": {}}):
        with pytest.raises(HermesError, match="No run has the variable"):
            house.jobs.change(job.name, **change)
    assert house.jobs.find(job.name) == job


@pytest.mark.parametrize("prompt", ["It cost $500.", "In $$USD.", "```\necho $HOME\n```", "Look at $week.", "A $ sign"])
def test_a_dollar_is_no_variable_where_none_is_meant(house, prompt):
    assert house.jobs.add("every monday 9am", prompt, parameters={"week": 48}).prompt == prompt
