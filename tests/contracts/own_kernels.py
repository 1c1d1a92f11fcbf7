"""What the tests of a Python of one's own share: kernels that are ended, and calls as a turn makes them."""

import json
import sys
import time
from contextlib import contextmanager

from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.kernels.own import OwnKernel
from tests.contracts.toolbox import observed, run_calls, toolbox
from tests.kernel.processes import lives

FRESH = "the variables of earlier calls: this is a new one"
PID = "import os; print(os.getpid())"


@contextmanager
def own_kernel(tmp_path, spec="python3", *, seconds=60.0, clock=None, **how):
    kernel = OwnKernel(spec, cwd=tmp_path, clock=clock or SystemClock(), seconds=seconds, **how)
    try:
        yield kernel
    finally:
        kernel.kill()


def tools_of(kernel, tmp_path, **settings):
    """A toolbox whose `python` is this kernel's."""
    tools = toolbox(tmp_path, **settings)
    tools.add(kernel.tool())
    return tools


async def run_own(kernel, tmp_path, code, **settings):
    return observed(await run_calls(tools_of(kernel, tmp_path, **settings), ("python", {"code": code})))


async def pid_of(kernel, tmp_path):
    return int((await run_own(kernel, tmp_path, PID)).text.splitlines()[-1])


def gone(pid, seconds=10.0):
    """Whether the process is no more, or will be soon."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not lives(pid):
            return True
        time.sleep(0.02)
    return False


def spec_of(folder, name, *argv, **more):
    """A kernelspec in `folder`, which is to be on JUPYTER_PATH."""
    place = folder / "kernels" / name
    place.mkdir(parents=True)
    spec = {"argv": [*argv, "{connection_file}"], "display_name": name, "language": "python", **more}
    (place / "kernel.json").write_text(json.dumps(spec))


def python_spec(folder, name, code):
    """A kernelspec whose kernel is this program."""
    spec_of(folder, name, sys.executable, "-c", code)


ROBBED = """
import json, os, socket, sys

starts, most, place = {starts!r}, {most}, sys.argv[-1]
with open(starts, "a") as told:
    told.write("x")
kept = []
for name, port in json.load(open(place)).items():
    if not name.endswith("_port"):
        continue
    if name == {port!r} and os.path.getsize(starts) <= most:
        kept.append(socket.create_server(("127.0.0.1", port)))
    elif sys.platform == "linux":  # where who binds it with SO_REUSEADDR, as ZeroMQ does, still gets it, and no one else
        kept.append(socket.socket())
        kept[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept[-1].bind(("127.0.0.1", port))
    else:
        continue
    kept[-1].set_inheritable(True)
os.execv(sys.executable, [sys.executable, "-m", {module!r}, "-f", place])
"""
# Those ports that are not taken are kept for the kernel from its first moment on. It needs the better part of a second
# to bind them, and in a gate other kernels would take one now and then, so that no test could say how often it starts.


ROBBERIES = [("shell_port", 2), ("shell_port", 3), ("iopub_port", 2), ("iopub_port", 3)]
"""Which port is taken, and how often. Without the second, IPython's kernel does not end: it hangs at its end."""


def robbed_spec(folder, name, most, port, module="ipykernel_launcher"):
    """A kernelspec of IPython's kernel, or of another `module`, which finds this port of its own taken the first `most`
    times it is started; the file that has a letter for each start."""
    starts = folder / f"{name}.starts"
    program = ROBBED.format(starts=str(starts), most=most, port=port, module=module)
    spec_of(folder, name, sys.executable, "-I", "-S", "-c", program)  # at once: before any site is looked for
    return starts
