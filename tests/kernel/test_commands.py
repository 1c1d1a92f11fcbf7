"""``%hermes COMMAND`` and ``%config``: each shows something and is a value; a mistake is one line."""

from __future__ import annotations

import re
from html import unescape

import pytest

from hermes_kernel.testing import call, forever, say

TAG = re.compile(r"<[^>]*>")


@pytest.mark.parametrize(
    ("command", "shows"),
    [
        ("status", "last outcome"),
        ("budget", "calls a turn may make"),
        ("usage", "input tokens"),
        ("tools", "read_file"),
        ("model", "scripted"),
        ("config", "max_iterations"),
        ("config stale_seconds", "stale_seconds"),
        ("sessions", "conversations"),
        ("help", "%hermes status"),
        ("", "%hermes status"),
    ],
)
def test_a_command_shows_the_same_in_text_and_html(running, command, shows):
    ran = running.run(f"%hermes {command}")
    assert ran.status == "ok", ran.error
    (result,) = ran.of("execute_result")
    assert shows in result["data"]["text/plain"]
    assert shows in unescape(TAG.sub("", result["data"]["text/html"]))


def test_a_commands_value_can_be_used(running, scripted):
    scripted(say("Yes."))
    running.run(running.prompt("Go."))
    running.run(running.python("used = %hermes usage\nleft = %hermes budget"))
    assert running.value("(used.value.calls, left.value.remaining, left.value.limit)") == "(1, 89, 90)"


def test_undo_takes_the_last_turn_back_and_new_begins_again(running, scripted):
    server = scripted(say("One."), say("Two."), say("Three."), say("Four."))
    for prompt in ("first", "second"):
        running.run(running.prompt(prompt, "--no-cells"))
    assert "turns taken back  1" in running.run("%hermes undo").text
    running.run(running.prompt("third", "--no-cells"))
    assert [m["content"] for m in server.requests[2].messages if m["role"] != "system"] == ["first", "One.", "third"]
    running.run("%hermes new")
    running.run(running.prompt("fourth", "--no-cells"))
    assert [m["content"] for m in server.requests[3].messages if m["role"] != "system"] == ["fourth"]


def test_retry_asks_the_last_prompt_again(running, scripted):
    server = scripted(say("One."), say("Better."))
    running.run(running.prompt("first", "--no-cells"))
    ran = running.run("%hermes retry")
    assert ran.status == "ok", ran.error
    assert "Better." in ran.text
    assert [m["content"] for m in server.requests[1].messages if m["role"] != "system"] == ["first"]
    assert running.value("_.text") == "'Better.'"


def test_a_retry_that_is_asked_for_wrongly_takes_nothing_back(running, scripted):
    server = scripted(say("One."), say("Better."))
    running.run(running.prompt("first", "--no-cells"))
    assert "frobnicate" in running.run("%hermes retry --tools frobnicate").error
    ran = running.run("%hermes retry")
    assert ran.status == "ok", ran.error
    assert [m["content"] for m in server.requests[1].messages if m["role"] != "system"] == ["first"]


def test_an_earlier_conversation_is_resumed_by_its_id(running, scripted):
    server = scripted(say("One."), say("Two."))
    running.run(running.prompt("first", "--no-cells"))
    session = running.value("_.session_id").strip("'")
    running.run("%hermes new")
    assert running.run(f"%hermes resume {session}").status == "ok"
    running.run(running.prompt("second", "--no-cells"))
    assert [m["content"] for m in server.requests[1].messages if m["role"] != "system"] == ["first", "One.", "second"]


def test_a_model_for_one_cell_is_for_one_cell(running, scripted):
    server = scripted(say("One."), say("Two."), say("Three."))
    running.run(running.prompt("first", "--model special"))
    running.run(running.prompt("second", "--no-cells"))
    running.run("%hermes model other")
    running.run(running.prompt("third", "--no-cells"))
    running.run("%hermes model scripted")
    assert [request.body["model"] for request in server.requests] == ["special", "scripted", "other"]


def test_tools_can_be_withheld(running, scripted):
    server = scripted(say("One."), say("Two."))
    running.run(running.prompt("first", "--tools none"))
    running.run(running.prompt("second", "--tools python,terminal"))
    assert not server.requests[0].body.get("tools")
    assert [each["function"]["name"] for each in server.requests[1].body["tools"]] == ["python", "terminal"]


def test_settings_are_set_by_config_and_read_back(running, scripted):
    scripted(call("todo", {"items": []}), say("Enough."))
    assert running.run("%config HermesMagics.max_iterations = 1").status == "ok"
    ran = running.run(running.prompt("Go."))
    assert "budget exhausted · 1 of 1 calls" in ran.text
    assert "1" in running.run("%config HermesMagics.max_iterations").text
    assert "90" in running.run("%hermes budget 90").text.splitlines()[1]
    assert "must be a whole number from 1" in str(running.run("%config HermesMagics.max_iterations = 0").messages)
    assert running.run("%hermes config max_iterations = 0").status == "error"
    assert "90" in running.run("%hermes config max_iterations").text


def test_both_ways_to_set_one_set_the_same(running):
    running.run("%config HermesMagics.max_iterations = 20")
    running.run("%hermes config max_iterations=30")
    assert running.run("%config HermesMagics.max_iterations").text.strip() == "30"
    running.run("%config HermesMagics.max_iterations = 20")
    assert " 20 " in running.run("%hermes config max_iterations").text
    running.run("%hermes config max_iterations=90")


def test_a_limit_is_moved_beyond_the_one_that_was_above_it_before(running):
    running.run("%config HermesMagics.compress_hard_at = 0.95")
    assert "must not" not in str(running.run("%config HermesMagics.compress_at = 0.9").messages)
    assert running.run("%config HermesMagics.compress_at").text.strip() == "0.9"
    assert "(0.95)" in str(running.run("%config HermesMagics.compress_at = 0.96").messages)
    assert running.run("%config HermesMagics.compress_at").text.strip() == "0.9"
    running.run("%hermes config compress_at=0.5")
    running.run("%hermes config compress_hard_at=0.85")


def test_what_is_fixed_by_now_is_refused_and_not_shown_as_set(running, scripted):
    scripted(say("Here."))
    running.run(running.prompt("Where?"))
    refused = running.run("%config HermesMagics.home = '/elsewhere'")
    assert "home can be set only before the first turn" in str(refused.messages)
    assert "elsewhere" not in running.run("%config HermesMagics.home").text


def test_a_key_is_never_shown(running):
    running.run("%config HermesMagics.api_key = 'sk-very-secret'")
    for code in (
        "%hermes config",
        "%hermes status",
        "%config HermesMagics.api_key",
        "%config HermesMagics",
        "%hermes config api_key",
    ):
        assert "sk-very-secret" not in str(running.run(code).messages[2:]), code
    running.run("%hermes config api_key = none")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("%hermes stauts", "There is no command stauts. Did you mean status? There are: status, "),
        ("%hermes config nosuch", "There is no setting nosuch"),
        ("%hermes config stale_seconds = soon", "stale_seconds cannot be 'soon'"),
        ("%hermes undo many", "undo takes a number from 1, not 'many'"),
        ("%hermes usage now", "usage takes nothing or all, kind, model, day, session"),
        ("%hermes resume nosuch", "nosuch"),
    ],
)
def test_a_mistake_in_a_command_is_one_line(running, code, said):
    ran = running.run(code)
    assert ran.status == "error"
    assert said in ran.error
    assert "\n" not in ran.error


@pytest.mark.parametrize("code", ["%hermes?", "%%hermes?"])
def test_help_is_where_ipython_users_look_for_it(running, code):
    ran = running.run(code)
    assert ran.status == "ok"
    assert "--budget N" in str(ran.reply["payload"])


def test_one_command_is_text_only_where_its_line_ends_so(running):
    (result,) = running.run("%hermes skills --plain", cell_id="c1").of("execute_result")
    assert set(result["data"]) == {"text/plain"}
    assert not running.run("%hermes skills exploring --plain", cell_id="c1").of("comm_open")


def test_a_command_that_ends_in_a_semicolon_shows_nothing(running):
    ran = running.run("%hermes skills;", cell_id="c1")
    assert (ran.status, ran.of("execute_result"), ran.of("display_data")) == ("ok", [], [])


def test_what_follows_a_command_need_not_be_python(running):
    assert "Nothing was found" in running.run("%hermes search an open (bracket").text


def test_plain_means_text_only(running, scripted):
    scripted(say("**Bold.**"))
    running.run("%config HermesMagics.plain = True")
    ran = running.run(running.prompt("Go."), cell_id="c1")
    table = running.run("%hermes status")
    running.run("%config HermesMagics.plain = False")
    assert [set(each["data"]) for each in ran.of("display_data")] == [{"text/plain"}]
    assert "text/html" not in table.of("execute_result")[0]["data"]


def test_loading_twice_and_loading_by_the_packages_name_change_nothing(running):
    for code in ("%load_ext magics", "%reload_ext magics", "%load_ext hermes_kernel"):
        ran = running.run(code)
        assert ran.status == "ok", ran.error
    assert running.value("sum('rewrite' in repr(each) for each in get_ipython().input_transformers_cleanup)") == "1"


def test_tab_offers_the_tables_and_lists_there_are_after_map(running):
    running.run(
        running.python("birds = ['duck']\nbirdcount = 7\nimport pandas as pd\nbirdframe = pd.DataFrame({'a': [1]})")
    )
    reply = running.client.complete("%%hermes --map bird", reply=True, timeout=10)["content"]
    assert sorted(each for each in reply["matches"] if each.startswith("bird")) == ["birdframe", "birds"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--workers 3", "--workers goes with --map VAR"),
        ("--again failed", "--again goes with --map VAR"),
        ("--map 3x", "--map cannot be '3x'"),
        ("--map nowhere", "There is no variable nowhere to map over."),
    ],
)
def test_a_map_asked_for_wrongly_is_one_line(running, options, said):
    ran = running.run(f"%%hermes {options}\nWhat is $value?")
    assert said in ran.error
    assert ran.error.count("\n") == 0


def test_status_says_how_full_the_window_is_once_it_is_known(running, scripted):
    scripted(say("Yes."))
    running.run("%config HermesMagics.context_window = 50000")
    running.run(running.prompt("Go.", "--no-cells"))
    status = running.run("%hermes status").text
    assert "50,000 tokens" in status
    assert "% of the window" in status
    assert running.run("%config HermesMagics.context_window = 0").status == "ok"


def test_a_window_that_nobody_says_of_the_model_that_is_asked_now_is_called_a_guess(running, scripted):
    scripted(forever(say("Yes.")))
    running.run("%config HermesMagics.context_window = 50000")
    running.run(running.prompt("Go.", "--no-cells"))
    running.run("%config HermesMagics.context_window = 0")
    running.run(running.prompt("Go on.", "--no-cells"))
    assert "50,000 tokens, a guess; set it by %hermes config context_window=N" in running.run("%hermes status").text


def test_the_servers_of_other_peoples_tools_are_a_command_away(running):
    assert "There are no MCP servers." in running.run("%hermes mcp").text
    assert "mcp takes nothing or add, remove, restart" in running.run("%hermes mcp frobnicate").error
