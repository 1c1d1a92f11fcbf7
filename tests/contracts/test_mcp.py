"""MCP servers as a turn meets them: real ones, from the package indexes, and one of ours that can be told what to do."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

from hermes_kernel.core.events import Approved, Interrupted, Observed
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools.terminal import environment
from tests.contracts.hubs import HAS_NODE, NODE, TIME, Hub, lines, own, processes, published, until
from tests.contracts.toolbox import Nobody, Someone
from tests.kernel.processes import lives
from tests.ports import own_port

pytest.importorskip("mcp")
node = pytest.mark.skipif(not HAS_NODE, reason="the servers from npm are not installed")
CLOSED = 3  # seconds; 0.75 and a little on a quiet machine, and the four of the SDK where it is left to that
SLOW = {"duration": 60, "steps": 600}  # seconds, and how often it tells how far it is
ENV = {"SECRET_KEY": "hunter2-hunter2-hunter2"}


@pytest.fixture
def hub(tmp_path):
    made = []

    def make(person=None, /, settings=None, **tables):
        made.append(Hub(tmp_path, tables, person, **(settings or {})))
        return made[-1]

    yield make
    for each in made:
        each.servers.close()


# --- real servers


@node
async def test_real_servers_offer_their_tools_and_answer(hub):
    at = await hub(time=TIME, everything=published("mcp-server-everything")).ready()
    assert at.told == []
    assert "mcp_time_convert_time" in at.names()
    assert "mcp_everything_get-sum" in at.names()
    when = {"source_timezone": "Europe/Paris", "time": "16:30", "target_timezone": "Asia/Ho_Chi_Minh"}
    events = await at.calls(("mcp_time_convert_time", when), ("mcp_everything_get-sum", {"a": 2, "b": 3}))
    results = {event.call_id: event for event in events if isinstance(event, Observed)}
    assert json.loads(results["call_0"].text)["target"]["timezone"] == "Asia/Ho_Chi_Minh"
    assert "5" in results["call_1"].text
    assert all(result.ok for result in results.values())


@node
async def test_of_two_real_servers_in_one_turn_one_is_killed_while_called_and_the_other_answers(hub, tmp_path):
    """And the end of both takes less than a second."""
    here = {"cwd": str(tmp_path)}
    at = await hub(time=TIME | here, everything=published("mcp-server-everything", **here)).ready()
    (victim,) = processes("mcp-server-everything", tmp_path)
    assert processes("mcp_server_time", tmp_path)
    called = await at.under_way(
        ("mcp_everything_trigger-long-running-operation", SLOW), ("mcp_time_get_current_time", {"timezone": "Etc/UTC"})
    )
    victim.kill()
    results = {event.call_id: event for event in await called if isinstance(event, Observed)}
    assert results["call_1"].ok
    assert "Etc/UTC" in results["call_1"].text
    assert not results["call_0"].ok
    assert "was lost during the call: it ended with signal 9" in results["call_0"].text
    began = time.perf_counter()
    at.servers.close()
    assert time.perf_counter() - began < CLOSED
    assert not processes("mcp-server-everything", tmp_path)
    assert not processes("mcp_server_time", tmp_path)


@pytest.fixture
def port():
    with own_port() as port:
        yield port


@node
async def test_a_server_at_an_address_answers_and_its_death_is_told(hub, port):
    command = [str(NODE / "mcp-server-everything"), "streamableHttp"]
    server = subprocess.Popen(command, env=os.environ | {"PORT": str(port)}, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        while "listening" not in (line := server.stderr.readline()):
            assert line, "it did not start"
        at = await hub(web={"url": f"http://127.0.0.1:{port}/mcp", "trust": True}).ready()
        assert (await at.call("mcp_web_echo", message="over HTTP")).text == "Echo: over HTTP"
        called = await at.under_way(("mcp_web_trigger-long-running-operation", SLOW))
        server.kill()
        (result,) = [event for event in await called if isinstance(event, Observed)]
        assert not result.ok
        assert "was lost during the call" in result.text
        await until(lambda: at.phase("web") == "failed")
        later = await at.call("mcp_web_echo", message="?")
        assert not later.ok
        assert "is not running" in later.text
    finally:
        server.kill()
        server.wait()
        server.stderr.close()


async def test_an_address_that_nobody_answers_at_is_failed_and_costs_the_others_nothing(hub):
    at = await hub(gone={"url": "http://127.0.0.1:9/mcp"}, here=own()).ready()
    assert at.phase("gone") == "failed"
    assert len(at.told) == 1
    assert "'gone' is not available" in at.told[0]
    assert (await at.call("mcp_here_echo", text="hi")).text == "hi"
    assert (await at.ready()).told == at.told, "it is said once"


# --- what comes back


async def test_what_a_server_returns_becomes_one_result(hub):
    at = await hub(own=own()).ready()
    assert (await at.call("mcp_own_nothing")).text == "Done. (The tool returned nothing.)"
    assert (await at.call("mcp_own_structured")).text == '{"sum": 3}'
    failed = await at.call("mcp_own_fail")
    assert (failed.ok, failed.text) == (False, "no such row\ufffd")
    resources = await at.call("mcp_own_resources")
    assert resources.text == "[file:///a.txt]\ninside a\n[file:///b.bin: x/y, 3 bytes]\n[c: file:///c.txt]"
    wrong = await at.call("mcp_own_wrong")
    assert not wrong.ok
    assert "breaks the protocol" in wrong.text


async def test_only_a_picture_that_is_one_is_handed_on(hub):
    seen = await (await hub(own=own()).ready()).call("mcp_own_images")
    assert [image.mime for image in seen.images] == ["image/png"]
    assert seen.text.splitlines() == [
        "[image/png 1x1]",
        "[a picture whose base64 is damaged]",
        "[image/svg+xml, 5 bytes, which is no picture that a model can see]",
        "[audio/wav, 3 bytes, which cannot be heard here]",
    ]


async def test_a_long_result_is_cut_and_kept_like_every_other(hub):
    at = await hub(own=own(), settings={"tool_result_chars": 500}).ready()
    result = await at.call("mcp_own_echo", text="word " * 1000)
    assert len(result.text) < 1000
    assert result.kept_at


async def test_arguments_are_fitted_to_the_servers_schema_before_it_is_asked(hub):
    at = await hub(own=own()).ready()
    assert "missing 'text'" in (await at.call("mcp_own_echo")).text
    assert (await at.call("mcp_own_echo", text=5)).text == "5"


async def test_progress_is_shown_once_a_second_at_most(hub):
    at = await hub(own=own()).ready()
    events = await at.calls(("mcp_own_progress", {}))
    assert [event.text for event in events if isinstance(event, Observed)] == ["a thousand steps"]
    assert lines(events)[0] == "own: progress: step[31m"
    assert len(lines(events)) < 20


# --- secrets


async def test_values_of_env_are_filled_in_and_seen_by_nobody_but_the_server(hub, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "tok-hunter2-hunter2")
    monkeypatch.setenv("HERMES_API_KEY", "sk-must-not-be-inherited")
    at = await hub(own=own(env={"SECRET_KEY": "${MY_TOKEN}"}), plain=own(env=ENV)).ready()
    said = (await at.call("mcp_own_secret")).text
    assert said == "the key is [redacted: secret], plain None"
    assert "hunter2" not in (await at.call("mcp_plain_secret")).text
    assert "hunter2" not in (await at.call("mcp_own_echo", text="tok-hunter2-hunter2")).text
    for state in at.servers.states():
        assert "hunter2" not in repr(state)
    assert "hunter2" not in (await at.call("terminal", command="echo tok-hunter2-hunter2")).text


@pytest.mark.parametrize("tool", ["link", "refuse"])
async def test_no_half_of_a_secret_is_left_where_an_answer_is_cut_short(hub, tool):
    at = await hub(own=own(env={"SECRET_KEY": "hunter2-hunter2-hunter2"})).ready()
    said = (await at.call(f"mcp_own_{tool}")).text
    assert "[reda" in said
    assert "hunt" not in said


async def test_a_server_that_refuses_with_the_code_of_a_lost_connection_is_not_lost(hub):
    at = await hub(own=own(env={"SECRET_KEY": "hunter2-hunter2-hunter2"})).ready()
    before = (await at.call("mcp_own_pid")).text
    assert (await at.call("mcp_own_refuse")).text.startswith("The server refused: ...")
    assert (await at.call("mcp_own_pid")).text == before


async def test_what_a_server_is_given_of_the_environment_no_command_is_given(hub, monkeypatch):
    monkeypatch.setenv("ODD_NAME", "hunter2-hunter2-hunter2")
    monkeypatch.setenv("PLAIN_NAME", "nobody minds")
    at = await hub(own=own(env={"SECRET_KEY": "${ODD_NAME}"})).ready()
    said = (await at.call("terminal", command="echo ${ODD_NAME-absent} ${PLAIN_NAME-absent}")).text
    assert said.startswith("absent nobody minds")
    passed = environment(os.environ, at.tools.secrets)  # as a subagent's own kernel has it
    assert "ODD_NAME" not in passed
    assert "PLAIN_NAME" in passed


async def test_a_variable_that_is_not_set_fails_its_server_by_name(hub):
    at = await hub(own=own(env={"SECRET_KEY": "${NO_SUCH_VARIABLE}"})).ready()
    assert "needs the variable NO_SUCH_VARIABLE, which is not set" in at.told[0]


# --- who may call


async def test_a_call_to_a_server_that_is_not_trusted_is_asked_about(hub):
    someone = Someone("this session")
    at = await hub(someone, own=own(trust=False)).ready()
    events = await at.calls(("mcp_own_nothing", {}), ("mcp_own_nothing", {}), ("mcp_own_structured", {}))
    assert len(someone.asked) == 2, "an answer for the session holds for that tool alone"
    assert "'nothing' is a tool of the MCP server 'own', which is not trusted" in someone.asked[0]
    assert all(event.allowed for event in events if isinstance(event, Approved))


async def test_what_a_server_says_of_its_own_tools_lets_nothing_through(hub):
    at = await hub(Nobody(), own=own("--read-only", trust=False)).ready()
    assert not (await at.call("mcp_own_echo", text="hi")).ok
    at = await hub(Nobody(), own=own("--read-only", trust=True)).ready()
    assert (await at.call("mcp_own_echo", text="hi")).text == "hi"


async def test_where_nobody_is_there_it_is_refused_in_words(hub):
    at = await hub(Nobody(), own=own(trust=False)).ready()
    refused = await at.call("mcp_own_nothing")
    assert not refused.ok
    assert "Not run: 'nothing' is a tool of the MCP server 'own'" in refused.text
    assert "nobody is there to allow it" in refused.text


# --- the end of calls, of servers and of everything


async def test_a_stop_gives_a_call_up_at_once_and_the_server_is_told_and_lives_on(hub, tmp_path):
    mark = tmp_path / "cancelled"
    asked = tmp_path / "called"
    at = await hub(own=own(env={"CANCELLED": str(mark), "CALLED": str(asked)})).ready()
    stop = Stop()
    called = asyncio.create_task(at.calls(("mcp_own_hang", {}), stop=stop))
    await until(asked.exists)
    stop.press()
    assert isinstance((await called)[-1], Interrupted)
    await until(mark.exists)
    assert (await at.call("mcp_own_echo", text="still here")).text == "still here"


async def test_a_call_ends_at_the_tools_deadline(hub, tmp_path):
    at = await hub(own=own(env={"CANCELLED": str(tmp_path / "c")}), settings={"tool_seconds": 0.3}).ready()
    result = await at.call("mcp_own_hang")
    assert "was ended at its deadline of 0.3 s" in result.text
    assert (await at.call("mcp_own_echo", text="on")).text == "on"


async def test_a_server_that_dies_is_started_once_more_and_then_given_up(hub):
    at = await hub(own=own()).ready()
    died = await at.call("mcp_own_die")
    assert not died.ok
    assert "it ended with code 7; it wrote: something broke in here" in died.text
    assert "not known" in died.text
    assert (await at.call("mcp_own_echo", text="again")).text == "again"
    await at.call("mcp_own_die")
    await until(lambda: at.phase("own") == "failed")
    assert at.names() == []
    told = await at.call("mcp_own_echo", text="?")
    assert not told.ok
    assert "mcp restart own" in told.text
    assert "something broke in here" in (await at.ready()).told[0]
    at.servers.restart("own")
    await at.ready()
    assert (await at.call("mcp_own_echo", text="third life")).text == "third life"


async def test_all_calls_of_a_server_that_dies_get_their_error(hub):
    at = await hub(own=own(), other=own()).ready()
    hanging = [("mcp_own_hang", {"n": n}) for n in range(3)]
    events = await at.calls(*hanging, ("mcp_own_die", {}), ("mcp_other_echo", {"text": "alive"}))
    results = {event.call_id: event for event in events if isinstance(event, Observed)}
    assert [results[f"call_{n}"].ok for n in range(5)] == [False, False, False, False, True]


async def test_one_that_cannot_start_a_second_time_is_given_up(hub, tmp_path):
    at = await hub(own=own("--once", str(tmp_path / "started"))).ready()
    await at.call("mcp_own_die")
    await until(lambda: at.phase("own") == "failed")
    assert "ended with code 3" in at.servers.state("own").why


async def test_one_that_closes_its_mouth_and_lives_is_ended(hub):
    at = await hub(own=own()).ready()
    pid = int((await at.call("mcp_own_pid")).text)
    assert "it closed its stdout" in (await at.call("mcp_own_close")).text
    await until(lambda: not psutil.pid_exists(pid))


async def test_tools_that_change_are_offered_from_the_next_call_of_the_model_on(hub):
    at = await hub(own=own()).ready()
    assert "mcp_own_later" not in at.names()
    await at.call("mcp_own_change")
    await until(lambda: "mcp_own_later" in at.names())
    assert (await at.call("mcp_own_later")).text == "later was called"


async def test_a_slow_server_offers_its_tools_when_it_is_ready(hub, tmp_path):
    command = f"until [ -e {tmp_path}/go ]; do sleep 0.05; done; exec {' '.join([own()['command'], *own()['args']])}"
    at = hub(slow={"command": "sh", "args": ["-c", command], "trust": True})
    stop = Stop()
    stop.press()  # a turn that is stopped does not wait
    assert [each.text async for each in at.servers.ready(stop)] == [
        "The MCP server 'slow' is still being started; its tools come when it is ready."
    ]
    assert at.names() == []
    (tmp_path / "go").touch()
    await until(at.names)
    assert (await at.call("mcp_slow_echo", text="late")).text == "late"


async def test_what_a_server_asks_of_us_is_answered_and_it_gets_no_more_than_the_folder(hub, tmp_path):
    answers = json.loads((await (await hub(own=own()).ready()).call("mcp_own_ask")).text)
    assert answers["s"] == "Sampling not supported"
    assert answers["e"] == "Elicitation not supported"
    assert answers["r"] == {"roots": [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]}


async def test_a_stubborn_server_and_its_children_are_gone_before_the_sdk_would_kill_them(hub, tmp_path):
    at = await hub(a=own("--stubborn", "--child", str(tmp_path) and "--greet"), b=own("--stubborn")).ready()
    pids = [int((await at.call(f"mcp_{name}_pid")).text) for name in "ab"]
    children = psutil.Process(pids[0]).children(recursive=True)
    assert children
    began = time.perf_counter()
    at.servers.close()
    assert time.perf_counter() - began < CLOSED
    await until(lambda: not any(psutil.pid_exists(pid) for pid in pids))
    await until(lambda: not any(lives(child.pid) for child in children))
    assert "has been stopped" in (await at.call("mcp_a_echo", text="?")).text


async def test_whoever_waits_for_a_call_when_all_is_closed_or_started_anew_gets_a_result(hub, tmp_path):
    at = await hub(own=own(env={"CALLED": str(tmp_path / "called")})).ready()
    for end in (lambda: at.servers.restart("own"), at.servers.close):
        (tmp_path / "called").unlink(missing_ok=True)
        called = asyncio.create_task(at.calls(("mcp_own_hang", {})))
        await until((tmp_path / "called").exists)
        await asyncio.to_thread(end)
        (result,) = [event for event in await called if isinstance(event, Observed)]
        assert not result.ok


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have nothing that ends a child with its parent")
def test_nothing_is_left_of_a_stubborn_server_whose_kernel_was_killed(tmp_path):
    code = f"""
        import asyncio, sys, time
        from pathlib import Path
        from hermes_kernel.world.clock import SystemClock
        from hermes_kernel.world.mcp import Servers
        servers = Servers(Path({str(tmp_path)!r}), {{"own": {own("--stubborn")!r}}}, Path.cwd, SystemClock())
        servers.begin()
        servers.settle(30)
        tool = next(tool for tool in servers.known() if tool.name == "mcp_own_pid")
        print(asyncio.run(tool.run()).text, flush=True)
        time.sleep(100)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert psutil.pid_exists(pid)
        process.send_signal(signal.SIGKILL)
    end = time.monotonic() + 10
    while lives(pid):
        assert time.monotonic() < end, "it lives on"
        time.sleep(0.02)
