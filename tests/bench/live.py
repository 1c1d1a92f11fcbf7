"""What it costs a real kernel to show an answer as it comes: CPU for each chunk, and bytes on the way to a browser.

``python -m tests.bench.live`` prints one JSON line of what one kernel took.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import tempfile
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

import psutil
from jupyter_client import KernelManager

from tests.bench.rows import OURS, Row
from tests.bench.serving import pieces, serving

CHUNKS, PARAGRAPHS = 20_000, 2_900


def rows(rounds: int, contenders: Sequence[str]) -> Iterator[Row]:
    """Ours alone: no other contender draws in a notebook."""
    with serving() as url:
        found = [measure(url) for _ in range(rounds)]
    told = {name: median(each[name] for each in found) for name in found[0]}
    yield Row("panels", "CPU per chunk, shown live in a kernel", "µs", {OURS: told["live"] / CHUNKS * 1e6}, 60.0)
    yield Row("panels", "CPU per chunk in a kernel, shown at the end", "µs", {OURS: told["quiet"] / CHUNKS * 1e6})
    what = f"bytes to the browser for a byte of an answer of {PARAGRAPHS:,} paragraphs"
    yield Row("panels", what, "×", {OURS: told["bytes"] / sum(map(len, pieces(PARAGRAPHS)))}, 3.0)


def measure(url: str) -> dict[str, float]:
    """CPU seconds of the kernel process for one answer of each kind, after one to warm up, and bytes of another."""
    manager = KernelManager(kernel_name="python3")
    places = {"HERMES_BASE_URL": url, "HERMES_MODEL": "any", "HERMES_HOME": tempfile.mkdtemp()}
    manager.start_kernel(env={**os.environ, **places})
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(60)
    process = psutil.Process(manager.provisioner.pid)  # type: ignore[union-attr]
    try:
        _run(client, "%load_ext magics", 1)
        _run(client, f"%%hermes\nchunks {CHUNKS}", 2)
        live = _cpu(client, process, f"%%hermes\nchunks {CHUNKS}")
        quiet = _cpu(client, process, f"%%hermes --quiet\nchunks {CHUNKS}")
        return {"live": live, "quiet": quiet, "bytes": _run(client, f"%%hermes\nparagraphs {PARAGRAPHS}", 4)}
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def _cpu(client: Any, process: psutil.Process, cell: str) -> float:
    before = sum(process.cpu_times()[:2])
    _run(client, cell, 3)
    return float(sum(process.cpu_times()[:2]) - before)


def _run(client: Any, cell: str, number: int) -> int:
    """Execute as a notebook does: with the id of a cell, which is how a live front end is known. Bytes that it showed."""
    message = client.session.msg("execute_request", {"code": cell, "silent": False, "store_history": True})
    message["metadata"] = {"cellId": f"cell-{number}"}
    client.shell_channel.send(message)
    while True:
        reply = client.get_shell_msg(timeout=300)
        if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
            assert reply["content"]["status"] == "ok", reply["content"]
            return _shown(client)


def _shown(client: Any) -> int:
    """What came on iopub until now."""
    size = 0
    while True:
        try:
            size += len(json.dumps(client.get_iopub_msg(timeout=0.5)["content"]))
        except queue.Empty:
            return size


if __name__ == "__main__":
    with serving() as running:
        print(json.dumps(measure(running)), file=sys.stdout, flush=True)
