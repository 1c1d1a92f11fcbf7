"""What `tests.fuzz` found where files, servers and settings come in, as tests of its kind."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib

import pytest

from hermes_kernel.core.text import brief
from hermes_kernel.errors import HermesError
from hermes_kernel.settings import Settings, SettingsError
from hermes_kernel.world.importing import Care, source
from hermes_kernel.world.model.reading import Reading
from hermes_kernel.world.model.sse import EventStream
from hermes_kernel.world.store.records import decode
from hermes_kernel.world.tools.danger_python import python_risk
from hermes_kernel.world.tools.edits import NoPlace, edited
from magics.options import parse
from magics.prompt import Prompt


def grows_evenly(work, size, often=8):
    """So many times as much takes so many times as long, give or take; by the square of it, it would be eight times that."""
    spent = []
    for each in (size, often * size):
        before = time.process_time()
        work(each)
        spent.append(time.process_time() - before)
    assert spent[1] < 4 * often * max(spent[0], 0.01)


def streamed(body, size=100):
    stream, values = EventStream(), []
    for at in range(0, len(body), size):
        values += stream.feed(body[at : at + size])
    return stream, values + stream.close()


def test_an_event_on_one_long_line_takes_as_long_as_it_is_long():
    grows_evenly(lambda size: streamed(b'data: "' + b"a" * size + b'"\n\n'), 500_000)
    assert streamed(b'data: "' + b"a" * 3_000 + b'"\n\n')[1] == ["a" * 3_000]


def test_a_value_spread_over_lines_without_end_is_given_up_and_one_over_a_thousand_is_read():
    lines = b"".join(b"data: %d,\n" % n for n in range(1_000))
    assert streamed(b"data: [\n" + lines + b"data: 1]\n\n")[1] == [[*range(1_000), 1]]
    for first, other in ((b"[", b"1,"), (b"x", b"x"), (b'"', b"["), (b"[", b"]")):
        stream, values = streamed(b"data: " + first + b"\n" + (b"data: " + other + b"\n") * 2_000 + b"\n")
        assert stream.broken
        assert values == [] or first + other == b"[]"
    grows_evenly(lambda size: streamed(b"data: [\n" + b"data: 1,\n" * size), 4_000)


def test_an_event_nested_deeper_than_anybody_walks_is_broken_and_no_crash():
    for depth in (500, 900, 960, 975, 985, 5_000):
        deep = "[" * depth + "]" * depth
        call = {"index": 0, "id": "c", "function": {"name": "price", "arguments": 0}}
        body = json.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}).replace("0}}]", f"{deep}}}}}]")
        for sent in (f"data: {body}\n\n", body, json.dumps({"error": 0}).replace("0", deep)):
            reading = Reading("", frozenset({"price"}), lambda: "made")
            reading.feed(sent.encode())
            assert reading.conclude(None)[1].message


@pytest.mark.parametrize("unit", [" ", "\n", "\r\n", "a ", "a, ", " \n", "a=", "%time "])
def test_code_is_judged_in_time_whatever_white_space_is_in_it(unit):
    grows_evenly(lambda size: python_risk("'''" + unit * (size // len(unit)) + "'''"), 8_000)


@pytest.mark.parametrize(
    "line", ["\n\n  !rm -rf x", "  a, b = !rm -rf x", "%time !rm -rf x", "%sx rm -rf x", "a = %system rm -rf x"]
)
def test_a_shell_line_is_seen_behind_any_white_space(line):
    assert python_risk(line)


def test_a_passage_is_sought_in_lines_that_are_all_alike_as_quickly_as_in_others():
    def work(size):
        with pytest.raises(NoPlace):
            edited("x \n" * size, "x\n" * (size // 2) + "y", "z")

    grows_evenly(work, 5_000)


def test_lines_that_match_but_for_spaces_are_counted_without_those_in_one_another():
    assert edited("a \na \na \nb\n", "a\na", "c", every=True).text == "c\na \nb\n"
    assert edited("b\na \na \n", "a\na", "c").text == "b\nc\n"
    with pytest.raises(NoPlace, match="2 places"):
        edited("a \na \nb\na \na \n", "a\na", "c")


def test_thoughts_that_a_database_has_as_bytes_are_brought(tmp_path):
    path = tmp_path / "state.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE sessions (id, started_at)")
        connection.execute("CREATE TABLE messages (id, session_id, role, content, reasoning_content)")
        connection.execute("INSERT INTO sessions VALUES ('s', 1)")
        connection.execute("INSERT INTO messages VALUES (1, 's', 'assistant', 'x', ?)", [b"th\xffought"])
    connection.close()
    with source(path) as there:
        (story,) = there.stories(Care(lambda text: text))
    assert json.loads(story.messages[0].extra) == {"reasoning_content": "th\ufffdought"}


@pytest.mark.parametrize("plain", [
    {"uid": [], "session": "s", "n": 0, "t": 0, "fact": {}}, {"uid": "u", "session": None, "n": 0, "t": 0, "fact": {}},
    {"uid": "u", "session": "s", "n": "0", "t": 0, "fact": {}}, {"uid": "u", "session": "s", "n": 0, "t": [], "fact": {}},
    {"uid": "u", "session": "s", "n": 0, "t": 0, "fact": "Asked"},
])  # fmt: skip
def test_a_line_with_the_right_checksum_and_the_wrong_things_in_it_is_damaged(plain):
    body = json.dumps(plain).encode()
    assert decode(b"%08x " % zlib.crc32(body) + body) is None


@pytest.mark.parametrize(
    "content", ["a = " + "[" * 3_000, "a = " + "9" * 5_000, "a = '" + "x" * 3_000, "a = " + "{x=" * 2_000]
)
def test_a_file_of_settings_that_is_hostile_is_said_to_be_no_toml_in_a_line(tmp_path, content):
    (tmp_path / "kernel.toml").write_text(content)
    with pytest.raises(SettingsError) as told:
        Settings.load(environ={"HERMES_HOME": str(tmp_path)})
    assert "kernel.toml is not valid TOML" in str(told.value)
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 500


@pytest.mark.parametrize("name", ["a\0b", "\ud83d", "x" * 300, "x/" * 3_000])
def test_a_path_that_no_system_takes_is_told_in_a_line(tmp_path, name):
    with pytest.raises(HermesError) as told:
        Prompt({}, tmp_path).expand(f'see @"{name}"')
    assert len(str(told.value)) < 600
    assert "\0" not in str(told.value)


@pytest.mark.parametrize(
    "line", ["--" + "x" * 3_000, "--budget " + "9" * 5_000, "--model '" + "x" * 3_000, "--timeout " + "n" * 3_000]
)
def test_what_is_wrong_with_options_of_any_length_is_told_in_a_line(line):
    with pytest.raises(HermesError) as told:
        parse(line)
    assert len(str(told.value)) < 600
    assert brief(str(told.value), 10_000) == str(told.value)
