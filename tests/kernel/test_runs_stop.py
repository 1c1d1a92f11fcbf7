"""A run stopped in every phase of its life: it ends within a second, and what there is is in its notebook."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from hermes_kernel.testing import Server, call, forever, late, say, stall, status
from hermes_kernel.world.stop import Stop
from tests.contracts.runs import job, read, real, template, work
from tests.kernel.processes import carrying
from tests.soon import SOON

pytestmark = pytest.mark.slow

PATIENT = 3.0  # seconds for what ends by itself, on a machine that has much else to do
TIMES = int(os.environ.get("HERMES_TEST_TIMES", "1"))  # 10 for figures

PHASES = {
    "before the first byte": late(say("Never."), 30),
    "mid stream": say(["word "] * 400, gap=0.05),
    "in a silent stream": stall(["Some words.", " More."], after=1, seconds=30),
    "in a backoff": status(503),
    "in a long command": call("terminal", {"command": "sleep 60"}),
    "in code that blocks": call("python", {"code": "import time\ntime.sleep(60)"}),
}


async def stopped(going, stop, run):
    """What comes of pressing Stop now; how long it took."""
    pressed = time.perf_counter()
    stop.press()
    ran = await going
    took = time.perf_counter() - pressed
    assert (ran.outcome, ran.why) == ("stopped", "stopped by person")
    assert carrying(f"HERMES_RUN={run}") == []
    return ran, took


@pytest.mark.parametrize("phase", PHASES)
async def test_a_turn_ends_as_interrupted(tmp_path, phase):
    times = []
    for n in range(TIMES):
        with Server([PHASES[phase], forever(say("Never."))]) as server:
            runner = real(tmp_path / "home", server, patience=PATIENT, HERMES_MAX_RETRIES="3")
            done, stop = work(tmp_path / "home", job("Go."), f"run-{os.getpid()}-{n}"), Stop()
            going = asyncio.ensure_future(runner.run(done, stop))
            assert await asyncio.to_thread(server.await_requests, 1)
            await asyncio.sleep(0.3)  # into the phase, not on its edge
            _, took = await stopped(going, stop, done.run)
            times.append(took)
        cell = read(done.notebook).cells[-2]
        assert [out.ename for out in cell.outputs if out.output_type == "error"] == ["KeyboardInterrupt"]
        assert "was stopped: stopped by person" in read(done.notebook).cells[-1].source
    print(f"{phase}: {sorted(round(each, 3) for each in times)}")
    assert max(times) < SOON


CELLS = {
    "a cell that blocks": ("print('begun', flush=True)\nimport time\ntime.sleep(60)", "KeyboardInterrupt"),
    "a cell that awaits": ("print('begun', flush=True)\nimport asyncio\nawait asyncio.sleep(60)", "CancelledError"),
    "a cell that takes no interrupt": (
        "print('begun', flush=True)\nimport time, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(60)", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kernel", ["python3", "hermes"])
@pytest.mark.parametrize("which", CELLS)
async def test_a_cell_of_a_notebook_ends_or_its_kernel_does(tmp_path, kernel, which):
    code, ends = CELLS[which]
    patient = {"patience": PATIENT} if ends else {}
    path = template(
        tmp_path / "t.ipynb", f"%%py\n{code}" if kernel == "hermes" else code, "print('after')", kernel=kernel
    )
    done, stop = work(tmp_path / "home", job(notebook=str(path)), f"run-{os.getpid()}"), Stop()
    going = asyncio.ensure_future(real(tmp_path / "home", **patient).run(done, stop))
    await shown(done.notebook, "begun", going)
    await asyncio.sleep(0.2)
    _, took = await stopped(going, stop, done.run)
    print(f"{which}, {kernel}: {took:.3f}")
    assert took < SOON
    outputs = [out for cell in read(done.notebook).cells for out in cell.get("outputs", ())]
    said = [out.ename for out in outputs if out.output_type == "error"]
    assert said == [ends] * bool(ends)
    assert all(not cell.get("outputs") for cell in read(done.notebook).cells if "after" in cell.source)


@pytest.mark.parametrize("moment", [0.1, 0.5])
async def test_a_kernel_that_is_starting_is_let_go_of(tmp_path, moment):
    done, stop = work(tmp_path / "home", job("Go."), f"run-{os.getpid()}"), Stop()
    going = asyncio.ensure_future(real(tmp_path / "home").run(done, stop))
    await asyncio.sleep(moment)
    _, took = await stopped(going, stop, done.run)
    assert took < SOON


async def shown(path, words, going):
    """Wait until the notebook of the run has it."""
    while not (path.exists() and f'"{words}' in path.read_text()):
        assert not going.done(), going.result()
        await asyncio.sleep(0.02)
