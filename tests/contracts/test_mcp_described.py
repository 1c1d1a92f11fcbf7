"""Which servers there are: what a person may say of one, the file that other clients share, and the words of `mcp add`."""

from __future__ import annotations

import json
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_kernel.settings import Settings, SettingsError
from hermes_kernel.world.clock import SystemClock
from hermes_kernel.world.mcp import Servers, WrongServer
from hermes_kernel.world.mcp.adding import adding
from hermes_kernel.world.mcp.described import described
from hermes_kernel.world.mcp.file import FILE, add, remove, written
from hermes_kernel.world.mcp.lines import LONGEST
from hermes_kernel.world.mcp.offering import DESCRIPTION, TOOLS
from hermes_kernel.world.mcp.schemas import CHARACTERS
from hermes_kernel.world.mcp.servers import WAIT_SECONDS

GOOD = {"command": "npx", "args": ["-y", "some-server"], "env": {"KEY": "${KEY}"}}
WRONG = [
    (7, "must be a table: a command"),
    ({}, "takes either a command"),
    ({"command": "x", "url": "http://a"}, "takes either a command"),
    ({"command": ""}, "command must be the name or path of a program"),
    ({"command": ["x"]}, "command must be text"),
    ({"command": "x", "args": "y"}, "args must be a list of texts"),
    ({"command": "x", "env": {"A": 1}}, "env must be a table of names and texts"),
    ({"command": "x", "env": ["A"]}, "env must be a table of names and texts"),
    ({"url": "ftp://a"}, "url must be an http(s):// address"),
    ({"url": "http://"}, "url must be an http(s):// address"),
    ({"url": "http://[::1"}, "url must be an http(s):// address"),
    (
        {"url": "http://a", "headers": {"A": "x\r\nB: y"}},
        "headers must be a table of names and texts, each of one line",
    ),
    ({"command": "x", "trust": "yes"}, "trust must be true or false"),
    ({"command": "x", "comand": "y"}, "has no comand; it takes a command"),
    ({"url": "http://a", "type": "sse"}, "is of type sse"),
]


def servers(home, **tables) -> Servers:
    return Servers(home, tables, lambda: home, SystemClock())


@pytest.mark.parametrize(("table", "says"), WRONG)
def test_a_wrong_table_is_refused_by_name_with_what_is_allowed(table, says):
    with pytest.raises(WrongServer) as refused:
        described("mine", table)
    assert "'mine'" in str(refused.value)
    assert says in str(refused.value)


@pytest.mark.parametrize("name", ["", " a", "two\nlines", "x" * 65])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(WrongServer):
        described(name, GOOD)


def test_values_of_env_and_headers_are_shown_nowhere():
    made = described("a", {"command": "x", "args": ["--token=sk-hunter2hunter2"], "env": {"A": "sk-hunter2hunter2"}})
    there = described(
        "b", {"url": "https://me:hunter2@a.example:8443/mcp?key=hunter2", "headers": {"X": "hunter2-hunter2"}}
    )
    assert "hunter2" not in repr(made.how) + repr(there) + there.how
    assert there.how == "https://a.example:8443/mcp"
    assert made.secrets == {"sk-hunter2hunter2"}
    assert described("c", {"url": "http://a", "headers": {"A": "Bearer abcdefghijkl"}}).secrets == {
        "Bearer abcdefghijkl",
        "abcdefghijkl",
    }


def test_the_path_of_something_that_is_there_is_no_secret(tmp_path):
    assert described("a", {"command": "x", "env": {"DATA": str(tmp_path), "KEY": "/not/there/at/all"}}).secrets == {
        "/not/there/at/all"
    }


def test_variables_are_filled_in_everywhere_and_are_secrets_then():
    table = {"command": "${BIN}", "args": ["--key", "${KEY}"], "env": {"A": "x-${KEY}-y", "B": "${NONE:-otherwise}"}}
    made, secrets = described("a", table).filled({"BIN": "prog", "KEY": "hunter2-hunter2"})
    assert made.command == ("prog", "--key", "hunter2-hunter2")
    assert made.env == {"A": "x-hunter2-hunter2-y", "B": "otherwise"}
    assert secrets == {"hunter2-hunter2", "x-hunter2-hunter2-y"}
    assert described("a", table).secrets == frozenset()
    with pytest.raises(WrongServer, match="needs the variable KEY, which is not set"):
        described("a", table).filled({"BIN": "prog"})


def test_one_wrong_table_costs_the_others_nothing(tmp_path):
    at = servers(tmp_path, good=GOOD, bad={"command": "x", "nonsense": 1})
    assert {state.name: str(state.phase) for state in at.states()} == {"good": "not started", "bad": "failed"}
    assert "'bad' has no nonsense" in at.state("bad").why


# --- mcp.json


def test_the_file_of_other_clients_is_read_and_what_else_they_keep_in_it_stays(tmp_path):
    theirs = {
        "mcpServers": {"a": {"command": "x", "autoApprove": ["*"]}, "b": {"url": "http://h/mcp", "type": "http"}},
        "ui": 1,
    }
    (tmp_path / FILE).write_text(json.dumps(theirs), encoding="utf-8")
    at = servers(tmp_path)
    assert [(state.name, state.how) for state in at.states()] == [("a", "x"), ("b", "http://h/mcp")]
    add(tmp_path, "c", GOOD)
    remove(tmp_path, "b")
    kept = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
    assert kept == {"mcpServers": {"a": theirs["mcpServers"]["a"], "c": GOOD}, "ui": 1}
    assert [state.name for state in at.states()] == ["a", "c"], "it is read again when it changes"


def test_the_file_is_for_its_owner_alone_and_written_whole(tmp_path):
    home = tmp_path / "new" / "home"
    add(home, "a", GOOD)
    assert stat.S_IMODE((home / FILE).stat().st_mode) == 0o600
    assert [path.name for path in home.iterdir() if path.is_file()] == [FILE]
    with pytest.raises(WrongServer, match="takes either"):
        add(home, "b", {})
    assert written(home) == {"a": GOOD}


def test_of_many_that_write_at_once_nobody_is_lost(tmp_path):
    code = """
import sys, pathlib
from hermes_kernel.world.mcp.file import add
for n in range(20):
    add(pathlib.Path(sys.argv[1]), sys.argv[2] + str(n), {"command": "x"})
"""
    writing = [subprocess.Popen([sys.executable, "-c", code, tmp_path, name]) for name in "abc"]
    assert [each.wait(60) for each in writing] == [0, 0, 0]
    assert set(written(tmp_path)) == {f"{name}{n}" for name in "abc" for n in range(20)}


@pytest.mark.parametrize(
    "text", ['\ufeff{"mcpServers": {}, "note": "é"}', '{"note": "\\ud83d", "mcpServers": {}}', ""],
    ids=["marked", "torn", "empty"],
)  # fmt: skip
def test_a_file_as_other_programs_write_it_is_read_and_what_stands_in_it_stays(tmp_path, text):
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    add(tmp_path, "mine", GOOD)
    before = json.loads(text.removeprefix("\ufeff") or "{}")
    assert json.loads((tmp_path / FILE).read_text(encoding="utf-8")) == before | {"mcpServers": {"mine": GOOD}}
    assert not list(tmp_path.glob(f".{FILE}.[0-9]*"))


def test_what_is_no_file_is_told_in_one_sentence(tmp_path):
    (tmp_path / FILE).mkdir()
    with pytest.raises(WrongServer, match=r"^[^:]*mcp.json is no file of at most 1,000,000 bytes\.$"):
        written(tmp_path)


def test_a_file_that_is_a_link_stays_one(tmp_path):
    elsewhere = tmp_path / "dotfiles.json"
    elsewhere.write_text("{}", encoding="utf-8")
    (tmp_path / FILE).symlink_to(elsewhere)
    add(tmp_path, "a", GOOD)
    assert (tmp_path / FILE).is_symlink()
    assert json.loads(elsewhere.read_text(encoding="utf-8")) == {"mcpServers": {"a": GOOD}}


@pytest.mark.parametrize("text", ["{", "[1]", '{"mcpServers": []}', "\xff", '"x"', "[" * 100_000])
def test_a_damaged_file_is_told_left_alone_and_ends_no_server_that_it_named_before(tmp_path, text):
    add(tmp_path, "a", GOOD)
    at = servers(tmp_path, of_settings=GOOD)
    assert [state.name for state in at.states()] == ["a", "of_settings"]
    (tmp_path / FILE).write_text(text, encoding="latin-1")
    assert [state.name for state in at.states()] == [FILE, "a", "of_settings"]
    assert str(at.state(FILE).phase) == "failed"
    for change in (lambda: at.add("b", GOOD), lambda: at.remove("a")):
        with pytest.raises(WrongServer, match=FILE):
            change()
    assert (tmp_path / FILE).read_text(encoding="latin-1") == text


def test_the_settings_win_over_the_file_and_are_not_hidden_by_it(tmp_path):
    add(tmp_path, "a", GOOD)
    at = servers(tmp_path, a={"url": "http://h/mcp"})
    assert at.state("a").how == "http://h/mcp"
    with pytest.raises(WrongServer, match="is one of the settings' mcp_servers"):
        at.add("a", GOOD)


def test_what_is_not_there_is_named_with_what_is(tmp_path):
    add(tmp_path, "a", GOOD)
    at = servers(tmp_path)
    with pytest.raises(WrongServer, match=r"no MCP server 'b'.*There are: a\."):
        at.restart("b")
    with pytest.raises(WrongServer, match=r"no MCP server 'b' in .*There are: a\."):
        at.remove("b")


def test_one_that_is_switched_off_is_listed_and_not_started(tmp_path):
    at = servers(tmp_path, a=GOOD | {"disabled": True})
    at.begin()
    assert str(at.state("a").phase) == "off"
    at.close()


# --- the setting, and the words of `mcp add`


def test_the_setting_takes_tables_and_json_and_shows_names_alone(tmp_path):
    (tmp_path / "kernel.toml").write_text('[mcp_servers.a]\ncommand = "x"\nenv = {K = "hunter2"}\n', encoding="utf-8")
    settings = Settings.load(environ={"HERMES_HOME": str(tmp_path)})
    assert settings.mcp_servers == {"a": {"command": "x", "env": {"K": "hunter2"}}}
    (row,) = [row for row in settings.shown() if row.name == "mcp_servers"]
    assert row.value == "a"
    assert "hunter2" not in repr(settings)
    assert Settings(mcp_servers='{"b": {"url": "http://h"}}').mcp_servers == {"b": {"url": "http://h"}}
    for wrong in ("[]", "hunter2", ["a"], 7):
        with pytest.raises(SettingsError) as refused:
            Settings(mcp_servers=wrong)
        assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("line", "table"),
    [
        ("a npx -y server --flag", {"command": "npx", "args": ["-y", "server", "--flag"]}),
        ("a https://h/mcp", {"url": "https://h/mcp"}),
        ("--trust a x", {"command": "x", "args": [], "trust": True}),
        ("a --env K=V=W --env E= x --trust", {"command": "x", "args": ["--trust"], "env": {"K": "V=W", "E": ""}}),
        (
            "a --header 'Authorization: Bearer ${T}' http://h",
            {"url": "http://h", "headers": {"Authorization": "Bearer ${T}"}},
        ),
        ("--cwd='/a b' a x", {"command": "x", "args": [], "cwd": "/a b"}),
    ],
)
def test_what_is_said_after_add_is_a_table(line, table):
    assert adding(shlex.split(line)) == ("a", table)
    described("a", table)


@pytest.mark.parametrize(
    "line",
    ["", "a", "--env", "--env K a x", "a b/ --x", "--nonsense a x", "a http://h more", "'a b' x", "--trust=1 a x"],
)
def test_what_is_no_server_is_refused_with_what_is_taken(line):
    try:
        name, table = adding(shlex.split(line))
    except WrongServer as refused:
        assert "takes" in str(refused) or "is no name" in str(refused)
    else:
        assert (line, name, table) == ("a b/ --x", "a", {"command": "b/", "args": ["--x"]})


# --- the page


def test_what_the_page_shows_is_taken(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"```(\w*)\n(.*?)```", page, re.DOTALL))
    (tmp_path / FILE).write_text(blocks["json"], encoding="utf-8")
    (tmp_path / "kernel.toml").write_text(blocks["toml"], encoding="utf-8")
    settings = Settings.load(environ={"HERMES_HOME": str(tmp_path)})
    states = servers(tmp_path, **settings.mcp_servers).states()
    assert [(state.name, str(state.phase)) for state in states] == [("time", "not started"), ("team", "not started")]
    lines = re.findall(r"^%hermes mcp add (.*)$", page, re.MULTILINE)
    assert [adding(shlex.split(line))[0] for line in lines] == ["time", "github", "team"]
    for line in lines:
        described(*adding(shlex.split(line)))


def test_the_page_names_the_numbers_of_the_code():
    pytest.importorskip("mcp")
    from hermes_kernel.world.mcp.pipes import ENDING

    page = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
    for number in (
        f"{LONGEST // 10**6} MB",
        f"{TOOLS} tools",
        f"{CHARACTERS:,} characters",
        f"{DESCRIPTION:,} characters",
    ):
        assert number in page
    assert f"for {WAIT_SECONDS:g} s at most" in page
    assert f"{sum(seconds for _, seconds in ENDING):g} s in all" in page
