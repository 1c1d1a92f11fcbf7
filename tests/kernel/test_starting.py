"""A kernel is there although another process took a port of its own: for a page, and for the tests of kernels."""

import asyncio
from functools import partial

import pytest
from jupyter_client import KernelManager
from jupyter_client.ioloop import AsyncIOLoopKernelManager

from tests.contracts.own_kernels import robbed_spec
from tests.kernels import Started


@pytest.mark.parametrize("port", ["shell_port", "iopub_port"])
def test_a_kernel_that_found_a_port_taken_is_started_again(tmp_path, monkeypatch, port):
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    starts = robbed_spec(tmp_path, "robbed", 1, port)
    started = Started(partial(KernelManager, kernel_name="robbed"))
    try:
        assert started.client.execute_interactive("1", timeout=30)["content"]["status"] == "ok"
        assert len(starts.read_text()) > 1
    finally:
        started.close()


def test_it_is_not_started_for_ever(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    starts = robbed_spec(tmp_path, "robbed", 9, "shell_port")
    with pytest.raises(AssertionError, match="a port was taken 4 times"):
        Started(partial(KernelManager, kernel_name="robbed"))
    assert starts.read_text() == "xxxx"


@pytest.mark.parametrize("port", ["shell_port", "iopub_port"])
async def test_hermes_dies_of_a_taken_port_so_that_a_page_is_given_another(tmp_path, monkeypatch, port):
    """A server starts a dead kernel again, and on ports of others; one that hangs it leaves to a page that waits."""
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    starts = robbed_spec(tmp_path, "robbed", 1, port, "hermes_kernel.kernel")
    server = AsyncIOLoopKernelManager(kernel_name="robbed")
    await server.start_kernel()
    try:
        async with asyncio.timeout(60):
            while not starts.exists() or len(starts.read_text()) < 2:
                await asyncio.sleep(0.1)
        client = server.client()
        client.start_channels()
        await client.wait_for_ready(timeout=60)
        client.stop_channels()
    finally:
        await server.shutdown_kernel(now=True)
