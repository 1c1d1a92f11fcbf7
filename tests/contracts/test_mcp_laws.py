"""What holds of every name, schema and stream of lines that a stranger may send."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_kernel.world.mcp.lines import ENDS, Lines, TooLong
from hermes_kernel.world.mcp.naming import seen, tool_name
from hermes_kernel.world.mcp.offering import rule_of
from hermes_kernel.world.mcp.schemas import AT_TOP, CHARACTERS, Unusable, usable
from hermes_kernel.world.model.schema import plain
from hermes_kernel.world.tools.arguments import Misfit, fit_arguments

TEXT = st.text(st.characters(), max_size=80)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=6,
)
WORDS = ("type", "properties", "required", "items", "anyOf", "oneOf", "enum", "$ref", "$defs", "additionalProperties",
         "minimum", "minItems", "description", "default", "not", "const")  # fmt: skip
VALUES = st.sampled_from(["object", "string", "array", "#", "#/$defs/a", "#/properties/a", {"a": {"$ref": "#"}}, ["a"]])
SCHEMAS = st.recursive(
    JSON | VALUES,
    lambda inner: st.dictionaries(st.sampled_from([*WORDS, "a", "b"]), inner | VALUES, max_size=6),
    max_leaves=10,
)


def refers(schema):
    """Whether a reference is left in a schema, not counting values that look like one."""
    inner = [schema[key] for key in ("items", "additionalProperties", "not") if isinstance(schema.get(key), dict)]
    inner += [each for key in ("anyOf", "oneOf", "allOf", "prefixItems") for each in schema.get(key, ())]
    return "$ref" in schema or any(map(refers, [*inner, *schema.get("properties", {}).values()]))


@given(TEXT, TEXT)
def test_a_tools_name_is_one_that_every_provider_takes_and_always_the_same(server, tool):
    name = tool_name(server, tool)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
    assert name.startswith("mcp_")
    assert tool_name(server, tool) == name
    assert tool_name(server, tool, {name}) != name or len(name) == 64


NAMES = st.text(st.sampled_from('a:"\\…\u200b '), max_size=4) | st.integers(79, 82).map(lambda size: "x" * size)


@given(NAMES, NAMES, NAMES, NAMES)
def test_an_answer_for_good_is_for_one_tool_of_one_server_whatever_they_are_called(server, tool, other, its):
    assert (rule_of(server, tool) == rule_of(other, its)) == ((server, tool) == (other, its))
    assert len(rule_of(server, tool * 1000)) < 1000


@given(st.text(st.characters()), st.integers(1, 200))
def test_what_is_seen_is_short_and_hides_nothing(text, limit):
    shown = seen(text, limit)
    assert len(shown) <= limit
    hidden = {"Cc", "Cf", "Co", "Cs", "Cn"}
    assert not [c for c in shown if unicodedata.category(c) in hidden and c not in "\n\t\u200d"]
    assert seen(shown, limit) == shown


@given(SCHEMAS, st.dictionaries(TEXT, JSON, max_size=3))
def test_a_schema_that_is_taken_can_be_written_sent_and_held_against_any_arguments(schema, arguments):
    try:
        text = usable(schema)
    except Unusable:
        return
    assert len(text) <= CHARACTERS
    made = json.loads(text)
    assert made["type"] == "object"
    assert not made.keys() & set(AT_TOP)
    assert not refers(made)
    json.dumps(plain(made), allow_nan=False)
    try:
        fit_arguments(arguments, made)
    except Misfit as misfit:
        assert str(misfit)


@pytest.mark.parametrize("key", AT_TOP)
def test_what_providers_refuse_at_the_top_comes_in_by_no_reference(key):
    said = {"anyOf": [{"required": ["a"]}], "enum": ["a"], "const": None, "not": {"required": ["a"]}}.get(key, [{}])
    pointed = {"properties": {"a": {"type": "string"}}, "additionalProperties": False, key: said}
    there = {"$ref": "#/$defs/Again", "$defs": {"Again": {"$ref": "#/$defs/Args"}, "Args": pointed}}
    for schema in (pointed, there):
        made = json.loads(usable(schema))
        assert made == {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True}


def test_arguments_that_are_none_are_refused_behind_a_reference_too():
    with pytest.raises(Unusable, match="no object"):
        usable({"$ref": "#/$defs/Name", "$defs": {"Name": {"type": "string", "enum": ["x"]}}})


def test_a_schema_in_use_keeps_what_it_says():
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "enum": ["Hà Nội", "Huế"], "description": "Where."},
            "days": {"type": "integer", "minimum": 1, "maximum": 14, "default": 3},
            "at": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}]},
        },
        "required": ["city"],
        "additionalProperties": False,
        "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}},
    }
    made = json.loads(usable(schema))
    point = schema["$defs"].pop("Point")
    schema["properties"]["at"]["anyOf"][0] = point
    del schema["$defs"]
    assert made == schema


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.data())
def test_lines_come_out_as_they_went_in_however_they_are_cut(lines, data):
    stream = b"".join(line + b"\n" for line in lines)
    taker, found = Lines(), []
    while stream:
        at = data.draw(st.integers(1, len(stream)))
        found += taker.feed(stream[:at])
        stream = stream[at:]
    assert found == lines


@given(st.integers(1, 10**6), st.integers(2_000, 9_000), st.integers(1, 3_000), st.booleans())
def test_of_a_line_that_is_too_long_stays_whom_it_answers(number, size, step, first):
    body, head = '"result":{"text":"' + "x" * size + '"}', f'"jsonrpc":"2.0","id":{number}'
    stream = ("{" + (f"{head},{body}" if first else f"{body},{head}") + "}\n{}\n").encode()
    taker = Lines(longest=1_000)
    found = [line for at in range(0, len(stream), step) for line in taker.feed(stream[at : at + step])]
    assert isinstance(found[0], TooLong)
    assert found[0].answers == number
    assert found[0].size == len(stream) - 4
    assert len(found[0].tail) <= ENDS
    assert found[1] == b"{}"
