"""MCP servers in a real kernel: added in a cell, called in a turn, killed while called, gone with the kernel."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import psutil
import pytest

from hermes_kernel.testing import Server, call, calls, say
from tests.contracts.hubs import HERE, TIME
from tests.kernel.conftest import Kernel

pytest.importorskip("mcp")
OWN = shlex.join([sys.executable, str(HERE / "own.py")])
CLOCK = shlex.join([TIME["command"], *TIME["args"]])
NOW = ("mcp_clock_get_current_time", {"timezone": "Etc/UTC"})


@pytest.fixture
def kernel(tmp_path):
    made = Kernel("hermes", sys.executable, tmp_path)
    yield made
    made.close()


@pytest.fixture
def asked(kernel):
    servers = []

    def start(*steps):
        servers.append(Server(list(steps)).start())
        kernel.ask_server(servers[-1])
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def children(kernel: Kernel) -> list[psutil.Process]:
    """The servers' processes: those of the kernel that run `own.py` or the time server."""
    found = psutil.Process(kernel.manager.provisioner.pid).children(recursive=True)
    return [
        each for each in found if "own.py" in " ".join(each.cmdline()) or "mcp_server_time" in " ".join(each.cmdline())
    ]


def wait_for(path: Path) -> None:
    end = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < end, f"there is no {path.name}"
        time.sleep(0.02)


def results(server: Server) -> list[str]:
    """What the model was told of its calls, at the last request."""
    return [message["content"] for message in server.requests[-1].messages if message["role"] == "tool"]


def test_a_server_that_is_added_in_a_cell_is_offered_called_and_removed(kernel, asked):
    server = asked(call("mcp_own_echo", {"text": "hello"}), say("Done."), say("Later."))
    added = kernel.run(f"%hermes mcp add --env KEY=${{HERMES_API_KEY}} --trust own {OWN}")
    assert added.status == "ok", added.error
    assert "${HERMES_API_KEY}" in (kernel.home / "mcp.json").read_text(), "the notebook's variables are not meant"
    assert "ready" in added.text
    assert kernel.run(kernel.prompt("Say hello.")).status == "ok"
    assert "mcp_own_echo" in str(server.requests[0].body["tools"])
    assert results(server) == ["hello"]
    assert "mcp_own_echo" in kernel.run("%hermes mcp tools own").text
    assert "mcp_own_echo" in kernel.run("%hermes tools").text
    assert "ready" in kernel.run("%hermes mcp restart own").text
    removed = kernel.run("%hermes mcp remove own")
    assert "There are no MCP servers" in removed.text
    assert kernel.run(kernel.prompt("And now?")).status == "ok"
    assert "mcp_own" not in str(server.requests[2].body["tools"])
    assert "mcp" not in str(server.requests[0].body["messages"][0]["content"]).replace("mcp_", "")


def test_a_wrong_word_is_one_line_that_says_what_is_allowed(kernel):
    for line, says in (
        ("nonsense", "mcp takes nothing or add, remove, restart, tools NAME"),
        ("add", "mcp add takes"),
        ("add x 'open", "A quote is not closed"),
        ("restart nobody", "There is no MCP server 'nobody'"),
        ("remove nobody", "There is no MCP server 'nobody'"),
        ("remove", "mcp remove needs the NAME of a server. There are: none."),
    ):
        ran = kernel.run(f"%hermes mcp {line}")
        assert ran.status == "error"
        assert says in ran.error
        assert "Traceback" not in ran.error


def test_a_server_that_cannot_be_started_says_why_and_what_may_be_done(kernel):
    shown = kernel.run("%hermes mcp add gone no-such-program").text
    assert "there is no program 'no-such-program' on its PATH" in shown
    assert "`%hermes mcp restart NAME` starts a server again" in shown
    assert "restart" not in kernel.run("%hermes mcp remove gone").text


def test_one_of_two_servers_is_killed_in_a_turn_and_nothing_is_left_when_the_kernel_ends(kernel, asked):
    """The other's result arrives, the dead one's call has an error for its result, the conversation goes on."""
    server = asked(calls([("mcp_own_hang", {}), NOW]), say("One of them died."))
    for name, command in (("own", OWN), ("clock", CLOCK)):
        called = f"--env CALLED={kernel.home}/called"
        assert kernel.run(f"%hermes mcp add --trust {called} {name} {command}").status == "ok"
    (victim,) = [each for each in children(kernel) if "own.py" in " ".join(each.cmdline())]
    sent = kernel.send(kernel.prompt("Ask both."))
    wait_for(kernel.home / "called")
    victim.kill()
    ran = kernel.finish(sent)
    assert ran.status == "ok", ran.error
    lost, told = results(server)
    assert "was lost during the call: it ended with signal 9" in lost
    assert "Etc/UTC" in told
    left = children(kernel)
    assert left
    process = psutil.Process(kernel.manager.provisioner.pid)
    kernel.client.shutdown()
    _, alive = psutil.wait_procs([process, *left], timeout=20)
    assert not alive


def test_interrupt_gives_a_call_up_and_nothing_waits_for_the_server(kernel, asked):
    asked(call("mcp_own_hang", {}), say("Never."), call("mcp_own_nothing", {}), say("Fine."))
    marks = f"--env CANCELLED={kernel.home}/told --env CALLED={kernel.home}/called"
    kernel.run(f"%hermes mcp add {marks} --trust own {OWN}")
    sent = kernel.send(kernel.prompt("Hang."))
    wait_for(kernel.home / "called")
    kernel.interrupt()
    assert kernel.finish(sent).status == "error"
    wait_for(kernel.home / "told")
    assert kernel.run("%hermes mcp").text.count("ready") == 1
