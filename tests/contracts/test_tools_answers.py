"""Calls that are answered and not run: unknown tools, flawed and bad arguments, and the same failure over and over."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_kernel.core.events import Observed, Started
from hermes_kernel.core.messages import ToolCall
from hermes_kernel.world.stop import Stop
from hermes_kernel.world.tools import tool
from hermes_kernel.world.tools.calls import Answered, prepare
from hermes_kernel.world.tools.guard import Guard
from tests.contracts.toolbox import observed, run_calls, toolbox


@pytest.mark.parametrize(
    "name", ["readFile", "ReadFile", "read-file", "READ_FILE", "functions.read_file", "tools:read_file", " read_file ", "default_api.readFile"]
)  # fmt: skip
async def test_a_name_that_can_only_mean_one_tool_is_taken_for_it(tmp_path, name):
    (tmp_path / "a.txt").write_text("hello")
    assert "hello" in observed(await run_calls(toolbox(tmp_path), (name, {"path": "a.txt"}))).text


async def test_an_unknown_tool_is_answered_with_the_nearest_and_all_names(tmp_path):
    result = observed(await run_calls(toolbox(tmp_path), ("read_flie", {"path": "a.txt"})))
    assert not result.ok
    assert "no tool named 'read_flie'" in result.text
    assert "Did you mean read_file" in result.text
    assert "search_files" in result.text


async def test_a_flawed_call_is_never_run_and_says_what_was_wrong(tmp_path):
    tools = toolbox(tmp_path)
    call = ToolCall("a", "write_file", '{"path": "x", "cont', flaw="its arguments were cut off")
    result = observed([event async for event in tools.run([call], Stop())])
    assert "its arguments were cut off" in result.text
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("raw", "words"),
    [("{", "not JSON"), ("[1]", "are a list"), ('"x"', "are a str"), ('{"path": NaN}', "NaN"), ("{}", "missing 'path'"),
     ("", "missing 'path'"), ("null", "missing 'path'"), ("[" * 100_000, "not JSON"), ('{"path": {"a": 1}}', "expected string")],
)  # fmt: skip
async def test_arguments_that_cannot_be_used_are_answered_by_name_and_type(tmp_path, raw, words):
    events = await run_calls(toolbox(tmp_path), ("read_file", raw))
    assert words in observed(events).text
    assert not any(isinstance(event, Started) for event in events)


@pytest.mark.parametrize("deep", [100, 300, 600, 900, 10_000])
@pytest.mark.parametrize("quote", ["", '"'], ids=["nested", "as text"])
async def test_arguments_nested_however_deep_are_answered(tmp_path, deep, quote):
    tools = toolbox(tmp_path)
    tools.add(tool(name="take")(lambda items: len(items)))  # noqa: PLW0108 - the model gives `items` by name
    tools.add(tool(_listed, name="listed"))
    nested = quote + "[" * deep + "]" * deep + quote
    for name in ("take", "listed"):
        assert observed(await run_calls(tools, (name, f'{{"items": {nested}}}'))).text


def _listed(items: list[list[str]]) -> str:
    """Take a list."""
    return str(len(items))


async def test_lone_surrogates_never_reach_a_tool(tmp_path):
    got = []
    tools = toolbox(tmp_path)
    tools.add(tool(name="take")(lambda text: got.append(text)))  # noqa: PLW0108 - the model gives `text` by name
    await run_calls(tools, ("take", '{"text": "a\\ud800b"}'))
    assert got == ["a\ufffdb"]


async def test_the_third_identical_failure_in_a_row_is_not_run(tmp_path):
    ran = []

    def fail(n: int) -> str:
        ran.append(n)
        raise ValueError("no such thing")

    tools = toolbox(tmp_path)
    tools.add(fail)
    for _ in range(4):
        last = observed(await run_calls(tools, ("fail", '{"n": 1}')))
    assert ran == [1, 1]
    assert "failed 2 times in a row" in last.text
    assert "no such thing" in last.text
    await run_calls(tools, ("fail", '{ "n":1 }'), ("fail", '{"n": 2}'))
    assert ran == [1, 1, 2]
    tools.begin_turn()
    await run_calls(tools, ("fail", '{"n": 1}'))
    assert ran == [1, 1, 2, 1]


async def test_a_test_that_is_run_again_after_each_change_is_never_held_back(tmp_path):
    tools = toolbox(tmp_path)
    for n in range(4):
        result = observed(await run_calls(tools, ("terminal", {"command": "exit 1"})))
        assert result.text == "[exit code 1]"
        await run_calls(tools, ("write_file", {"path": "a.py", "content": str(n)}))


async def test_reading_between_failures_changes_nothing_and_so_does_not_reset_them(tmp_path):
    tools = toolbox(tmp_path)
    for _ in range(3):
        result = observed(await run_calls(tools, ("terminal", {"command": "exit 1"})))
        await run_calls(tools, ("todo", {"items": []}))
    assert result.text.startswith("Not run")


async def test_the_fourth_identical_success_carries_a_note(tmp_path):
    tools = toolbox(tmp_path)
    told = [observed(await run_calls(tools, ("todo", {"items": []}))).text for _ in range(4)]
    assert told[:3] == ["The list is empty."] * 3
    assert "made 4 times" in told[3]


async def test_the_latest_definition_of_a_name_wins_and_keeps_its_place(tmp_path):
    tools = toolbox(tmp_path)
    tools.add(tool(name="mine")(lambda: "old"))
    tools.add(tool(name="other")(lambda: ""))
    before = tools.names()
    tools.add(tool(name="mine")(lambda: "new"))
    assert tools.names() == before
    assert observed(await run_calls(tools, ("mine", {}))).text == "new"


def test_fewer_tools_are_the_same_sessions_tools(tmp_path):
    tools = toolbox(tmp_path)
    assert tools.only(["read-file", "python"]).names() == ("python", "read_file")
    assert tools.only([]).specs() == ()
    with pytest.raises(ValueError, match="no tool named nope"):
        tools.only(["nope"])


def test_what_is_offered_is_the_same_text_every_time_and_small(tmp_path):
    first, second = toolbox(tmp_path).specs(), toolbox(tmp_path).specs()
    assert first == second
    assert all(json.loads(spec.parameters)["type"] == "object" for spec in first)
    assert sum(len(spec.description) + len(spec.parameters) for spec in first) < 4_800


TOOLS = {"echo": tool(name="echo")(lambda text, n=1: (text, n)).__dict__["__hermes_tool__"]}


@given(
    st.text(),
    st.text() | st.dictionaries(st.text(), st.integers() | st.text() | st.none()).map(json.dumps),
    st.text(max_size=5),
)
@settings(max_examples=500, deadline=None)
def test_no_call_of_a_model_is_too_odd_to_be_run_or_answered(name, arguments, flaw):
    for called in (name, "echo"):
        made = prepare(ToolCall("a", called, arguments, flaw), TOOLS, Guard())
        if isinstance(made, Answered):
            assert made.text
            made.text.encode()
        else:
            assert set(made.arguments) <= {"text", "n"}


async def test_one_call_in_one_result_out_for_every_kind_of_call(tmp_path):
    calls = [
        ("nope", {}),
        ("read_file", "{"),
        ("todo", {"items": []}),
        ("terminal", {"command": "rm -rf /"}),
        ("python", {"code": "1/0"}),
    ]
    events = await run_calls(toolbox(tmp_path), *calls)
    assert sorted(event.call_id for event in events if isinstance(event, Observed)) == [f"call_{n}" for n in range(5)]
