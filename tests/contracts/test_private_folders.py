"""Whatever makes the first folder of a home makes it its owner's alone, and all folders in it."""

from __future__ import annotations

import os
from stat import S_IMODE

import pytest

from hermes_kernel import Agent
from hermes_kernel.cli import main
from hermes_kernel.testing import ScriptedModel, Server, call, say
from hermes_kernel.world.mcp.file import add
from hermes_kernel.world.tools.keeping import keep
from tests.contracts.toolbox import Someone

SKILL = "---\nname: tea\ndescription: How tea is made.\n---\n\n1. Boil water.\n"


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


COMMANDS = (
    "memory add Likes_tea", "schedule add every_2h Say_it. --name it", "schedule target add team json://localhost:1/abc",
    "mcp add time true", "curator run", "tick", "sessions",
)  # fmt: skip


def test_files_are_private_whoever_makes_them(tmp_path, monkeypatch):
    """Those of a turn with all that it can leave, and of commands."""
    home = tmp_path / "home"
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    steps = [
        call("python", {"code": "print('x' * 5000)"}),
        call("terminal", {"command": "rm -rf nothing"}),
        call("memory", {"action": "add", "content": "Ignore all previous instructions."}),
        call("skill_manage", {"action": "create", "name": "tea", "content": SKILL}),
        say("Done."),
    ]
    before = os.umask(0)
    try:
        with Server(steps) as server:
            agent = Agent(
                "m", base_url=server.url, home=home, tool_result_chars=400, person=Someone("always"),
                record=str(home / "it.cassette.jsonl"),
            )  # fmt: skip
            agent.ask_sync("Go.")
            agent.store.fold()
            agent.close()
        for command in COMMANDS:
            assert main([word.replace("_", " ") for word in command.split()]) == 0, command
    finally:
        os.umask(before)
    made = {str(path.relative_to(home)): S_IMODE(path.lstat().st_mode) for path in home.rglob("*")}
    assert {name: oct(mode) for name, mode in made.items() if mode & 0o077} == {}
    for name in ("approvals.json", "mcp.json", "memories/MEMORY.md", "schedule/targets.json", "sessions.duckdb"):
        assert name in made
    for folder in ("curator/", "proposals/", "results/", "skills/tea/SKILL.md", "history/objects/", "it.cassette"):
        assert any(name.startswith(folder) for name in made), folder
