"""What a person waits for before anything is asked: the import, the extension in an IPython that runs, a kernel that
answers; and what a process holds after fifty iterations.

Each sample is a fresh process, ours and what it is compared with in turn. CPU, for on a busy machine wall time says
little; of a kernel both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import psutil
from jupyter_client import BlockingKernelClient
from jupyter_client.connect import write_connection_file

from tests.bench.contenders import worked
from tests.bench.rows import BARE, FLOOR, OURS, Row, medians
from tests.bench.serving import serving

ITERATIONS = 50
PATIENCE = 120.0  # seconds for a kernel

IMPORTS = {
    OURS: "from hermes_kernel import Agent, tool",
    BARE: "from openai import AsyncOpenAI",
    FLOOR: "import json, httpx2",
}
MADE = {
    OURS: f"{IMPORTS[OURS]}; Agent('any', base_url='http://127.0.0.1:9/v1', api_key='none')",
    BARE: f"{IMPORTS[BARE]}; AsyncOpenAI(base_url='http://127.0.0.1:9/v1', api_key='none')",
    FLOOR: f"{IMPORTS[FLOOR]}; httpx2.AsyncClient()",
}
SHELL = "from IPython.core.interactiveshell import InteractiveShell; shell = InteractiveShell.instance()"
LOADED = f"{SHELL}; shell.run_line_magic('load_ext', 'magics')"
KERNELS = {OURS: "hermes_kernel.kernel", "ipykernel": "ipykernel_launcher"}

Kernels = dict[str, list[tuple[float, float]]]


def rows(rounds: int, contenders: Sequence[str]) -> Iterator[Row]:
    """Beside those that can be started in this environment."""
    who = [each for each in contenders if each in IMPORTS]
    yield _imported("import, CPU over a bare interpreter", IMPORTS, rounds, who, 0.1)
    yield _imported("import and the first client or agent, CPU over a bare interpreter", MADE, rounds, who)
    loaded = _over(LOADED, SHELL, rounds)
    yield Row("starting", "`%load_ext magics`, CPU over bare IPython", "s", {OURS: loaded}, 0.15)
    yield from _ready(rounds)
    with serving() as url:
        held = medians(rounds, contenders, partial(_held, url=url))
    yield Row("the process", f"memory after {ITERATIONS} iterations", "MB", held, 80.0)


def _imported(what: str, codes: dict[str, str], rounds: int, who: Sequence[str], bar: float | None = None) -> Row:
    return Row("starting", what, "s", {each: _over(codes[each], "pass", rounds) for each in who}, bar)


def _over(code: str, bare: str, rounds: int) -> float:
    """CPU seconds of running `code` beyond those of `bare`, the median."""
    _cpu(code)  # writes what is compiled
    return median(_cpu(code) - _cpu(bare) for _ in range(rounds))


def _cpu(code: str) -> float:
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HERMES_HOME": home, "IPYTHONDIR": home}
        with subprocess.Popen([sys.executable, "-c", code], env=environment) as process:
            _, ended, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(ended)
    assert process.returncode == 0, code
    return used.ru_utime + used.ru_stime


# --- kernels ----------------------------------------------------------------------------------------------------------


def _ready(rounds: int) -> Iterator[Row]:
    told: Kernels = {who: [] for who in KERNELS}
    for module in KERNELS.values():
        kernel_ready(module)
    for _ in range(rounds):
        for who, module in KERNELS.items():
            told[who].append(kernel_ready(module))
    for at, what in enumerate(("until it answers", "CPU until it answers")):
        values = {who: median(each[at] for each in samples) for who, samples in told.items()}
        yield Row("starting", f"kernel, {what}", "s", values, round(1.25 * values["ipykernel"], 3), "1.25 × ipykernel")


def kernel_ready(module: str) -> tuple[float, float]:
    """Seconds from starting a kernel to its first answer, and those of its CPU."""
    with tempfile.TemporaryDirectory() as home:
        path, _ = write_connection_file(str(Path(home) / "kernel.json"))
        environment = {**os.environ, "HERMES_HOME": home, "IPYTHONDIR": home}
        client = BlockingKernelClient(connection_file=path)
        client.load_connection_file()
        began = time.perf_counter()
        command = [sys.executable, "-m", module, "-f", path]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            client.start_channels(hb=False)
            try:
                client.kernel_info(reply=True, timeout=PATIENCE)
                return time.perf_counter() - began, sum(psutil.Process(process.pid).cpu_times()[:2])
            finally:
                client.stop_channels()
                process.kill()


def _held(who: str, url: str) -> float | None:
    held: float | None = worked(who, "loop", url, ITERATIONS).get("memory")
    return held


def main(measure: Callable[[int, Sequence[str]], Iterator[Row]]) -> None:
    for row in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5, (OURS, BARE, FLOOR)):
        print(json.dumps(row._asdict()), flush=True)


if __name__ == "__main__":
    main(rows)
