"""The CPU of a real kernel that shows a streamed answer live, beside one that only keeps it: what painting costs a chunk.

Run as ``python -m tests.bench.live URL``; prints one JSON line of CPU seconds for each way of showing.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

import psutil
from jupyter_client import KernelManager

WAYS = {"live": "%%hermes\nchunks 1", "quiet": "%%hermes --quiet\nchunks 1"}


def measure(url: str) -> dict[str, float]:
    """CPU seconds of the kernel process for one answer of each kind, after one to warm up."""
    environment = {
        **os.environ,
        "HERMES_BASE_URL": url,
        "HERMES_MODEL": "any",
        "HERMES_HOME": tempfile.mkdtemp(),
    }
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env=environment)
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(60)
    process = psutil.Process(manager.provisioner.pid)  # type: ignore[union-attr]
    try:
        _run(client, "%load_ext magics", 1)
        _run(client, WAYS["live"], 2)
        return {way: _cpu(client, process, cell) for way, cell in WAYS.items()}
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _cpu(client: object, process: psutil.Process, cell: str) -> float:
    before = sum(process.cpu_times()[:2])
    _run(client, cell, 3)
    return float(sum(process.cpu_times()[:2]) - before)


def _run(client: object, cell: str, number: int) -> None:
    """Execute as a notebook does: with the id of a cell, which is how a live front end is known."""
    message = client.session.msg("execute_request", {"code": cell, "silent": False, "store_history": True})  # type: ignore[attr-defined]
    message["metadata"] = {"cellId": f"cell-{number}"}
    client.shell_channel.send(message)  # type: ignore[attr-defined]
    while True:
        reply = client.get_shell_msg(timeout=300)  # type: ignore[attr-defined]
        if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
            assert reply["content"]["status"] == "ok", reply["content"]
            return


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])), flush=True)
