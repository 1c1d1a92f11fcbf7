"""MCP servers as an agent has them: told of in the turn, in the store without secrets, absent where there are none."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from hermes_kernel import Agent
from hermes_kernel.core.events import Noticed, Observed
from hermes_kernel.testing import ScriptedModel, Server, call, say
from tests.contracts.hubs import own

pytest.importorskip("mcp")
SECRET = "hunter2-hunter2-hunter2"


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    made = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert not made.stderr
    return made.stdout.strip()


async def test_a_turn_calls_a_servers_tool_and_nothing_secret_is_kept(tmp_path):
    tables = {"own": own(env={"SECRET_KEY": SECRET}), "gone": {"command": "no-such-program"}}
    model = ScriptedModel([call("mcp_own_secret", {}), say("Done.")])
    async with Agent(model, home=tmp_path / "home", mcp_servers=tables) as agent:
        events = [event async for event in agent.stream(f"Is it {SECRET}?")]
        assert isinstance(events[0], Noticed)
        assert "'gone' is not available" in events[0].text
        assert agent.turn.outcome == "completed"
        (result,) = [event for event in events if isinstance(event, Observed)]
        assert result.text == "the key is [redacted: secret], plain None"
    kept = [path for path in (tmp_path / "home").rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert kept == []


async def test_nothing_that_a_server_says_of_itself_tells_its_secrets(tmp_path):
    with Server([call("mcp_own_login", {}), say("Done.")]) as server:
        endpoint = {"base_url": server.url, "api_key": "none"}
        tables = {"own": own("--telltale", env={"SECRET_KEY": SECRET})}
        async with Agent("any", home=tmp_path / "home", mcp_servers=tables, **endpoint) as agent:
            events = [event async for event in agent.stream("Log in.")]
            noticed = [event.text for event in events if isinstance(event, Noticed)]
            seen = repr((events, agent.tools.specs(), agent.servers.states(), [each.body for each in server.requests]))
    assert "own: login: with [redacted: secret]" in noticed
    for name in ("by_name", "named [redacted: secret]", "broken [redacted: secret]"):
        assert any(f"'own': {name} is left out: " in line for line in noticed)
    assert "With [redacted: secret]. ..." in seen
    assert SECRET[:11] not in seen


async def test_only_the_tools_that_were_asked_for_are_offered(tmp_path):
    model = ScriptedModel([say("One."), say("Two.")])
    async with Agent(model, home=tmp_path / "home", mcp_servers={"own": own()}) as agent:
        await agent.ask("?", tools=["mcp_own_echo"])
        assert model.offered[0] == ("mcp_own_echo",)
        await agent.ask("?", tools=[])
        assert model.offered[1] == ()


async def test_other_settings_are_other_servers_from_the_next_turn_on(tmp_path):
    model = ScriptedModel([say("One."), say("Two.")])
    async with Agent(model, home=tmp_path / "home", mcp_servers={"own": own()}) as agent:
        await agent.ask("?")
        assert "mcp_own_echo" in agent.tools.names()
        agent.configure(mcp_servers={"new": own()})
        await agent.ask("?")
        assert "mcp_new_echo" in agent.tools.names()
        assert "mcp_own_echo" not in agent.tools.names()


def test_without_servers_nothing_of_the_package_is_imported_and_no_thread_begun(tmp_path):
    assert run(f"""
        import sys, threading
        from hermes_kernel import Agent
        from hermes_kernel.testing import ScriptedModel, say
        agent = Agent(ScriptedModel([say("Hi.")]), home={str(tmp_path)!r})
        agent.ask_sync("?")
        print("mcp" in sys.modules, [each.name for each in threading.enumerate() if "mcp" in each.name])
        agent.close()
    """) == "False []"  # fmt: skip


def test_without_the_package_a_line_says_how_to_get_it(tmp_path):
    assert run(f"""
        import sys
        from importlib.machinery import PathFinder

        class Without(PathFinder):
            @classmethod
            def find_spec(cls, name, path=None, target=None):
                return None if name.partition(".")[0] == "mcp" else super().find_spec(name, path, target)

        sys.meta_path = [Without if each is PathFinder else each for each in sys.meta_path]
        from pathlib import Path
        from hermes_kernel.world.clock import SystemClock
        from hermes_kernel.world.mcp import Servers
        servers = Servers(Path({str(tmp_path)!r}), {{"a": {{"command": "x"}}}}, Path.cwd, SystemClock())
        servers.begin()
        servers.settle()
        print(servers.state("a").why)
        servers.close()
    """) == 'MCP needs a package: pip install "hermes-kernel[mcp]"'  # fmt: skip
