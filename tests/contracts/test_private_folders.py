"""Whatever makes the first folder of a home makes it its owner's alone, and all folders in it."""

from __future__ import annotations

import os
from stat import S_IMODE

import pytest

from hermes_kernel import Agent
from hermes_kernel.testing import ScriptedModel, call, say
from hermes_kernel.world.mcp.file import add
from hermes_kernel.world.tools.keeping import keep


def a_long_result(home):
    keep("x" * 1000, 400, home / "results" / "s1", "c1")


def an_mcp_server(home):
    add(home, "time", {"command": "true"})


def a_turn_with_a_long_result(home):
    model = ScriptedModel([call("python", {"code": "print('x' * 5000)"}), say("Long.")])
    agent = Agent(model, home=home, tool_result_chars=400)
    agent.ask_sync("Go.")
    agent.close()


@pytest.mark.parametrize("first", [a_long_result, an_mcp_server, a_turn_with_a_long_result])
def test_folders_are_private_whoever_makes_them_first(tmp_path, first):
    before = os.umask(0)
    try:
        first(tmp_path / "person" / "home")
    finally:
        os.umask(before)
    folders = [path for path in (tmp_path / "person").rglob("*") if path.is_dir()]
    assert folders
    assert {
        str(path): oct(S_IMODE(path.stat().st_mode)) for path in folders if S_IMODE(path.stat().st_mode) & 0o077
    } == {}
