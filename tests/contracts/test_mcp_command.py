"""``hermes-kernel mcp``: what a terminal can do with the servers of a home."""

from __future__ import annotations

import json
import sys

import pytest

from hermes_kernel.cli import main
from tests.contracts.hubs import HERE, own


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))

    def say(*words: str):
        code = main(["mcp", *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return say


def test_a_server_is_added_listed_looked_at_and_removed(said, tmp_path):
    pytest.importorskip("mcp")
    words = ("--trust", "--env", "TOKEN=hunter2-hunter2", "own", sys.executable, str(HERE / "own.py"), "--read-only")
    assert said("add", *words) == (0, "", "")
    table = own("--read-only", env={"TOKEN": "hunter2-hunter2"})
    assert json.loads((tmp_path / "mcp.json").read_text(encoding="utf-8")) == {"mcpServers": {"own": table}}
    code, out, err = said()
    assert (code, err) == (0, "")
    assert "own.py --read-only" in out
    assert "hunter2" not in out
    (row,) = json.loads(said("list", "--json")[1])
    assert (row["name"], row["trouble"]) == ("own", "")
    assert "mcp_own_echo" in said("tools", "own")[1]
    tools = json.loads(said("tools", "own", "--json")[1])
    assert tools[0]["name"] == "mcp_own_echo"
    assert said("remove", "own") == (0, "", "")
    assert said() == (0, "", "")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("add",), 2, "mcp add takes"),
        (("add", "a b", "x"), 2, "is no name for a server"),
        (("remove",), 2, "it takes the name of one server"),
        (("remove", "nobody"), 2, "There is no MCP server 'nobody'"),
        (("tools", "nobody"), 2, "There is no MCP server 'nobody'"),
    ],
)
def test_what_is_said_wrongly_is_one_line_and_2(said, words, code, says):
    got, out, err = said(*words)
    assert (got, out) == (code, "")
    assert says in err
    assert len(err.splitlines()) == 1


def test_a_server_that_does_not_run_is_1(said):
    pytest.importorskip("mcp")
    said("add", "gone", "no-such-program")
    code, _, err = said("tools", "gone")
    assert code == 1
    assert "gone, failed: there is no program 'no-such-program' on its PATH" in err
