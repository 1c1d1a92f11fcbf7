"""A Python of one's own can always be ended, says so when it has ended, and leaves nothing behind."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import psutil
import pytest

from hermes_kernel.core.events import Interrupted, Noticed, Observed, Started
from hermes_kernel.testing.clock import FastClock
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import ToolError
from tests.contracts.own_kernels import (
    FRESH,
    ROBBERIES,
    gone,
    own_kernel,
    pid_of,
    python_spec,
    robbed_spec,
    run_own,
    spec_of,
    tools_of,
)
from tests.contracts.toolbox import run_calls

ROOT = Path(__file__).parents[2]
DEAF = (
    "import signal, pathlib\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\npathlib.Path({!r}).touch()\nwhile True: pass"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


def held():
    """What this process has open, and its threads and children."""
    gc.collect()
    return list(Path("/dev/fd").iterdir()), threading.enumerate(), psutil.Process().children()


@pytest.fixture(scope="module", autouse=True)
def before(folder):
    """What the process holds before the first test: thirty kernels are started and ended in this file."""
    with own_kernel(folder) as first:
        asyncio.run(first.tool().run(code="1"))
        asyncio.run(first.close())
    return held()


@pytest.fixture(scope="module")
def kernel(folder):
    """One that many tests end, with a second for each call."""
    with own_kernel(folder, seconds=1.0) as made:
        yield made


@pytest.fixture
def specs(tmp_path, monkeypatch):
    """A folder for kernelspecs."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    return tmp_path


async def there(path, seconds=20.0):
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path.name} did not come"
        await asyncio.sleep(0.01)


# --- deadlines


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(60)",
        "while True: pass",
        "import asyncio; await asyncio.Event().wait()",
        "while True: print('y' * 1000)",
        "while True:\n    try: time.sleep(60)\n    except KeyboardInterrupt: print('once more'); break\ntime.sleep(60)",
    ],
)
async def test_at_its_deadline_code_is_interrupted_and_the_variables_stay(kernel, folder, code):
    await run_own(kernel, folder, "import time; kept = 5")
    result = await run_own(kernel, folder, code)
    assert not result.ok
    assert result.text.endswith("interrupted at its deadline of 1 s; the variables are still there.]")
    assert (await run_own(kernel, folder, "kept")).text == "5"


async def test_code_that_hears_no_interrupt_is_killed_and_the_next_call_is_told(kernel, folder, tmp_path):
    process = await pid_of(kernel, folder)
    result = await run_own(kernel, folder, DEAF.format(str(tmp_path / "deaf")))
    assert not result.ok
    assert result.text.endswith("its Python was killed, its variables are gone.]")
    assert gone(process)
    assert FRESH in (await run_own(kernel, folder, "1")).text


async def test_output_without_end_is_held_in_bounds(folder):
    with own_kernel(folder, seconds=2.0) as endless:
        await run_own(endless, folder, "1")
        before = psutil.Process().memory_info().rss
        result = await run_own(endless, folder, "while True: print('y' * 10_000)")
        assert not result.ok
        assert psutil.Process().memory_info().rss - before < 300_000_000


# --- stops


async def stopped_when(kernel, folder, code, sign):
    stop = Stop()
    calls = asyncio.ensure_future(run_calls(tools_of(kernel, folder), ("python", {"code": code}), stop=stop))
    await there(sign)
    stop.press()
    return await calls


@pytest.mark.parametrize(
    ("spec", "wait"),
    [
        ("python3", "import time; time.sleep(60)"),
        ("python3", "import asyncio; await asyncio.Event().wait()"),
        ("hermes", "import time; time.sleep(60)"),  # interrupted by a message
        ("hermes", "import asyncio; await asyncio.Event().wait()"),
    ],
)
async def test_a_stop_waits_for_nobody_and_the_code_is_interrupted(folder, tmp_path, spec, wait):
    with own_kernel(folder, spec) as own:
        assert "Done" in (await run_own(own, folder, "kept = 7")).text
        sign = tmp_path / "running"
        events = await stopped_when(own, folder, f"open({str(sign)!r}, 'w').close(); {wait}; kept = 8", sign)
        assert isinstance(events[-1], Interrupted)
        assert not [event for event in events if isinstance(event, (Observed, Noticed))]
        assert (await run_own(own, folder, "kept")).text == "7"


async def test_after_a_stop_code_that_hears_nothing_is_killed_behind_the_persons_back(kernel, folder, tmp_path):
    process = await pid_of(kernel, folder)
    events = await stopped_when(kernel, folder, DEAF.format(str(tmp_path / "deaf")), tmp_path / "deaf")
    assert isinstance(events[-1], Interrupted)
    assert await asyncio.to_thread(gone, process)
    assert FRESH in (await run_own(kernel, folder, "1")).text


async def test_a_stop_while_it_starts_ends_what_was_started(specs):
    sign = specs / "begun"
    code = (
        "import os, pathlib, time\n"
        f"path = pathlib.Path({str(sign)!r})\n"
        "path.with_suffix('.half').write_text(str(os.getpid()))\n"
        "path.with_suffix('.half').rename(path)\n"
        "time.sleep(60)"
    )
    python_spec(specs, "slow", code)
    with own_kernel(specs, "slow") as slow:
        events = await stopped_when(slow, specs, "1", sign)
        assert isinstance(events[-1], Interrupted)
        assert await asyncio.to_thread(gone, int(sign.read_text()))


# --- deaths


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import os; os._exit(3)", "exit code 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL"),
        ("import ctypes; ctypes.string_at(0)", "killed by SIGSEGV"),
        ("exit()", "the code ended its own Python process"),
    ],
)
async def test_a_death_is_told_and_the_next_call_has_a_new_one(kernel, folder, code, why):
    await run_own(kernel, folder, "mine = 1")
    result = await run_own(kernel, folder, code)
    assert not result.ok
    assert why in result.text
    assert "variables are gone" in result.text
    after = await run_own(kernel, folder, "'mine' in globals()")
    assert FRESH in after.text
    assert after.text.endswith("\nFalse")
    assert FRESH not in (await run_own(kernel, folder, "1")).text


async def test_one_that_was_killed_meanwhile_is_replaced_before_the_code_runs(kernel, folder):
    process = await pid_of(kernel, folder)
    os.kill(process, signal.SIGKILL)
    while psutil.pid_exists(process):  # of a killed process some threads live a moment longer than it seems to
        await asyncio.sleep(0.01)
    result = await run_own(kernel, folder, "6 * 7")
    assert (result.ok, result.text.splitlines()[-1]) == (True, "42")
    assert FRESH in result.text


# --- starts


async def test_a_kernel_that_is_not_installed_is_told_with_those_that_are(specs):
    spec_of(specs, "other", sys.executable)
    with own_kernel(specs, "no-such") as none:
        result = await run_own(none, specs, "1")
    assert not result.ok
    assert result.text.startswith("There is no kernel 'no-such'. Installed: ")
    assert "other" in result.text
    assert "python3" in result.text
    assert len(result.text.splitlines()) == 1


async def test_why_a_kernel_does_not_start_is_told_in_a_line(specs):
    python_spec(specs, "dying", "import sys; sys.exit('no licence for today')")
    python_spec(specs, "silent", "import sys, time; print('waiting', file=sys.stderr, flush=True); time.sleep(60)")
    spec_of(specs, "missing", str(specs / "nothing-here"))
    told = {}
    for name in ("dying", "silent", "missing"):
        with own_kernel(specs, name, start_seconds=1.5) as own:
            told[name] = await run_own(own, specs, "1")
    assert not any(result.ok for result in told.values())
    assert told["dying"].text == "The kernel dying ended as it started (exit code 1): no licence for today"
    assert told["silent"].text == "The kernel silent did not answer within 1.5 s: waiting"
    assert told["missing"].text.startswith("The kernel missing could not be started: ")
    assert all(len(result.text.splitlines()) == 1 for result in told.values())


@pytest.mark.parametrize(("port", "most"), ROBBERIES)
async def test_a_kernel_whose_ports_are_taken_before_it_binds_them_is_started_again(specs, port, most):
    starts = robbed_spec(specs, "robbed", most, port)
    with own_kernel(specs, "robbed") as robbed:
        result = await run_own(robbed, specs, "6 * 7")
    assert len(starts.read_text()) == 3
    assert result.ok == (most == 2), result.text
    assert ("Address already in use" in result.text) == (most == 3)


async def test_a_kernel_that_runs_without_one_of_its_ports_is_not_started_again(specs):
    starts = robbed_spec(specs, "robbed", 9, "hb_port")
    with own_kernel(specs, "robbed") as robbed:
        result = await run_own(robbed, specs, "6 * 7")
    assert (result.text.strip(), starts.read_text()) == ("42", "x")


async def test_a_folder_that_is_gone_is_told(tmp_path):
    with own_kernel(tmp_path / "nowhere") as own, pytest.raises(ToolError, match="could not be started.*nowhere"):
        await own.tool().run(code="1")


async def test_a_start_that_takes_a_moment_is_told(folder):
    with own_kernel(folder, clock=FastClock()) as own:
        events = await run_calls(tools_of(own, folder), ("python", {"code": "1"}), ("python", {"code": "2"}))
    assert [type(event) for event in events] == [Started, Noticed, Observed, Started, Observed]
    assert "python3" in events[1].text


FAR = """
import asyncio
from jupyter_client.provisioning import LocalProvisioner

class Far(LocalProvisioner):
    "Its processes are looked at and signalled over a slow wire."
    async def launch_kernel(self, cmd, **how):
        await asyncio.sleep(0.1)
        connection = await super().launch_kernel(cmd, **how)
        self.pgid = None
        return connection
    async def poll(self):
        await asyncio.sleep(0.1)
        return await super().poll()
    async def send_signal(self, number):
        await asyncio.sleep(0.1)
        await super().send_signal(number)
"""


@pytest.mark.filterwarnings("ignore:Accessing entry points by index is deprecated")  # jupyter_client does
async def test_a_kernel_on_another_machine_is_its_provisioners(specs, monkeypatch):
    named = specs / "far-1.0.dist-info"
    named.mkdir()
    (named / "METADATA").write_text("Metadata-Version: 2.1\nName: far\nVersion: 1.0\n")
    (named / "entry_points.txt").write_text("[jupyter_client.kernel_provisioners]\nfar = far_away:Far\n")
    (specs / "far_away.py").write_text(FAR)
    monkeypatch.syspath_prepend(specs)
    more = {"metadata": {"kernel_provisioner": {"provisioner_name": "far"}}}
    spec_of(specs, "far", sys.executable, "-m", "ipykernel_launcher", "-f", **more)
    with own_kernel(specs, "far", seconds=1.0) as far:
        process = await pid_of(far, specs)
        assert "still there" in (await run_own(far, specs, "kept = 1\nwhile True: pass")).text
        assert (await run_own(far, specs, "kept")).text == "1"
        assert "exit code 5" in (await run_own(far, specs, "import os; os._exit(5)")).text
        another = await pid_of(far, specs)
        await far.close()
    assert gone(process)
    assert gone(another)


async def test_a_provisioner_that_is_not_there_is_told(specs):
    more = {"metadata": {"kernel_provisioner": {"provisioner_name": "nobody"}}}
    spec_of(specs, "lost", sys.executable, **more)
    with own_kernel(specs, "lost") as lost:
        result = await run_own(lost, specs, "1")
    assert not result.ok
    assert "lost is installed, but not the provisioner" in result.text
    assert len(result.text.splitlines()) == 1


# --- ends


async def test_nothing_it_started_is_left_and_nothing_is_run_any_more(folder):
    sleepers = "import subprocess as s; print(*(s.Popen(['sleep', '300'], start_new_session=n).pid for n in (0, 1)))"
    for end in ("close", "kill"):
        with own_kernel(folder) as own:
            process = await pid_of(own, folder)
            children = [int(pid) for pid in (await own.tool().run(code=sleepers)).text.split()]
            await own.close() if end == "close" else await asyncio.to_thread(own.kill)
            assert all(gone(pid) for pid in (process, *children)), end
            await own.close()
            own.kill()
            with pytest.raises(ToolError, match="was shut down"):
                await own.tool().run(code="1")


@pytest.mark.parametrize("end", ["close", "kill"])
async def test_a_call_that_runs_at_the_end_is_answered(folder, tmp_path, end):
    sign = tmp_path / "running"
    with own_kernel(folder) as own:
        running = asyncio.ensure_future(own.tool().run(code=f"open({str(sign)!r}, 'w').close()\nwhile True: pass"))
        await there(sign)
        await own.close() if end == "close" else own.kill()
        result = await running
    assert not result.ok
    assert "ended while the code ran" in result.text


async def test_one_that_was_never_called_has_nothing_to_end(folder):
    with own_kernel(folder) as own:
        await own.close()
        own.kill()


PARENT = """
import asyncio, os, signal, sys
from pathlib import Path
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.kernels.own import OwnKernel

async def main():
    own = OwnKernel(cwd=Path("."), clock=SystemClock(), seconds=60)
    print((await own.tool().run(code="import os; print(os.getpid())")).text, flush=True)
    {end}

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "end",
    [
        "raise RuntimeError('the end')",
        "sys.exit(2)",
        "asyncio.ensure_future(own.tool().run(code='while True: pass')); await asyncio.sleep(0.1)",
        "os.kill(os.getpid(), signal.SIGKILL)",
    ],
)
def test_none_outlives_its_parent(folder, end):
    script = textwrap.dedent(PARENT).replace("{end}", end)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert gone(int(done.stdout))
    assert "ResourceWarning" not in done.stderr
    assert ("Traceback" in done.stderr) == ("RuntimeError" in end), done.stderr


def test_all_of_these_have_left_no_file_thread_or_process(kernel, before):
    kernel.kill()
    end = time.monotonic() + 10
    while any(len(now) > len(then) for now, then in zip(held(), before, strict=True)) and time.monotonic() < end:
        time.sleep(0.02)
    assert all(len(now) <= len(then) for now, then in zip(held(), before, strict=True)), (held(), before)
