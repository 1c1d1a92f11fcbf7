"""The estimate of tokens, and the window, against a real tokenizer behind a real llama-server."""

from __future__ import annotations

import asyncio

import pytest

from hermes_kernel.world.local import LocalModel, available
from hermes_kernel.world.model import Route
from hermes_kernel.world.model.windows import Reach
from tests.bench.sayings import SCRIPTS
from tests.bench.tokens import AFTER, counting, errors, rows

pytestmark = [
    pytest.mark.local,
    pytest.mark.skipif(not available("smol"), reason="the smallest local model is not installed"),
]


async def test_after_three_calls_the_estimate_is_within_a_tenth_of_the_usage_in_every_script(tmp_path):
    async with counting("smol", tmp_path) as usage:
        found = {script: worst async for script, _, worst, _ in rows(usage)}
        for seed in range(2, 6):
            worst = [abs(error) for script in SCRIPTS for error in (await errors(usage, [script], seed))[AFTER:]]
            assert max(worst) <= 0.1
    assert len(found) == 6
    assert all(worst <= 0.1 for worst in found.values()), found


async def test_a_real_llama_server_says_what_it_has_loaded(tmp_path):
    local = LocalModel(tmp_path, model="smol")
    url, key = await asyncio.to_thread(local.start)
    reach = Reach(Route("whatever", url, key))
    reach.look()
    await asyncio.to_thread(reach.wait)
    local.stop()
    assert reach.window is not None
    assert (reach.tokens, reach.window.source) == (8192, "models")
