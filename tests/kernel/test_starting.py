"""What the tests of kernels stand on: one is there although another process took a port of its own."""

from functools import partial

import pytest
from jupyter_client import KernelManager

from tests.contracts.own_kernels import robbed_spec
from tests.kernels import Started


@pytest.mark.parametrize("port", ["shell_port", "iopub_port"])
def test_a_kernel_that_found_a_port_taken_is_started_again(tmp_path, monkeypatch, port):
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    starts = robbed_spec(tmp_path, "robbed", 1, port)
    started = Started(partial(KernelManager, kernel_name="robbed"))
    try:
        assert started.client.execute_interactive("1", timeout=30)["content"]["status"] == "ok"
        assert starts.read_text() == "xx"
    finally:
        started.close()


def test_it_is_not_started_for_ever(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    starts = robbed_spec(tmp_path, "robbed", 9, "shell_port")
    with pytest.raises(AssertionError, match="a port was taken 4 times"):
        Started(partial(KernelManager, kernel_name="robbed"))
    assert starts.read_text() == "xxxx"
